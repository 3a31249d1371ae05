"""Why a message was not delivered: codes, our own sentences, and what to do about it.

Everybody who may read alerts may read these. So a host that is not allowed, one that refuses, one whose name does not
resolve and one that does not answer give the same sentence: a channel must not be a way to look into a network.
"""

from collections.abc import Mapping

from chalicelib.domain.alerts.notification import NotificationError

_REVOKED = "The webhook was revoked or the token is not valid. Enter a new secret in the channel, then send a test."
_UNREACHABLE = (
    "The server cannot be reached.",
    "Check the address of the channel: it has to be on the public network and answer within 10 seconds.",
)

_ERRORS: Mapping[str, tuple[str, str | None]] = {
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
    "bad_chat": (
        "The bot provider refuses the message (400).",
        "The chat id is wrong, or the bot is no member of the group. Add the bot, or correct the id, then send a test.",
    ),
    "not_a_member": (
        "The bot may not write to this chat (403).",
        "The bot was removed or blocked, or its token is not valid. Add it to the group, or enter a new token.",
    ),
    "channel_archived": (
        "The chat channel of the webhook is archived.",
        "Restore it, or make a webhook for another channel and enter its URL.",
    ),
    "not_permitted": (
        "The workspace does not allow this webhook to post.",
        "Ask an administrator of the chat workspace to allow it.",
    ),
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


def error(code: str) -> NotificationError:
    """What people see of a failure of this kind."""
    message, hint = _ERRORS[code]
    return NotificationError(code=_SHOWN_AS.get(code, code), message=message, hint=hint)
