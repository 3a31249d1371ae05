"""Sends by bots to chats (core.telegram.org/bots/api#sendmessage).

The token is part of the URL. The text is plain: there is no `parse_mode`, so nothing in it can be refused as markup.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.clients.http.guarded import HttpAnswer
from chalicelib.kit.clock import Deadline
from chalicelib.kit.hosts import HttpsUrl
from chalicelib.kit.masking import Secret
from chalicelib.notify.chat import ChatSender
from chalicelib.notify.contract import Accepted, CheckedConfig, Outcome, OutgoingMessage
from chalicelib.notify.http import MAX_ANSWER_BYTES, bounded_wait
from chalicelib.notify.texts import TextStyle, render

MAX_TEXT = 4096
"""UTF-16 code units."""

_OK = re.compile(rb'\s*\{\s*"ok"\s*:\s*true\b')
"""The beginning of an answer of which only a part is read: the answer to a long message repeats the message."""
_ERRORS = {
    "bad_chat": (
        "The bot provider refuses the message (400).",
        "The chat id is wrong, or the bot is no member of the group. Add the bot, or correct the id, then send a test.",
    ),
    "not_a_member": (
        "The bot may not write to this chat (403).",
        "The bot was removed or blocked, or its token is not valid. Add it to the group, or enter a new token.",
    ),
}
_CODES = {400: "bad_chat", 401: "unauthorized", 403: "not_a_member", 404: "not_found", 421: "unauthorized"}


def utf16_units(text: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


STYLE = TextStyle(max_size=MAX_TEXT, size=utf16_units)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotChat(ChatSender):
    """Sends to chats by the bot API."""

    setting, errors = "bot_api_host", _ERRORS

    def check(self, secrets: Mapping[str, Secret]) -> CheckedConfig:
        """The host of the bot API, without the token."""
        return CheckedConfig(mask=self.host.mask, secrets=secrets)

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        """Send the message. To a group that was upgraded it is sent again, with the new id, which is returned."""
        text = render(message, STYLE)
        answer = self._post(text, secrets, json.loads(secrets["chat_id"].reveal()), deadline)
        if not isinstance(answer, HttpAnswer):
            return answer
        moved_to = _parameters(answer).get("migrate_to_chat_id")
        if not isinstance(moved_to, int) or _status(answer) != 400:
            return self._outcome(answer, message)
        # Once: a group that moves again and again would hold up the worker.
        answer = self._post(text, secrets, moved_to, deadline)
        outcome = self._outcome(answer, message) if isinstance(answer, HttpAnswer) else answer
        new_chat = {"chat_id": Secret(json.dumps(moved_to))}
        return Accepted(changed=new_chat) if isinstance(outcome, Accepted) else outcome

    def _post(
        self, text: str, secrets: Mapping[str, Secret], chat_id: object, deadline: Deadline
    ) -> HttpAnswer | Outcome:
        url = HttpsUrl(self.host, f"/bot{secrets['bot_token'].reveal()}/sendMessage")
        body = {"chat_id": chat_id, "text": text, "link_preview_options": {"is_disabled": True}}
        return self.post(url, json.dumps(body).encode(), {}, deadline)

    def _outcome(self, answer: HttpAnswer, message: OutgoingMessage) -> Outcome:
        if answer.status == 200 and _is_ok(answer):
            return Accepted()
        status, wait = _status(answer), bounded_wait(_parameters(answer).get("retry_after"))
        return self.refusal(replace(answer, status=status), _CODES.get(status), wait, message)


def _is_ok(answer: HttpAnswer) -> bool:
    content = answer.content or b""
    if len(content) >= MAX_ANSWER_BYTES:
        return bool(_OK.match(content))
    return answer.json_object.get("ok") is True


def _status(answer: HttpAnswer) -> int:
    """The status of the answer; that in the body when the HTTP status is 200."""
    code = answer.json_object.get("error_code")
    return code if answer.status == 200 and isinstance(code, int) and 300 <= code < 600 else answer.status


def _parameters(answer: HttpAnswer) -> Mapping[str, Any]:
    parameters = answer.json_object.get("parameters")
    return parameters if isinstance(parameters, dict) else {}
