from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.kit.clock import Deadline
from chalicelib.notify.chat_webhook.sender import MAX_TEXT
from chalicelib.notify.contract import Accepted, Ambiguous, Outcome, Permanent, Throttled, Transient
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import NotificationReceiver, Reply
from tests.support.alerting.notifications import content, message, secrets, senders

PATH = "/services/T0/B0/token-of-the-webhook"


def send(chat: NotificationReceiver, authority: Authority, url: str = "", **changes: Any) -> Outcome:
    sender = senders(authority=authority, chat_host=chat.address)[ChannelProvider.CHAT_WEBHOOK]
    return sender.send(message(content(**changes)), secrets(webhook_url=url or chat.url + PATH), Deadline.after(10))


def test_a_message_arrives_as_literal_text_that_mentions_nobody(
    chat: NotificationReceiver, authority: Authority
) -> None:
    assert send(chat, authority, error="<!channel> & <b>_x_</b>" + "🙂" * 10_000) == Accepted()
    [received] = chat.received
    assert (received.method, received.path) == ("POST", PATH)
    assert received.json.keys() == {"text", "mrkdwn", "link_names", "unfurl_links", "unfurl_media"}
    assert [received.json[name] for name in received.json if name != "text"] == [False] * 4
    assert "&lt;!channel&gt; &amp; &lt;b&gt;_x_&lt;/b&gt;" in received.json["text"]
    assert len(received.json["text"]) <= MAX_TEXT


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(body="invalid_payload"), "refused"),
        (Reply(body="channel_is_archived"), "channel_archived"),
        (Reply(body="<html>ok</html>"), "unexpected_answer"),
        (Reply(body=""), "unexpected_answer"),
        (Reply(status=204, body=""), "unexpected_answer"),
        (Reply(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "unexpected_answer"),
        (Reply(status=400, body="invalid_payload"), "refused"),
        (Reply(status=400, body="something else"), "refused"),
        (Reply(status=401, body=""), "unauthorized"),
        (Reply(status=403, body="invalid_token"), "unauthorized"),
        (Reply(status=403, body="action_prohibited"), "not_permitted"),
        (Reply(status=404, body="no_service"), "unauthorized"),
        (Reply(status=404, body="channel_not_found"), "not_found"),
        (Reply(status=404, body=""), "not_found"),
        (Reply(status=410, body="channel_is_archived"), "channel_archived"),
        (Reply(status=301, body="", headers={"Location": "https://169.254.169.254/"}), "redirected"),
        (Reply(status=302, body="", headers={"Location": "https://169.254.169.254/"}), "redirected"),
    ],
)
def test_a_refusal_is_final_and_has_its_own_code(
    chat: NotificationReceiver, authority: Authority, reply: Reply, code: str
) -> None:
    chat.script(reply)
    outcome = send(chat, authority)
    assert isinstance(outcome, Permanent)
    assert outcome.error.code == code
    assert len(chat.received) == 1


@pytest.mark.parametrize("status", [408, 425, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(chat: NotificationReceiver, authority: Authority, status: int) -> None:
    chat.script(Reply(status=status, body="rollup_error", headers={"Retry-After": "7"}))
    outcome = send(chat, authority)
    assert isinstance(outcome, Transient)
    assert (outcome.error.code, outcome.retry_after) == ("server_error", timedelta(seconds=7))


@pytest.mark.parametrize(
    ("reply", "wait"),
    [
        (Reply(status=429, body="", headers={"Retry-After": "60"}), 60),
        (Reply(status=429, body={"retry_after": 30, "ok": False, "error": "rate_limited"}), 30),
        (Reply(status=429, body="", headers={"Retry-After": "Sat, 31 Jan 2026 12:01:30 GMT"}), 90),
        (Reply(status=429, body="", headers={"Retry-After": "Sat, 31 Jan 2026 11:00:00 GMT"}), 0),
        (Reply(status=429, body="", headers={"Retry-After": "999999999"}), 3600),
        (Reply(status=429, body="", headers={"Retry-After": "soon"}), None),
        (Reply(status=429, body={"retry_after": True}), None),
        (Reply(status=429, body={"retry_after": -5}), 0),
    ],
)
def test_too_many_messages_say_when_to_go_on(
    chat: NotificationReceiver, authority: Authority, reply: Reply, wait: int | None
) -> None:
    chat.script(reply)
    outcome = send(chat, authority)
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == (None if wait is None else timedelta(seconds=wait))


def test_a_connection_that_breaks_after_the_request_may_have_delivered(
    chat: NotificationReceiver, authority: Authority
) -> None:
    chat.script(Reply(drop=True))
    assert isinstance(send(chat, authority), Ambiguous)
    assert len(chat.received) == 1


def test_a_service_that_is_not_there_has_not_delivered(chat: NotificationReceiver, authority: Authority) -> None:
    chat.stop()
    outcome = send(chat, authority)
    assert isinstance(outcome, Transient)
    assert outcome.error.code == "unreachable"


def test_a_certificate_of_another_authority_gets_no_message(chat: NotificationReceiver, authority: Authority) -> None:
    assert isinstance(send(chat, Authority()), Transient)
    assert chat.received == []


def test_a_stored_url_on_another_host_is_not_contacted(chat: NotificationReceiver, authority: Authority) -> None:
    other = NotificationReceiver(chat.kind, authority=authority)
    with other:
        outcome = send(chat, authority, url=other.url + PATH)
    assert isinstance(outcome, Permanent)
    assert (other.connections, chat.connections) == (0, 0)


def test_a_refusal_of_the_credentials_says_what_to_do(chat: NotificationReceiver, authority: Authority) -> None:
    chat.script(Reply(status=403, body="invalid_token"))
    outcome = send(chat, authority)
    assert isinstance(outcome, Permanent)
    assert outcome.error.hint == (
        "The webhook was revoked or the token is not valid. Enter a new secret in the channel, then send a test."
    )
