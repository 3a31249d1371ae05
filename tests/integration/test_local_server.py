"""The local HTTP server against correct, wrong, slow and hostile clients, over a real socket."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest

from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from infra.local.app import connection
from infra.local.app.server import MAX_CONNECTIONS, ApiServer
from tests.support.apps.edge import JSON_ADMIN, make_edge
from tests.support.waiting import eventually

HEAD = "Host: x\r\nx-test-role: Admin\r\nContent-Type: application/json\r\n"
BODY = '{"name":"n"}'


@contextmanager
def serving() -> Iterator[ApiServer]:
    server = ApiServer(make_edge().app, 0)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with serving() as server:
        yield server


def connect(server: ApiServer) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=20)


def exchange(server: ApiServer, raw: str | bytes) -> bytes:
    """Sends the request and closes the sending side. Returns everything that the server sends until it closes."""
    with connect(server) as client:
        client.sendall(raw.encode() if isinstance(raw, str) else raw)
        client.shutdown(socket.SHUT_WR)
        return _all(client)


def _all(client: socket.socket) -> bytes:
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts)


def envelope(response: bytes) -> tuple[int, str]:
    head, _, body = response.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["code"]


def test_several_requests_can_use_one_connection(server: ApiServer) -> None:
    parts = urlsplit(server.url)
    client = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    for _ in range(3):
        client.request("POST", "/api/v1/things", body=BODY, headers=JSON_ADMIN)
        response = client.getresponse()
        assert (response.status, json.loads(response.read())["name"]) == (201, "n")
    client.close()


def test_pipelined_requests_keep_their_order(server: ApiServer) -> None:
    first = f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: {len(BODY)}\r\n\r\n{BODY}"
    responses = exchange(server, first + f"GET /nope HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n")
    assert responses.index(b" 201 ") < responses.index(b" 404 ")


def test_a_chunked_body_is_read_and_the_connection_stays_in_step(server: ApiServer) -> None:
    chunks = f"5\r\n{BODY[:5]}\r\n{len(BODY) - 5:x};note=1\r\n{BODY[5:]}\r\n0\r\nTrailer: x\r\n\r\n"
    chunked = f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n{chunks}"
    responses = exchange(server, chunked * 2 + f"GET /health HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n")
    assert (responses.count(b" 201 Created"), responses.count(b" 200 OK")) == (2, 1)


@pytest.mark.parametrize(
    "raw",
    [
        "\x16\x03\x01\x02\x00\x01\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET / HTTP/x\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "POST /\r\n\r\n",
        f"GET /{'x' * 20_000} HTTP/1.1\r\n\r\n",
        f"GET / HTTP/1.1\r\nA: {'x' * 70_000}\r\n\r\n",
        "GET / HTTP/1.1\r\n" + "A: b\r\n" * 200 + "\r\n",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: 5x\r\n\r\n",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: -1\r\n\r\n",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: 99\r\n\r\n{{}}",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Transfer-Encoding: gzip\r\n\r\n",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}x\r\n0\r\n\r\n",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}no colon here\r\nContent-Length: 2\r\n\r\n{{}}",
        f"POST /api/v1/things HTTP/1.1\r\n folded: onto nothing\r\n{HEAD}Content-Length: 2\r\n\r\n{{}}",
        f"POST /api/v1/things HTTP/1.1\r\n{HEAD}From somebody\r\nContent-Length: 2\r\n\r\n{{}}",
    ],
)
def test_an_invalid_request_is_refused_in_the_envelope_and_the_connection_closes(server: ApiServer, raw: str) -> None:
    response = exchange(server, raw.encode("latin-1"))
    assert envelope(response) == (400, "MALFORMED_JSON")
    assert response.count(b"HTTP/1.1 ") == 1
    for header in (b"X-Correlation-ID: ", b"Cache-Control: no-store", b"Connection: close"):
        assert header in response


def test_a_refusal_has_the_correlation_id_of_the_request_and_is_logged(
    server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        response = exchange(server, f"GET / HTTP/1.1\r\n{HEAD}X-Correlation-ID: mine\r\nContent-Length: zz\r\n\r\n")
    assert b"X-Correlation-ID: mine\r\n" in response
    assert [getattr(line, "correlation_id", None) for line in caplog.records] == ["mine"]


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=x", "message/rfc822"])
def test_a_body_of_another_type_is_415_even_where_a_mail_parser_would_object(server: ApiServer, kind: str) -> None:
    head = f"POST /api/v1/things HTTP/1.1\r\nx-test-role: Admin\r\nHost: h\r\nContent-Type: {kind}\r\n"
    response = exchange(server, f"{head}Content-Length: 3\r\nConnection: close\r\n\r\n--x")
    assert envelope(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    ("path", "refusal"), [("nowhere", (404, "NOT_FOUND")), ("things", (405, "METHOD_NOT_ALLOWED"))]
)
def test_an_unknown_method_is_405_where_there_is_a_path(server: ApiServer, path: str, refusal: tuple[int, str]) -> None:
    response = exchange(server, f"BREW /api/v1/{path} HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n")
    assert envelope(response) == refusal


def test_a_body_whose_declared_length_is_too_large_is_refused_unread(server: ApiServer) -> None:
    with connect(server) as client:
        client.sendall(f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: 99999999999\r\n\r\n".encode())
        response = client.recv(65536)
    assert envelope(response) == (413, "PAYLOAD_TOO_LARGE")
    assert b"Connection: close" in response


def test_a_client_that_sends_a_too_large_body_can_read_the_refusal(server: ApiServer) -> None:
    size = 3 * 1024 * 1024
    raw = f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: {size}\r\n\r\n".encode() + b"x" * size
    assert envelope(exchange(server, raw)) == (413, "PAYLOAD_TOO_LARGE")


def test_a_chunked_body_is_read_no_further_than_the_limit(server: ApiServer) -> None:
    raw = f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n".encode()
    assert envelope(exchange(server, raw + b"x" * 400_000)) == (413, "PAYLOAD_TOO_LARGE")


def test_100_continue_is_sent_only_when_the_body_will_be_read(server: ApiServer) -> None:
    head = f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Expect: 100-continue\r\nConnection: close\r\n"
    with connect(server) as client:
        client.sendall(f"{head}Content-Length: {len(BODY)}\r\n\r\n".encode())
        assert client.recv(65536).startswith(b"HTTP/1.1 100 ")
        client.sendall(BODY.encode())
        assert b" 201 Created" in _all(client)
    with connect(server) as client:
        client.sendall(f"{head}Content-Length: 9999999\r\n\r\n".encode())
        assert envelope(_all(client)) == (413, "PAYLOAD_TOO_LARGE")


def test_head_sends_no_content(server: ApiServer) -> None:
    response = exchange(server, f"HEAD /api/v1/things HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n")
    assert response.startswith(b"HTTP/1.1 405 ")
    assert response.endswith(b"\r\n\r\n")


def test_the_server_header_has_no_versions(server: ApiServer) -> None:
    response = exchange(server, f"GET /health HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n")
    assert b"Server: Headgate\r\n" in response
    assert b"Python" not in response


def test_a_connection_that_sends_its_head_too_slowly_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)
    stop = threading.Event()
    with serving() as server, connect(server) as client:
        slow_sender = threading.Thread(target=_send_slowly, args=(client, stop))
        slow_sender.start()
        try:
            # The limit is for the whole head, not for the time between two bytes.
            assert _is_closed(client)
        finally:
            stop.set()
            slow_sender.join()


def _send_slowly(client: socket.socket, stop: threading.Event) -> None:
    try:
        client.sendall(b"GET / HTTP/1.1\r\nA: ")
        while not stop.wait(0.05):
            client.sendall(b"x")
    except OSError:
        pass


def _is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def test_a_silent_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "IDLE_SECONDS", 0.2)
    with serving() as server, connect(server) as client:
        assert client.recv(1) == b""


def test_connections_over_the_limit_are_refused_when_all_are_in_use_until_others_close() -> None:
    with serving() as server:
        clients = [connect(server) for _ in range(MAX_CONNECTIONS)]
        for client in clients:
            _begin_request(client)
        with connect(server) as late:
            assert envelope(_all(late)) == (429, "RATE_LIMITED")
        for client in clients:
            client.close()
        request = f"GET /health HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n"
        eventually(lambda: exchange(server, request), lambda response: b" 200 OK" in response)


def test_at_the_limit_a_new_connection_takes_the_place_of_the_one_that_has_waited_longest() -> None:
    with serving() as server:
        clients = [connect(server) for _ in range(MAX_CONNECTIONS)]
        _one_request(clients[0])
        _until_waiting(server, MAX_CONNECTIONS)
        for client in clients[1:]:
            _one_request(client)
        with connect(server) as late:
            _one_request(late)
            assert clients[0].recv(1) == b""
            for client in clients[1:]:
                _one_request(client)
        for client in clients:
            client.close()


def _begin_request(client: socket.socket) -> None:
    """Sends the head of a request, and returns when the server waits for its body."""
    head = f"POST /api/v1/things HTTP/1.1\r\n{HEAD}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    client.sendall(head.encode())
    assert client.recv(4096).startswith(b"HTTP/1.1 100 ")


def _until_waiting(server: ApiServer, connections: int) -> None:
    """Waits until the server waits for the next request on so many connections. A client may have its response before
    the thread of its connection waits again.
    """
    open_ = server._server._open
    eventually(lambda: sum(each.waiting_since is not None for each in list(open_.values())) == connections)


def _one_request(client: socket.socket) -> None:
    """Sends one request and reads its response: then the server waits for the next one on this connection."""
    client.sendall(f"GET /health HTTP/1.1\r\n{HEAD}\r\n".encode())
    response = HTTPResponse(client)
    response.begin()
    assert response.status == 200
    response.read()


def test_the_date_is_that_of_the_clock_that_it_was_given() -> None:
    server = ApiServer(make_edge().app, 0, clock=lambda: 1_769_860_800.0)
    server.start()
    try:
        assert b"Date: Sat, 31 Jan 2026 12:00:00 GMT" in exchange(server, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    finally:
        server.stop()


def test_a_stop_completes_a_running_request_and_closes_waiting_connections() -> None:
    routes, started, may_end = Router(tag="Slow"), threading.Event(), threading.Event()

    @routes.get("/slow", needs=Permission.READ)
    def slow(context: RequestContext) -> list[int]:
        """Waits until the test lets it end."""
        started.set()
        may_end.wait(20)
        return [1]

    server = ApiServer(make_edge(routes).app, 0)
    server.start()
    with connect(server) as busy, connect(server) as waiting:
        _one_request(waiting)
        busy.sendall(f"GET /api/v1/slow HTTP/1.1\r\n{HEAD}\r\n".encode())
        assert started.wait(20)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert waiting.recv(1) == b""
        may_end.set()
        assert b"[1]" in _all(busy)
        stopping.join(20)
        assert not stopping.is_alive()
    with pytest.raises(ConnectionError):
        connect(server)
