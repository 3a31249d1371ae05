"""Receivers of notifications over HTTPS, on 127.0.0.1: a chat webhook, a bot API, a webhook.

    with NotificationReceiver(Kind.CHAT, authority=authority) as chat:
        chat.script(Reply(status=500), Reply(status=429, headers={"Retry-After": "60"}))
        ...
        assert chat.texts() == [...]

Each answers as its service does to a good message, and refuses a bad one in its service's words, unless a script says
otherwise. Everything that came is kept.
"""

import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Self

from infra.local.doubles.authority import Authority
from infra.local.doubles.connections import Tracked

MAX_BYTES = 1024 * 1024
MAX_TEXT = {"chat": 40_000, "bot": 4096}
"""Characters of a chat message; UTF-16 units of a bot's."""


class Kind(Enum):
    """Which service a receiver is."""

    CHAT = auto()
    BOT = auto()
    WEBHOOK = auto()


@dataclass(frozen=True, kw_only=True)
class Received:
    """A request. Names of headers are in lower case; `connection` is the number of the connection that it came by."""

    at: datetime
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        """The body as JSON. Raises ValueError."""
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer. A body that is no text is sent as JSON; without status and body it is the service's own.

    `delay_seconds` before it; `drop`: the connection is closed instead, after the request was read.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0
    drop: bool = False


class NotificationReceiver:
    """One receiver, running from its creation to `stop`. `hosts` are names that its certificate is valid for."""

    def __init__(
        self,
        kind: Kind,
        *,
        authority: Authority,
        hosts: tuple[str, ...] = (),
        port: int = 0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.kind, self.clock = kind, clock
        self.received: list[Received] = []
        self.connections = 0
        self.released = threading.Event()
        self._replies: list[Reply] = []
        self._lock = threading.Lock()
        self._server = _Server(port, self, _context(authority, kind, hosts))
        self.port: int = self._server.server_address[1]
        self.address = f"127.0.0.1:{self.port}"
        self.url = f"https://{self.address}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def script(self, *replies: Reply) -> None:
        """The next answers, each once; after them the service's own."""
        with self._lock:
            self._replies.extend(replies)

    def reset(self) -> None:
        """Forget the script and the received requests."""
        with self._lock:
            self._replies.clear()
            self.received.clear()
            self.connections = 0

    def texts(self) -> list[str]:
        """The texts of the messages of a chat or a bot."""
        return [request.json["text"] for request in self.received]

    def stop(self) -> None:
        """Stop listening, and close every connection."""
        self.released.set()
        self._server.end()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def connected(self) -> int:
        """Count one connection; returns its number."""
        with self._lock:
            self.connections += 1
            return self.connections

    def reply_to(self, request: Received) -> Reply:
        """Keep the request; the answer to it."""
        with self._lock:
            self.received.append(request)
            scripted = self._replies.pop(0) if self._replies else Reply()
        own = _ANSWERS[self.kind](request)
        if scripted.body is None and scripted.status == 200:
            return replace(scripted, status=own.status, body=own.body)
        return scripted


def _chat_answer(request: Received) -> Reply:
    text = _object(request.body).get("text")
    if not isinstance(text, str) or len(text) > MAX_TEXT["chat"]:
        return Reply(status=400, body="invalid_payload")
    return Reply(body="ok") if text else Reply(status=400, body="no_text")


def _bot_answer(request: Received) -> Reply:
    if not (request.path.startswith("/bot") and request.path.endswith("/sendMessage")):
        return bot_refusal(404, "Not Found")
    message = _object(request.body)
    text, chat_id = message.get("text"), message.get("chat_id")
    if not isinstance(text, str) or not text:
        return bot_refusal(400, "Bad Request: message text is empty")
    if len(text.encode("utf-16-le")) // 2 > MAX_TEXT["bot"]:
        return bot_refusal(400, "Bad Request: message is too long")
    result = {"message_id": 1, "date": int(request.at.timestamp()), "chat": {"id": chat_id}, "text": text}
    return Reply(body={"ok": True, "result": result})


def bot_refusal(status: int, description: str, **parameters: int) -> Reply:
    """A refusal of the bot API, with `parameters` such as `migrate_to_chat_id` and `retry_after`."""
    body = {"ok": False, "error_code": status, "description": description}
    return Reply(status=status, body={**body, "parameters": parameters} if parameters else body)


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


_ANSWERS: Mapping[Kind, Callable[[Received], Reply]] = {
    Kind.CHAT: _chat_answer,
    Kind.BOT: _bot_answer,
    Kind.WEBHOOK: lambda _: Reply(status=204, body=""),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Server"

    def setup(self) -> None:
        """Counts the connection, and starts TLS."""
        self.number = self.server.receiver.connected()
        self.request.settimeout(30)
        self.request.do_handshake()
        super().setup()

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        receiver = self.server.receiver
        reply = receiver.reply_to(
            Received(
                at=receiver.clock(),
                method=self.command,
                path=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=self.rfile.read(min(length, MAX_BYTES)),
                connection=self.number,
            )
        )
        if reply.delay_seconds:
            receiver.released.wait(reply.delay_seconds)
        if reply.drop:
            self.close_connection = True
            return
        self._write(reply)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = handle_any

    def _write(self, reply: Reply) -> None:
        body = reply.body if isinstance(reply.body, (str, bytes)) else json.dumps(reply.body)
        content = body.encode() if isinstance(body, str) else body
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: paths hold tokens."""


class _Server(Tracked):
    def __init__(self, port: int, receiver: NotificationReceiver, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.receiver, self.context = receiver, context

    def get_request(self) -> tuple[ssl.SSLSocket, Any]:
        """The next connection. Its handshake is done in its own thread."""
        connection, address = super().get_request()
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_: object) -> None:
        """Nothing: a client that does not trust the certificate, or that went away, is one of the cases."""


def _context(authority: Authority, kind: Kind, hosts: tuple[str, ...]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = authority.sign(kind.name.lower(), *hosts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pair.pem")
        path.write_text(pair.certificate + pair.key)
        context.load_cert_chain(path)
    return context
