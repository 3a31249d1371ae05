import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain, repeat
from typing import Any

import pytest

from chalicelib.clients.http.addresses import AddressPolicy, HostCheck
from chalicelib.clients.http.guarded import GuardedHttp, HttpAnswer, NoAnswer, NotConnected
from chalicelib.errors import Invalid, Unavailable
from infra.local.process.ports import free_port
from tests.support.apps.connect_worker import Reply, Worker, reset, short_deadline, silence

LOOPBACK = AddressPolicy(allow_loopback=True)
NAME = "hooks.example"


@pytest.fixture
def http(worker: Worker) -> Iterator[GuardedHttp]:
    client = GuardedHttp(worker.url, check_host=LOOPBACK)
    yield client
    client.close()


def send_once(url: str, *, check_host: HostCheck = LOOPBACK, cut_answers: bool = False, **options: Any) -> HttpAnswer:
    """The answer to one request of a client that is closed then."""
    with closing(GuardedHttp(url, check_host=check_host, cut_answers=cut_answers)) as client:
        return client.send(options.pop("method", "GET"), deadline=short_deadline(), **options)


def by_name(worker: Worker, *answers: list[str]) -> GuardedHttp:
    """A client whose host name resolves to each of the answers in turn; the last one is repeated."""
    turns = chain(answers, repeat(answers[-1]))
    policy = AddressPolicy(allow_loopback=True, resolve=lambda _: next(turns))
    return GuardedHttp(f"http://{NAME}:{worker.url.rpartition(':')[2]}", check_host=policy)


def test_status_headers_and_bytes_come_back(http: GuardedHttp, worker: Worker) -> None:
    worker.on("GET", "/x", Reply(429, b"\xff later", "text/plain", headers={"Retry-After": "7"}))
    answer = http.send("GET", "/x", deadline=short_deadline())
    assert (answer.status, answer.headers["retry-after"], answer.content) == (429, "7", b"\xff later")


def test_json_and_headers_are_sent(http: GuardedHttp, worker: Worker) -> None:
    worker.on("POST", "/x", Reply(204))
    http.send(
        "POST", "/x", deadline=short_deadline(), json={"a": [1]}, headers={"X-Event": "e", "accept-encoding": "gzip"}
    )
    sent = worker.headers[-1]
    assert worker.bodies[-1] == {"a": [1]}
    assert (sent["content-type"], sent["x-event"]) == ("application/json", "e")
    assert (sent["accept-encoding"], sent["user-agent"]) == ("identity", "headgate")


def test_bytes_are_sent_as_they_are(http: GuardedHttp, worker: Worker) -> None:
    worker.on("POST", "/x", Reply(204))
    http.send("POST", "/x", deadline=short_deadline(), content=b'{"b":2}', headers={"Content-Type": "application/json"})
    assert worker.bodies[-1] == {"b": 2}
    assert worker.headers[-1]["content-length"] == "7"


def test_the_path_may_stand_in_the_url_alone(worker: Worker) -> None:
    worker.on("POST", "/hook?a=b", Reply(200, b"ok"))
    assert send_once(worker.url + "/hook?a=b", method="POST", json={}).content == b"ok"


def test_a_refused_address_is_never_connected_to(worker: Worker) -> None:
    with pytest.raises(Invalid) as refused:
        send_once(worker.url, check_host=AddressPolicy())
    assert refused.value.code == "URL_NOT_ALLOWED"
    assert (worker.seen, worker.connections) == ([], set())


def test_the_checked_address_is_the_one_connected_to_and_not_resolved_again(worker: Worker) -> None:
    with closing(by_name(worker, ["127.0.0.1"], ["169.254.169.254"])) as client:
        assert client.send("GET", "/", deadline=short_deadline()).status == 200
    assert worker.headers[-1]["host"].startswith(NAME)


def test_a_name_that_is_bound_to_another_address_is_checked_again(worker: Worker) -> None:
    worker.on("GET", "/", Reply(200, b"", headers={"Connection": "close"}))
    client = by_name(worker, ["127.0.0.1"], ["169.254.169.254"])
    client.send("GET", "/", deadline=short_deadline())
    with pytest.raises(Invalid):
        client.send("GET", "/", deadline=short_deadline())
    assert len(worker.seen) == 1
    client.close()


def test_an_allowed_address_next_to_a_refused_one_is_not_connected_to(worker: Worker) -> None:
    client = by_name(worker, ["127.0.0.1", "169.254.169.254"])
    with pytest.raises(Invalid):
        client.send("GET", "/", deadline=short_deadline())
    assert worker.seen == []


def test_the_next_address_is_tried_when_one_does_not_answer(worker: Worker) -> None:
    with closing(by_name(worker, ["127.0.0.2", "127.0.0.1"])) as client:
        assert client.send("GET", "/", deadline=short_deadline()).status == 200


def test_a_name_that_does_not_resolve_is_not_contacted(worker: Worker) -> None:
    with pytest.raises(Unavailable):
        by_name(worker, []).send("GET", "/", deadline=short_deadline())
    assert worker.seen == []


def test_a_closed_port_means_that_nothing_was_sent() -> None:
    with pytest.raises(NotConnected):
        send_once(f"http://127.0.0.1:{free_port()}", method="POST", json={})


def test_nothing_is_sent_to_a_server_without_tls(worker: Worker) -> None:
    with pytest.raises(NotConnected):
        send_once(worker.url.replace("http://", "https://"), method="POST", json={})
    assert worker.seen == []


