"""Sends to chat webhooks (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).

A webhook's URL is its secret. `200` with the text `ok` is success; errors are words in a text body.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.clients.http.guarded import HttpAnswer
from chalicelib.kit.clock import Deadline
from chalicelib.kit.hosts import HttpsHost, HttpsUrl, UrlRefused, parse_url
from chalicelib.kit.masking import Secret
from chalicelib.notify.chat import ChatSender
from chalicelib.notify.contract import Accepted, CheckedConfig, Outcome, OutgoingMessage, Permanent
from chalicelib.notify.errors import error
from chalicelib.notify.http import bounded_wait, errors_at
from chalicelib.notify.texts import TextStyle, render

MAX_TEXT = 3000
"""Characters of the escaped text. The provider splits texts near 4,000, and cuts sections above 3,000."""

_ERRORS = {
    "channel_archived": (
        "The chat channel of the webhook is archived.",
        "Restore it, or make a webhook for another channel and enter its URL.",
    ),
    "not_permitted": (
        "The workspace does not allow this webhook to post.",
        "Ask an administrator of the chat workspace to allow it.",
    ),
}
_CODES = {
    **dict.fromkeys(("invalid_token", "token_revoked", "no_service", "no_service_id", "no_team"), "unauthorized"),
    **dict.fromkeys(("team_disabled", "no_active_hooks", "invalid_auth", "account_inactive"), "unauthorized"),
    **dict.fromkeys(("channel_not_found", "user_not_found"), "not_found"),
    **dict.fromkeys(("channel_is_archived", "is_archived"), "channel_archived"),
    **dict.fromkeys(("action_prohibited", "posting_to_general_channel_denied"), "not_permitted"),
    **dict.fromkeys(("invalid_payload", "no_text", "too_many_attachments", "msg_too_long"), "refused"),
}
"""Our code for each error code in a body. Others, such as `rollup_error`, have a status that says enough."""


def _escape(text: str) -> str:
    """Text without markup: mentions, channels and links begin with `<`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


STYLE = TextStyle(max_size=MAX_TEXT, escape=_escape)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatWebhook(ChatSender):
    """Sends to webhooks."""

    setting, errors = "chat_webhook_host", _ERRORS

    def check(self, secrets: Mapping[str, Secret]) -> CheckedConfig:
        """Raises Invalid for a URL that is not on the host."""
        with errors_at("webhook_url"):
            url = chat_webhook_url(secrets["webhook_url"].reveal(), self.host)
        return CheckedConfig(mask=url.target.mask, secrets={**secrets, "webhook_url": Secret(str(url))})

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        """Send the message as plain text, without previews of links."""
        try:
            url = chat_webhook_url(secrets["webhook_url"].reveal(), self.host)
        except UrlRefused:  # the installation names another host than when the URL was stored
            return Permanent(error("unreachable"))
        # Without markup, mentions and previews: the text has words of others, such as names of tables.
        body = {"text": render(message, STYLE), "mrkdwn": False, "link_names": False}
        content = json.dumps({**body, "unfurl_links": False, "unfurl_media": False}).encode()
        answer = self.post(url, content, {}, deadline)
        return self._outcome(answer, message) if isinstance(answer, HttpAnswer) else answer

    def _outcome(self, answer: HttpAnswer, message: OutgoingMessage) -> Outcome:
        text, body = (answer.content or b"").strip(), answer.json_object
        if answer.status == 200 and text == b"ok":
            return Accepted()
        word = str(body.get("error") or text.decode("ascii", "replace"))
        # A word in the body of a server error is not believed: the message may be sent again.
        code = _CODES.get(word) if answer.status == 200 or 400 <= answer.status < 500 else None
        return self.refusal(answer, code, bounded_wait(body.get("retry_after")), message)


def chat_webhook_url(text: str, allowed: HttpsHost) -> HttpsUrl:
    """The URL of a chat webhook: on exactly this host and port. Raises UrlRefused."""
    url = parse_url(text)
    if url.target != allowed:
        raise UrlRefused("url_other_host")
    if not url.path.partition("?")[0].strip("/"):
        raise UrlRefused("url_path")
    return url
