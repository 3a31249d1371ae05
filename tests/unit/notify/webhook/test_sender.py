import base64
import hashlib
import hmac
import json
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.clients.http.guarded import CONNECT_SECONDS
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.notification import MessageKind
from chalicelib.errors import Invalid
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import (
    Accepted,
    Ambiguous,
    MessageLine,
    Outcome,
    OutgoingMessage,
    Permanent,
    Throttled,
    Transient,
)
from chalicelib.notify.webhook.sender import MAX_ERROR
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import NotificationReceiver, Reply
from tests.support.alerting.notifications import (
    DELIVERY_ID,
    HOOK_HOST,
    NOW,
    PUBLIC,
    content,
    message,
    recorded_dials,
    resolving,
    secrets,
    senders,
)

URL = f"https://{HOOK_HOST}/in?key=planted"
KEYS = ["event", "severity", "status", "timestamp", "pipeline", "connector", "error", "alert"]
SIGNING_SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()


def send(
    hook: NotificationReceiver, authority: Authority, sent: OutgoingMessage | None = None, **fields: str
) -> Outcome:
    sender = senders(authority=authority)[ChannelProvider.WEBHOOK]
    with recorded_dials({PUBLIC: hook.port}):
        return sender.send(sent or message(), secrets(**{"url": URL, **fields}), Deadline.after(10))


@contextmanager
def slow_to_greet(authority: Authority, seconds: float) -> Iterator[int]:
    """A receiver of one message that waits so long before it answers the TLS handshake. Gives its port."""
    pair, tls = authority.sign(HOOK_HOST), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        tls.load_cert_chain(file.name)

    def serve() -> None:
        connection, _ = listener.accept()
        time.sleep(seconds)
        with suppress(OSError), tls.wrap_socket(connection, server_side=True) as encrypted:
            received = b"-"
            # To the end of its JSON: closing with unread data would make the client lose the answer.
            while received and not received.endswith(b"}"):
                received = encrypted.recv(65536)
            encrypted.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def test_the_payload_has_exactly_eight_keys(hook: NotificationReceiver, authority: Authority) -> None:
    assert send(hook, authority) == Accepted()
    [received] = hook.received
    assert list(received.json) == KEYS
    assert received.json["event"] == "CONNECT_TASK_FAILED"
    assert (received.json["severity"], received.json["status"]) == ("critical", "firing")
    assert received.json["timestamp"] == "2026-01-31T12:00:00.000Z"
    assert received.json["pipeline"] == {"id": content().pipeline_id, "name": "orders"}
    assert received.json["connector"] == "headgate-source-1"
    assert received.json["error"] == content().error
    assert received.json["alert"]["id"] == content().alert_id
    assert (received.path, received.headers["host"]) == ("/in?key=planted", HOOK_HOST)
    assert received.headers["content-type"] == "application/json"


def test_a_recovery_says_that_it_is_one_and_how_long_it_lasted(
    hook: NotificationReceiver, authority: Authority
) -> None:
    over = content(kind=MessageKind.RESOLVED, at=NOW + timedelta(minutes=5), recovery_seconds=300.0)
    send(hook, authority, message(over))
    assert list(hook.received[0].json) == KEYS
    assert hook.received[0].json["status"] == "resolved"
    assert hook.received[0].json["alert"]["recovery_seconds"] == 300.0


@pytest.mark.parametrize("failed", [True, False])
def test_a_recovery_says_whether_the_message_before_it_did_not_arrive(
    hook: NotificationReceiver, authority: Authority, failed: bool
) -> None:
    line = MessageLine(content=content(kind=MessageKind.RESOLVED), firing_failed=failed)
    send(hook, authority, message(lines=(line,)))
    assert list(hook.received[0].json) == KEYS
    assert hook.received[0].json["alert"]["firing_failed"] is failed