def test_without_time_nothing_is_sent(http: GuardedHttp, worker: Worker) -> None:
    with pytest.raises(Unavailable):
        http.send("GET", "/", deadline=short_deadline(0))
    assert worker.seen == []


def test_a_redirect_is_not_followed(http: GuardedHttp, worker: Worker) -> None:
    worker.on("GET", "/", Reply(307, b"", headers={"Location": "/elsewhere"}))
    answer = http.send("GET", "/", deadline=short_deadline())
    assert (answer.status, answer.headers["location"]) == (307, "/elsewhere")
    assert worker.seen == [("GET", "/")]


def test_a_cookie_is_not_sent_back(http: GuardedHttp, worker: Worker) -> None:
    worker.on("GET", "/", Reply(200, b"", headers={"Set-Cookie": "a=b; Path=/"}))
    http.send("GET", "/", deadline=short_deadline())
    http.send("GET", "/", deadline=short_deadline())
    assert "cookie" not in worker.headers[-1]


def test_a_proxy_of_the_environment_is_not_used(
    http: GuardedHttp, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert http.send("GET", "/", deadline=short_deadline()).status == 200


@pytest.mark.parametrize("length", ["declared", "chunked"])
def test_an_answer_that_is_too_large_is_dropped(http: GuardedHttp, worker: Worker, length: str) -> None:
    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")

    worker.on("GET", "/", Reply(after=ignoring_disconnects(flood)) if length == "chunked" else Reply(200, b"x" * 5000))
    with pytest.raises(NoAnswer) as lost:
        http.send("GET", "/", deadline=short_deadline(), max_bytes=4999)
    assert not lost.value.late


def test_an_answer_of_exactly_the_limit_is_read(http: GuardedHttp, worker: Worker) -> None:
    worker.on("GET", "/", Reply(200, b"x" * 5000))
    assert http.send("GET", "/", deadline=short_deadline(), max_bytes=5000).content == b"x" * 5000


@pytest.mark.parametrize("max_bytes", [0, 1, 4096, 5000])
def test_an_answer_is_cut_where_only_its_beginning_counts(worker: Worker, max_bytes: int) -> None:
    worker.on("GET", "/", Reply(200, b"x" * 5000))
    answer = send_once(worker.url, cut_answers=True, path="/", max_bytes=max_bytes)
    assert (answer.status, answer.content) == (200, b"x" * max_bytes)


def test_an_answer_that_never_ends_is_read_as_far_as_it_counts(worker: Worker) -> None:
    released = worker.released

    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not released.wait(0.01):
            connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")

    worker.on("GET", "/", Reply(after=ignoring_disconnects(endless)))
    assert send_once(worker.url, cut_answers=True, path="/", max_bytes=4096).content == b"x" * 4096


def test_neither_urls_nor_answers_are_logged(worker: Worker, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    worker.on("GET", "/planted-path", Reply(302, b"", headers={"Location": "https://a.example/planted-answer"}))
    send_once(worker.url + "/planted-path?key=planted", headers={"Authorization": "planted"})
    assert "planted" not in caplog.text


def test_a_compressed_answer_is_not_unpacked(http: GuardedHttp, worker: Worker) -> None:
    worker.on("GET", "/", Reply(200, b"\x1f\x8b", headers={"Content-Encoding": "gzip"}))
    answer = http.send("GET", "/", deadline=short_deadline())
    assert (answer.status, answer.content) == (200, None)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(200, b"short", headers={"Content-Length": "50", "Connection": "close"}), id="truncated"),
        pytest.param(Reply(after=reset), id="connection reset"),
    ],
)
def test_a_connection_that_breaks_after_the_request_is_no_answer(
    http: GuardedHttp, worker: Worker, reply: Reply
) -> None:
    worker.on("POST", "/", reply)
    with pytest.raises(NoAnswer) as lost:
        http.send("POST", "/", deadline=short_deadline(), json={})
    assert not lost.value.late
    assert worker.count("POST", "/") == 1


@pytest.mark.parametrize("headers_first", [True, False])
def test_a_server_that_sends_slowly_is_not_waited_for(http: GuardedHttp, worker: Worker, headers_first: bool) -> None:
    released, to_the_end = worker.released, threading.Event()

    def drip(connection: socket.socket) -> None:
        if headers_first:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n")
        for _ in range(400):
            if released.wait(0.05):
                return
            connection.sendall(b"H")
        to_the_end.set()

    worker.on("GET", "/", Reply(after=ignoring_disconnects(drip)))
    with pytest.raises(NoAnswer) as lost:
        http.send("GET", "/", deadline=short_deadline(0.3))
    assert lost.value.late
    assert not to_the_end.is_set()


def test_a_server_that_does_not_answer_is_not_waited_for(http: GuardedHttp, worker: Worker) -> None:
    worker.on("GET", "/", Reply(after=silence(worker)))
    with pytest.raises(NoAnswer) as lost:
        http.send("GET", "/", deadline=short_deadline(), seconds=0.2)
    assert lost.value.late


def test_connections_are_kept_and_a_closed_client_can_be_used_again(http: GuardedHttp, worker: Worker) -> None:
    for _ in range(3):
        http.send("GET", "/", deadline=short_deadline())
    assert len(worker.connections) == 1
    http.close()
    assert http.send("GET", "/", deadline=short_deadline()).status == 200


def ignoring_disconnects(behave: Callable[[socket.socket], None]) -> Callable[[socket.socket], None]:
    """The client may have closed the connection while the server still sends."""

    def run(connection: socket.socket) -> None:
        try:
            behave(connection)
        except OSError:
            return

    return run
