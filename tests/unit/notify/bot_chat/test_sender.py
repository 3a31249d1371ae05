import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.bot_chat.sender import MAX_TEXT, utf16_units
from chalicelib.notify.contract import Accepted, Ambiguous, Outcome, Permanent, Throttled, Transient
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import NotificationReceiver, Reply, bot_refusal
from tests.support.alerting.notifications import content, message, secrets, senders

TOKEN = "123456:planted-token-of-the-bot"
UPGRADED = "Bad Request: group chat was upgraded to a supergroup chat"


def send(bot: NotificationReceiver, authority: Authority, chat_id: int | str = -100123, **changes: Any) -> Outcome:
    sender = senders(authority=authority, bot_host=bot.address)[ChannelProvider.BOT_CHAT]
    fields = secrets(bot_token=TOKEN, chat_id=json.dumps(chat_id))
    return sender.send(message(content(**changes)), fields, Deadline.after(10))


@pytest.mark.parametrize("chat_id", [-100123, "-100123", "@orders_alerts"], ids=repr)
def test_a_message_arrives_as_plain_text(bot: NotificationReceiver, authority: Authority, chat_id: int | str) -> None:
    assert send(bot, authority, chat_id) == Accepted()
    [received] = bot.received
    assert received.path == f"/bot{TOKEN}/sendMessage"
    assert received.json.keys() == {"chat_id", "text", "link_preview_options"}
    assert received.json["chat_id"] == chat_id
    assert received.json["link_preview_options"] == {"is_disabled": True}


def test_a_long_message_is_as_long_as_the_bot_api_takes(bot: NotificationReceiver, authority: Authority) -> None:
    assert send(bot, authority, error="<!channel> & <b>_x_</b>" + "🙂" * 10_000) == Accepted()
    [text] = bot.texts()
    assert MAX_TEXT - 2 <= utf16_units(text) <= MAX_TEXT
    assert "<!channel> & <b>_x_</b>🙂" in text


@pytest.mark.parametrize("body", ['{"result": {"message_id": 7}, "ok": true}', '\n{"ok" :true}'])
def test_an_answer_confirms_the_message_wherever_it_says_ok(
    bot: NotificationReceiver, authority: Authority, body: str
) -> None:
    bot.script(Reply(body=body))
    assert send(bot, authority) == Accepted()


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (bot_refusal(400, "Bad Request: chat not found"), "bad_chat"),
        (bot_refusal(400, "Bad Request: can't parse entities"), "bad_chat"),
        (bot_refusal(401, "Unauthorized"), "unauthorized"),
        (bot_refusal(403, "Forbidden: bot was kicked from the group chat"), "not_a_member"),
        (bot_refusal(404, "Not Found"), "not_found"),
        (bot_refusal(421, "Misdirected Request"), "unauthorized"),
        (Reply(body={"ok": False, "error_code": 403, "description": "Forbidden"}), "not_a_member"),
        (Reply(body={"ok": False}), "unexpected_answer"),
        (Reply(body="ok"), "unexpected_answer"),
        (Reply(body='{"ok": true'), "unexpected_answer"),
        (Reply(body={"ok": 1}), "unexpected_answer"),
        (Reply(body={"ok": "true"}), "unexpected_answer"),
        (Reply(body={"result": {"ok": True}}), "unexpected_answer"),
        (Reply(body="[" * 4000), "unexpected_answer"),
        (Reply(status=302, body="", headers={"Location": "https://169.254.169.254/"}), "redirected"),
    ],
)
def test_a_refusal_is_final_and_has_its_own_code(
    bot: NotificationReceiver, authority: Authority, reply: Reply, code: str
) -> None:
    bot.script(reply)
    outcome = send(bot, authority)
    assert isinstance(outcome, Permanent)
    assert outcome.error.code == code
    assert len(bot.received) == 1


@pytest.mark.parametrize(
    "reply", [bot_refusal(500, "Internal Server Error: restart"), Reply(status=502, body="<html>")]
)
def test_an_error_of_the_service_is_tried_again(bot: NotificationReceiver, authority: Authority, reply: Reply) -> None:
    bot.script(reply)
    assert isinstance(send(bot, authority), Transient)


def test_too_many_messages_say_when_to_go_on(bot: NotificationReceiver, authority: Authority) -> None:
    bot.script(bot_refusal(429, "Too Many Requests: retry after 17", retry_after=17))
    outcome = send(bot, authority)
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == timedelta(seconds=17)


def test_a_group_that_became_another_one_gets_the_message_there_in_the_same_attempt(
    bot: NotificationReceiver, authority: Authority
) -> None:
    bot.script(bot_refusal(400, UPGRADED, migrate_to_chat_id=-1009876543210))
    assert send(bot, authority) == Accepted(changed={"chat_id": Secret("-1009876543210")})
    assert [request.json["chat_id"] for request in bot.received] == [-100123, -1009876543210]
    assert len(set(bot.texts())) == 1


def test_a_group_that_moves_again_and_again_is_followed_once(bot: NotificationReceiver, authority: Authority) -> None:
    bot.script(*[bot_refusal(400, UPGRADED, migrate_to_chat_id=-1009876543210 - n) for n in range(5)])
    assert isinstance(send(bot, authority), Permanent)
    assert len(bot.received) == 2


def test_an_answer_that_is_lost_at_the_new_group_may_have_delivered(
    bot: NotificationReceiver, authority: Authority
) -> None:
    bot.script(bot_refusal(400, UPGRADED, migrate_to_chat_id=-1009876543210), Reply(drop=True))
    assert isinstance(send(bot, authority), Ambiguous)


def test_the_errors_of_the_specification_have_its_hints(bot: NotificationReceiver, authority: Authority) -> None:
    bot.script(bot_refusal(400, "Bad Request: chat not found"), bot_refusal(401, "Unauthorized"))
    wrong_chat, wrong_token = send(bot, authority), send(bot, authority)
    assert isinstance(wrong_chat, Permanent)
    assert isinstance(wrong_token, Permanent)
    assert "chat id is wrong, or the bot is no member of the group" in str(wrong_chat.error.hint)
    assert "Enter a new secret in the channel, then send a test" in str(wrong_token.error.hint)
    assert "chat not found" not in repr(wrong_chat)