def test_an_error_is_sent_as_it_is_up_to_a_limit(hook: NotificationReceiver, authority: Authority) -> None:
    hostile = "<!channel> & <b>_x_</b>" + "🙂" * 10_000
    assert send(hook, authority, message(content(error=hostile))) == Accepted()
    assert hook.received[0].json["error"] == hostile[: MAX_ERROR - 1] + "…"


def test_the_test_notification_has_the_same_keys(hook: NotificationReceiver, authority: Authority) -> None:
    send(hook, authority, message(lines=()))
    assert list(hook.received[0].json) == KEYS
    assert (hook.received[0].json["event"], hook.received[0].json["status"]) == ("TEST_NOTIFICATION", "test")


def test_each_attempt_has_the_same_id_and_body_and_a_signature_of_its_own_time(
    hook: NotificationReceiver, authority: Authority
) -> None:
    for seconds in (0, 35):
        attempt = message(attempt_at=NOW + timedelta(seconds=seconds))
        send(hook, authority, attempt, signing_secret=SIGNING_SECRET)
    first, second = hook.received
    assert first.body == second.body
    for received, seconds in ((first, 0), (second, 35)):
        assert received.headers["webhook-id"] == received.headers["idempotency-key"] == DELIVERY_ID
        at = received.headers["webhook-timestamp"]
        assert at == str(int(NOW.timestamp()) + seconds)
        digest = hmac.new(b"k" * 32, f"{DELIVERY_ID}.{at}.".encode() + received.body, hashlib.sha256).digest()
        assert received.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


@pytest.mark.thorough
def test_a_receiver_may_take_nine_seconds_to_answer(hook: NotificationReceiver, authority: Authority) -> None:
    hook.script(Reply(delay_seconds=9))
    assert send(hook, authority) == Accepted()
    assert len(hook.received) == 1


@pytest.mark.thorough
def test_a_receiver_may_take_longer_for_the_handshake_than_a_connection_may(authority: Authority) -> None:
    with slow_to_greet(authority, seconds=CONNECT_SECONDS + 1) as port, recorded_dials({PUBLIC: port}):
        sender = senders(authority=authority)[ChannelProvider.WEBHOOK]
        assert sender.send(message(), secrets(url=URL), Deadline.after(10)) == Accepted()


def test_without_a_secret_nothing_is_signed(hook: NotificationReceiver, authority: Authority) -> None:
    send(hook, authority)
    assert "webhook-signature" not in hook.received[0].headers
    assert "authorization" not in hook.received[0].headers


def test_custom_headers_are_sent_except_those_of_the_request_itself(
    hook: NotificationReceiver, authority: Authority
) -> None:
    stored = {
        "X-Team": "data",
        "Authorization": "Basic other",
        "Content-Type": "text/plain",
        "Accept-Encoding": "gzip",
        "Host": "evil.example",
        "CONTENT-LENGTH": "1",
        "transfer-encoding": "chunked",
        "webhook-id": "mine",
        "X-Split": "a\r\nHost: evil.example",
        "X-Ä": "ä",
        "Proxy-Authorization": "x",
        "User-Agent": "other",
    }
    assert send(hook, authority, authorization="Bearer planted", headers=json.dumps(stored)) == Accepted()
    headers = hook.received[0].headers
    assert (headers["x-team"], headers["authorization"]) == ("data", "Bearer planted")
    assert (headers["content-type"], headers["accept-encoding"]) == ("application/json", "identity")
    assert (headers["host"], headers["webhook-id"]) == (HOOK_HOST, DELIVERY_ID)
    assert int(headers["content-length"]) == len(hook.received[0].body) > 1
    assert not {"transfer-encoding", "x-split", "x-ä", "proxy-authorization"} & headers.keys()


