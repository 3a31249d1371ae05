"""Reasons why a message was not delivered: codes, sentences and hints.

Everybody who may read alerts may read these. So a host that is not allowed, one that refuses, one whose name does not
resolve and one that does not answer give the same sentence: a channel must not be a means to scan a network.
"""

from collections.abc import Mapping

from chalicelib.domain.alerts.notification import NotificationError

_REVOKED = "The webhook was revoked or the token is not valid. Enter a new secret in the channel, then send a test."
_UNREACHABLE = (
    "The server cannot be reached.",
    "Check the address of the channel: it has to be on the public network and answer within 10 seconds.",
)

Texts = tuple[str, str | None]
"""A sentence, and a hint."""

_ERRORS: Mapping[str, Texts] = {
    "destination_blocked": _UNREACHABLE,
    "unreachable": _UNREACHABLE,
    "timed_out": _UNREACHABLE,
    "connection_lost": _UNREACHABLE,
    "unauthorized": ("The provider refuses the credentials of the channel.", _REVOKED),
    "not_found": (
        "The provider does not know the address of the channel.",
        "The webhook was removed, or its URL or the token is wrong. Enter it again, then send a test.",
    ),
    "redirected": (
        "The server redirects to another address, and redirects are not followed.",
        "Enter the address that takes the message itself.",
    ),
    "refused": ("The provider refuses the message.", "Look into the provider's settings, then send a test."),
    "unexpected_answer": (
        "What answered is not the provider, or it does not confirm the message.",
        "Check the address of the channel, and whether a proxy answers in its place.",
    ),
    "server_error": ("The provider has an error of its own.", None),
    "rate_limited": ("The provider takes no more messages for a while.", None),
    "secret_unreadable": (
        "The stored secrets of the channel cannot be opened.",
        "Enter all of them again in the channel, then send a test.",
    ),
    "internal": ("Headgate could not send the message.", "The log says why."),
}
_SHOWN_AS: Mapping[str, str] = dict.fromkeys(("destination_blocked", "timed_out", "connection_lost"), "unreachable")


def error(code: str, of_provider: Mapping[str, Texts] | None = None) -> NotificationError:
    """The error that people see. `of_provider` are the texts of codes that only one provider has."""
    message, hint = {**_ERRORS, **(of_provider or {})}[code]
    return NotificationError(code=_SHOWN_AS.get(code, code), message=message, hint=hint)
