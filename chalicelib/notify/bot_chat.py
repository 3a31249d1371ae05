"""Bots in chats, as Telegram has them (core.telegram.org/bots/api#sendmessage).

The token is part of the URL. The text is plain: there is no `parse_mode`, so nothing in it can be refused as markup.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.clients.guarded_http import HttpAnswer
from chalicelib.domain.alerts.urls import TargetHost, TargetUrl
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Accepted, Outcome, OutgoingMessage, Permanent, RateLimited
from chalicelib.notify.errors import error
from chalicelib.notify.texts import TextStyle, render
from chalicelib.notify.transport import MOST_ANSWER_BYTES, Post, bounded_wait, failed, json_object

MOST_TEXT = 4096
"""UTF-16 code units."""

_OK = re.compile(rb'\s*\{\s*"ok"\s*:\s*true\b')
"""How an answer begins that is longer than what is read: the one to a long message repeats it."""
_CODES: Mapping[int, str] = {
    400: "bad_chat",
    401: "unauthorized",
    403: "not_a_member",
    404: "not_found",
    421: "unauthorized",
}


def utf16_units(text: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


STYLE = TextStyle(most=MOST_TEXT, size=utf16_units)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotChat:
    """Sends to chats by the bot API on one host, which the installation names."""

    host: TargetHost
    post: Post

    def address(self, _secrets: Mapping[str, Secret]) -> TargetUrl:
        """The bot API, without the token."""
        return TargetUrl(self.host, "")

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        """Send the message. A group that became another one gets it once more, at its new id, which is returned."""
        text = render(message, STYLE)
        answer = self._sent(text, secrets, json.loads(secrets["chat_id"].reveal()), deadline)
        if not isinstance(answer, HttpAnswer):
            return answer
        moved_to = _parameters(answer).get("migrate_to_chat_id")
        if not isinstance(moved_to, int) or _status(answer) != 400:
            return _outcome(answer, message)
        answer = self._sent(text, secrets, moved_to, deadline)
        outcome = _outcome(answer, message) if isinstance(answer, HttpAnswer) else answer
        moved = {"chat_id": Secret(json.dumps(moved_to))}
        return Accepted(changed=moved) if isinstance(outcome, Accepted) else outcome

    def _sent(
        self, text: str, secrets: Mapping[str, Secret], chat_id: object, deadline: Deadline
    ) -> HttpAnswer | Outcome:
        url = TargetUrl(self.host, f"/bot{secrets['bot_token'].reveal()}/sendMessage")
        body = {"chat_id": chat_id, "text": text, "link_preview_options": {"is_disabled": True}}
        return self.post(url, json.dumps(body).encode(), {}, deadline)


def _outcome(answer: HttpAnswer, message: OutgoingMessage) -> Outcome:
    if answer.status == 200 and _says_ok(answer.content or b""):
        return Accepted()
    status = _status(answer)
    if code := _CODES.get(status):
        return Permanent(error(code))
    if status < 300:
        return Permanent(error("unexpected_answer"))
    outcome = failed(HttpAnswer(status, answer.headers, None), message.attempt_at)
    wait = bounded_wait(_parameters(answer).get("retry_after"))
    return RateLimited(outcome.error, retry_after=wait) if wait and isinstance(outcome, RateLimited) else outcome


def _says_ok(content: bytes) -> bool:
    if len(content) >= MOST_ANSWER_BYTES:
        return bool(_OK.match(content))
    return json_object(content).get("ok") is True


def _status(answer: HttpAnswer) -> int:
    """The status of the answer; a 200 that says `ok: false` names another one."""
    code = json_object(answer.content).get("error_code")
    return code if answer.status == 200 and isinstance(code, int) and 300 <= code < 600 else answer.status


def _parameters(answer: HttpAnswer) -> Mapping[str, Any]:
    parameters = json_object(answer.content).get("parameters")
    return parameters if isinstance(parameters, dict) else {}