def test_a_custom_authorization_is_sent_where_there_is_no_other(
    hook: NotificationReceiver, authority: Authority
) -> None:
    send(hook, authority, headers=json.dumps({"Authorization": "Basic mine"}))
    assert hook.received[0].headers["authorization"] == "Basic mine"


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_any_success_is_one_whatever_the_body(hook: NotificationReceiver, authority: Authority, status: int) -> None:
    hook.script(Reply(status=status, body="" if status == 204 else "x" * 100_000))
    assert send(hook, authority) == Accepted()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((400, "refused"), (401, "unauthorized"), (403, "unauthorized"), (404, "not_found"), (405, "refused")),
        *((410, "not_found"), (422, "refused"), (301, "redirected"), (302, "redirected"), (307, "redirected")),
    ],
)
def test_a_refusal_is_final(hook: NotificationReceiver, authority: Authority, status: int, code: str) -> None:
    hook.script(Reply(status=status, body="", headers={"Location": "https://169.254.169.254/latest/meta-data"}))
    outcome = send(hook, authority)
    assert isinstance(outcome, Permanent)
    assert outcome.error.code == code


def test_what_may_pass_is_tried_again(hook: NotificationReceiver, authority: Authority) -> None:
    hook.script(Reply(status=503, body="", headers={"Retry-After": "9"}), Reply(status=429, body=""), Reply(drop=True))
    down, limited, lost = (send(hook, authority) for _ in range(3))
    assert isinstance(down, Transient)
    assert down.retry_after == timedelta(seconds=9)
    assert isinstance(limited, Throttled)
    assert isinstance(lost, Ambiguous)


def test_a_certificate_for_another_name_gets_no_message(authority: Authority, hook: NotificationReceiver) -> None:
    other = "https://other.example.com/in"
    sender = senders(authority=authority, resolve=resolving({"other.example.com": [PUBLIC]}))[ChannelProvider.WEBHOOK]
    with recorded_dials({PUBLIC: hook.port}) as dials:
        outcome = sender.send(message(), secrets(url=other), Deadline.after(10))
    assert isinstance(outcome, Transient)
    assert (dials, hook.received) == ([(PUBLIC, 443)], [])


def checked(addresses: Mapping[str, list[str]], url: str = URL) -> str:
    sender = senders(resolve=resolving(addresses))[ChannelProvider.WEBHOOK]
    return sender.check(secrets(url=url)).secrets["url"].reveal()


def test_a_name_that_does_not_resolve_can_be_stored() -> None:
    assert checked({}) == URL


@pytest.mark.parametrize("addresses", [["10.0.0.1"], [PUBLIC, "10.0.0.1"], ["127.0.0.1"], ["169.254.169.254"]])
def test_a_name_with_an_address_that_is_not_public_cannot(addresses: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        checked({HOOK_HOST: addresses})
    assert refused.value.code == "URL_NOT_ALLOWED"
    assert not any(address in refused.value.message for address in addresses)


def test_headgate_itself_gets_no_message(hook: NotificationReceiver, authority: Authority) -> None:
    sender = senders(authority=authority, public_url=f"https://{HOOK_HOST}:8443")[ChannelProvider.WEBHOOK]
    with recorded_dials({PUBLIC: hook.port}) as dials:
        assert isinstance(sender.send(message(), secrets(url=URL), Deadline.after(10)), Permanent)
    assert dials == []


def test_a_digest_is_never_sent_as_one_alert(hook: NotificationReceiver, authority: Authority) -> None:
    outcome = send(hook, authority, message(content(), content()))
    assert isinstance(outcome, Transient)
    assert (outcome.error.code, hook.received) == ("internal", [])


def test_secrets_that_are_broken_end_nothing_but_this_message(hook: NotificationReceiver, authority: Authority) -> None:
    fields: dict[str, Any] = {"headers": "no json"}
    outcome = send(hook, authority, None, **fields)
    assert isinstance(outcome, Transient)
    assert outcome.error.code == "internal"
    sender = senders()[ChannelProvider.WEBHOOK]
    assert isinstance(sender.send(message(), {"other": Secret("x")}, Deadline.after(1)), Transient)
