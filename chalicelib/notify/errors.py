"""Reasons why a message was not delivered: codes, sentences and hints.

Everybody who may read alerts may read these. So a host that is not allowed, one that refuses, one whose name does not
resolve and one that does not answer are one code, `unreachable`: a channel must not be a means to scan a network.
"""

from collections.abc import Mapping

from chalicelib.domain.alerts.notification import NotificationError

Texts = tuple[str, str | None]
"""A sentence, and a hint."""

_ERRORS: Mapping[str, Texts] = {
    "unreachable": (
        "The server cannot be reached.",
        "Check the address of the channel: it has to be on the public network and answer within 10 seconds.",
    ),
    "unauthorized": (
        "The provider refuses the credentials of the channel.",
        "The webhook was revoked or the token is not valid. Enter a new secret in the channel, then send a test.",
    ),
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


def error(code: str, of_provider: Mapping[str, Texts] | None = None) -> NotificationError:
    """The error that people see. `of_provider` are the texts of codes that only one provider has."""
    message, hint = {**_ERRORS, **(of_provider or {})}[code]
    return NotificationError(code=code, message=message, hint=hint)
