"""Chat webhooks, as Slack has them (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).

A webhook's URL is its secret. `200` with the text `ok` is success; errors are words in a text body.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.clients.guarded_http import HttpAnswer
from chalicelib.domain.alerts.urls import TargetHost, TargetUrl, UrlRefused, chat_webhook_url
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Accepted, Outcome, OutgoingMessage, Permanent, RateLimited
from chalicelib.notify.errors import error
from chalicelib.notify.texts import TextStyle, render
from chalicelib.notify.transport import Post, bounded_wait, failed, json_object

MOST_TEXT = 3000
"""Characters as they are sent. Longer texts are split near 4,000, and cut in sections above 3,000."""

_CODES: Mapping[str, str] = {
    **dict.fromkeys(("invalid_token", "token_revoked", "no_service", "no_service_id", "no_team"), "unauthorized"),
    **dict.fromkeys(("team_disabled", "no_active_hooks", "invalid_auth", "account_inactive"), "unauthorized"),
    **dict.fromkeys(("channel_not_found", "user_not_found"), "not_found"),
    **dict.fromkeys(("channel_is_archived", "is_archived"), "channel_archived"),
    **dict.fromkeys(("action_prohibited", "posting_to_general_channel_denied"), "not_permitted"),
    **dict.fromkeys(("invalid_payload", "no_text", "too_many_attachments", "msg_too_long"), "refused"),
}
"""By the word in the body. `rollup_error` and others come with a status of their own."""


def escaped(text: str) -> str:
    """The text as a chat shows it literally: mentions, channels and links begin with `<`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


STYLE = TextStyle(most=MOST_TEXT, escape=escaped)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatWebhook:
    """Sends to webhooks on one host, which the installation names."""

    host: TargetHost
    post: Post

    def address(self, secrets: Mapping[str, Secret]) -> TargetUrl:
        """The webhook's URL. Raises Invalid for one that is not on the host."""
        return chat_webhook_url(secrets["webhook_url"].reveal(), self.host)

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        """Send the message as plain text, without previews of links."""
        try:
            url = self.address(secrets)
        except UrlRefused:
            return Permanent(error("destination_blocked"))
        body = {"text": render(message, STYLE), "mrkdwn": False, "link_names": False}
        content = json.dumps({**body, "unfurl_links": False, "unfurl_media": False}).encode()
        answer = self.post(url, content, {}, deadline)
        return _outcome(answer, message) if isinstance(answer, HttpAnswer) else answer


def _outcome(answer: HttpAnswer, message: OutgoingMessage) -> Outcome:
    text = (answer.content or b"").strip()
    if answer.status == 200 and text == b"ok":
        return Accepted()
    if (code := _CODES.get(_word(text))) and (answer.status == 200 or 400 <= answer.status < 500):
        return Permanent(error(code))
    outcome = Permanent(error("unexpected_answer")) if answer.status < 300 else failed(answer, message.attempt_at)
    if isinstance(outcome, RateLimited) and outcome.retry_after is None:
        return RateLimited(outcome.error, retry_after=bounded_wait(json_object(text).get("retry_after")))
    return outcome


def _word(text: bytes) -> str:
    """The error in a body: the whole text, or `error` of a JSON object."""
    return str(json_object(text).get("error") or text.decode("ascii", "replace"))
