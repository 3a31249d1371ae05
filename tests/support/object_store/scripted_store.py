"""A store that speaks as much of the protocol of Amazon S3 as a test of a bucket needs, and refuses what it is told to.

It does not check signatures: refusals of keys are scripted. tests/integration/object_store has the same tests against
MinIO.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The answer to requests of one method, with a parameter of the query, or without one. Without a code the answer is
    no error of a store, but `content`.
    """

    method: str
    status: int
    code: str | None = None
    query: str | None = None
    without_query: str | None = None
    content: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def is_for(self, method: str, query: Mapping[str, list[str]]) -> bool:
        if method != self.method or self.without_query in query:
            return False
        return self.query is None or self.query in query

    @property
    def body(self) -> bytes:
        if self.code is None:
            return self.content.encode()
        return f"<?xml version='1.0'?><Error><Code>{self.code}</Code>{self.content}</Error>".encode()


@dataclass
class ScriptedStore:
    """A running store with one bucket, `lake`."""

    url: str
    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    lost_replies: set[str] = field(default_factory=set)
    """Methods whose requests are carried out and not answered."""

    @contextlib.contextmanager
    def refusing(self, method: str, status: int, code: str | None = None, **answer: Any) -> Iterator[None]:
        """Answers requests of this method so for the block."""
        refusal = Refusal(method=method, status=status, code=code, **answer)
        self.refusals.append(refusal)
        try:
            yield
        finally:
            self.refusals.remove(refusal)

    def answer(self, method: str, target: str, content: bytes) -> tuple[int, Mapping[str, str], bytes]:
        url = urlsplit(target)
        query = parse_qs(url.query, keep_blank_values=True)
        self.requests.append(f"{method} {target}")
        for refusal in self.refusals:
            if refusal.is_for(method, query):
                return refusal.status, refusal.headers, refusal.body
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        if bucket != "lake":
            return _error(404, "NoSuchBucket")
        return self._known(method, key, query, content)

    def _known(
        self, method: str, key: str, query: Mapping[str, list[str]], content: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        match method:
            case "GET":
                return 200, {}, b"<ListBucketResult/>"
            case "PUT":
                self.objects[key] = content
                return 200, {}, b""
            case "POST" if "uploads" in query:
                name = f"upload-{len(self.requests)}"
                self.uploads.add(name)
                return 200, {}, f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></x>".encode()
            case "DELETE" if "uploadId" in query:
                return self._abort(*query["uploadId"])
            case "DELETE":
                self.objects.pop(key, None)
                return 204, {}, b""
        return _error(405, "MethodNotAllowed")

    def _abort(self, name: str) -> tuple[int, Mapping[str, str], bytes]:
        if name not in self.uploads:
            return _error(404, "NoSuchUpload")
        self.uploads.remove(name)
        return 204, {}, b""


def _error(status: int, code: str) -> tuple[int, Mapping[str, str], bytes]:
    return status, {}, f"<Error><Code>{code}</Code></Error>".encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: ScriptedStore

    def _serve(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, body = self.store.answer(self.command, self.path, content)
        if self.command in self.store.lost_replies:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = _serve

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def scripted_store() -> Iterator[ScriptedStore]:
    """A store on a free port of 127.0.0.1."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    store = ScriptedStore(url=f"http://127.0.0.1:{server.server_port}")
    handler.store = store  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
