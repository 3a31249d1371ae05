"""A small app on the real Router, and several ways to send requests to it."""

import gzip
import threading
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from typing import Annotated, Literal, Self
from urllib.parse import unquote_plus, urlsplit

from chalice.app import Chalice
from chalice.test import Client
from pydantic import BaseModel, Field

from chalicelib import errors
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.framework.boundary import Boundary, BoundaryDependencies
from chalicelib.api.framework.http import HttpRequest, JsonResponse, TextResponse
from chalicelib.api.framework.openapi import Json, document
from chalicelib.api.framework.route import Route, TaskPath, UuidPath
from chalicelib.api.framework.router import Router, finish_app
from chalicelib.api.routes import console, events
from chalicelib.api.routes.docs import docs_routes
from chalicelib.api.routes.health import health_routes
from chalicelib.domain.access import Actor, Permission, RequestContext, Role
from chalicelib.domain.idempotency import LEASE, Claim, KeptAnswer
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import utc_now
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page, Signer
from chalicelib.kit.unreadable import Unreadable

ADMIN = {"x-test-role": "Admin"}
JSON_ADMIN = {**ADMIN, "content-type": "application/json"}
RecordDenial = Callable[[RequestContext, Route, HttpRequest, HeadgateError], None]
THING = "6c9de1b9-55d2-4d4b-9c1a-0f4b8b1a2c3d"


class Address(BaseModel):
    """A part of a body."""

    host: str = Field(min_length=1)
    port: int


class ThingInput(BaseModel):
    """A body with a nested model, a map and a union."""

    name: str
    address: Address | None = None
    properties: dict[str, int] = Field(default_factory=dict)
    chat: int | list[int] | None = None


class ThingOutput(BaseModel):
    """A response."""

    id: str
    name: str
    version: int = 3


class ThingQuery(ListQuery):
    """A list's filters."""

    status: Literal["on", "off"] | None = None
    tag: list[str] = Field(default_factory=list)
    page_size: int = Field(default=1, alias="pageSize")


class NoteInput(BaseModel):
    """A body that may be left out."""

    note: str = ""


@dataclass
class TestAuthenticator:
    """Trusts the header `x-test-role`; `x-test-user` and `x-test-email` are the user's."""

    __test__ = False

    def authenticate(self, headers: Mapping[str, str], method: str) -> Actor:
        if "x-test-role" not in headers:
            raise errors.Unauthenticated("Sign in first.")
        if headers.get("x-test-csrf") == "bad":
            raise errors.NotPermitted("Not from here.", code="CSRF_REJECTED")
        role, email = Role(headers["x-test-role"]), headers.get("x-test-email")
        lacks = "x-test-lacks-second-factor" in headers
        user_id = headers.get("x-test-user", "u1")
        return Actor(id=user_id, email=email, role=role, via="session", lacks_second_factor=lacks)

    def authenticate_service(self, headers: Mapping[str, str]) -> None:
        if headers.get("authorization") != "Bearer service":
            raise errors.NotPermitted("Not for you.")


@dataclass
class MemoryRows:
    """Idempotency rows in a dict, with the guarantees of the store."""

    rows: dict[str, tuple[str, Claim, datetime, KeptAnswer | None]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def claim(self, key: str, body_hash: str, now: datetime) -> Claim | KeptAnswer:
        with self.lock:
            if key in self.rows:
                known_hash, _, until, answer = self.rows[key]
                if known_hash != body_hash:
                    raise errors.Conflict("Another body.", code="IDEMPOTENCY_KEY_REUSED")
                if answer is not None:
                    return answer
                if now < until:
                    raise errors.RequestInProgress("Still running.", retry_after_seconds=2)
            claim = Claim(key=key, token=new_id())
            self.rows[key] = (body_hash, claim, now + LEASE, None)
            return claim

    def finish(self, claim: Claim, answer: KeptAnswer) -> None:
        with self.lock:
            if claim.key in self.rows and self.rows[claim.key][1] == claim:
                body_hash, _, until, _ = self.rows[claim.key]
                self.rows[claim.key] = (body_hash, claim, until, answer)

    def release(self, claim: Claim) -> None:
        with self.lock:
            if claim.key in self.rows and self.rows[claim.key][1] == claim:
                del self.rows[claim.key]


@dataclass
class Edge:
    app: Chalice
    rows: MemoryRows
    denied: list[tuple[RequestContext, Route]]
    calls: list[RequestContext]
    mounted: list[tuple[str, Route]]


def make_edge(
    *extra: Router,
    record_denial: RecordDenial | None = None,
    note_unreadable: Callable[[Iterable[Unreadable]], None] = lambda _rows: None,
) -> Edge:
    """A new app with the routes below, `extra` routers, and the public routes of the service."""
    rows, denied, calls = MemoryRows(), list[tuple[RequestContext, Route]](), list[RequestContext]()
    dependencies = BoundaryDependencies(
        authenticator=TestAuthenticator(),
        idempotency=lambda: rows,
        signer=lambda: Signer(key=b"k" * 32),
        record_denial=record_denial or (lambda context, route, *_: denied.append((context, route))),
        note_unreadable=note_unreadable,
        clock=utc_now,
    )
    app, boundary = Chalice(app_name="edge"), Boundary(lambda: dependencies)
    mounted: list[tuple[str, Route]] = []

    def description() -> Json:
        return document(mounted, title="Edge", version="1")

    for routes in (things(calls), special_routes(calls), events.routes, *extra):
        mounted += routes.mount(app, "/api/v1", boundary)
    health = health_routes(lambda: {"tables": True, "queue": False})
    for routes in (health, docs_routes(description), console.console_routes):
        mounted += routes.mount(app, "", boundary)
    finish_app(app, boundary, lambda _: tuple(app.routes))
    return Edge(app=app, rows=rows, denied=denied, calls=calls, mounted=mounted)


def things(calls: list[RequestContext]) -> Router:  # noqa: C901 - many small handlers, none with a branch too many
    """Routes with every kind of parameter and response. `calls` gets the context of every call of a handler."""
    routes = Router(tag="Things")

    @routes.post("/things", needs=Permission.WRITE, status=201)
    def create_thing(context: RequestContext, body: ThingInput) -> ThingOutput:
        """Make a thing."""
        calls.append(context)
        return ThingOutput(id=context.fresh_id(), name=body.name)

    @routes.get("/things", needs=Permission.READ)
    def list_things(context: RequestContext, query: ThingQuery) -> Page[ThingOutput]:
        """List things."""
        first = int(query.after or 0)
        shown = range(first, min(first + query.limit, 5))
        items = tuple(ThingOutput(id=str(number), name=",".join(query.tag)) for number in shown)
        return Page(items, keys=tuple(str(number + 1) for number in shown), more=first + query.limit < 5)

    @routes.get("/things/summary", needs=Permission.READ)
    def summarize_things() -> list[ThingOutput]:
        """A literal beside a variable."""
        return [ThingOutput(id="summary", name="summary")]

    @routes.get("/things/{uuid}", needs=Permission.READ)
    def get_thing(context: RequestContext, uuid: UuidPath) -> ThingOutput:
        """Read a thing."""
        if uuid != THING:
            raise errors.NotFound("No such thing.")
        return ThingOutput(id=uuid, name="ä thing")

    @routes.put("/things/{uuid}", needs=Permission.WRITE)
    def change_thing(context: RequestContext, uuid: UuidPath, body: ThingInput) -> ThingOutput:
        """Change a thing."""
        if context.if_match not in (None, 3):
            raise errors.VersionMismatch("The version has changed.")
        return ThingOutput(id=uuid, name=body.name, version=4)

    @routes.delete("/things/{uuid}", needs=Permission.ADMINISTER)
    def delete_thing(context: RequestContext, uuid: UuidPath) -> None:
        """Delete a thing."""

    @routes.post("/things/{uuid}/note", needs=Permission.OPERATE)
    def note_thing(context: RequestContext, uuid: UuidPath, body: NoteInput | None) -> ThingOutput:
        """A body that may be left out."""
        return ThingOutput(id=uuid, name=body.note if body else "nothing")

    @routes.post("/things/{uuid}/tasks/{task_id}/restart", needs=Permission.OPERATE, also=(202,))
    def restart_task(context: RequestContext, uuid: UuidPath, task_id: TaskPath) -> JsonResponse[ThingOutput]:
        """A status chosen at run time, with a cookie."""
        calls.append(context)
        body = ThingOutput(id=uuid, name=repr(task_id))
        return JsonResponse(body=body, status=202, headers={"X-Note": "here"}, cookies=("a=1; HttpOnly", "b=2"))

    return routes


def special_routes(calls: list[RequestContext]) -> Router:
    """Routes that return text, need a special permission, or fail."""
    routes = Router(tag="Oddities")

    @routes.get("/names/{name}", needs=Permission.READ)
    def get_name(context: RequestContext, name: str) -> TextResponse:
        """A name in the path, a text response."""
        return TextResponse(text=f"name={name}")

    @routes.get("/wall", needs=Permission.PUBLIC)
    def wall(request: HttpRequest) -> TextResponse:
        """The request as a public handler gets it."""
        return TextResponse(text=f"{request.headers.get('cookie', '-')} {request.source_address}")

    @routes.get("/machine", needs=Permission.SERVICE, hidden=True)
    def machine(context: RequestContext) -> TextResponse:
        """For service clients only."""
        return TextResponse(text=context.actor.via)

    @routes.post("/broken", needs=Permission.READ)
    def broken(context: RequestContext) -> None:
        """Fails unexpectedly, with a secret in the message."""
        calls.append(context)
        raise KeyError("hunter2")

    @routes.post("/sealed", needs=Permission.READ)
    def sealed(context: RequestContext, body: Annotated[ThingInput, Field()]) -> ThingOutput:
        """Returns another type than it declares."""
        return Secret("hunter2")  # type: ignore[return-value]

    return routes


@dataclass(frozen=True)
class ClientResponse:
    """A response as a client sees it. Header names are lower case; a header sent twice is a tuple.

    `size` is that of the body on the wire, in bytes.
    """

    status: int
    headers: Mapping[str, str | tuple[str, ...]]
    body: str
    size: int = 0

    @classmethod
    def of(cls, status: int, headers: Mapping[str, object], content: bytes) -> Self:
        """The body as it was before it was compressed."""
        found = _lower(headers)
        text = gzip.decompress(content) if found.get("content-encoding") == "gzip" else content
        return cls(status, found, text.decode(), len(content))


Send = Callable[[str, str, Mapping[str, str], bytes], ClientResponse]


def through_test_client(app: Chalice) -> Send:
    """By chalice's own test client."""
    client = Client(app)

    def send(method: str, target: str, headers: Mapping[str, str], body: bytes) -> ClientResponse:
        answer = client.http.request(method, target, headers=dict(headers), body=body)
        return ClientResponse.of(answer.status_code, answer.headers, answer.body)

    return send


def through_lambda_event(app: Chalice) -> Send:
    """By an event like those of API Gateway's proxy integration, with the stage `/api`."""

    def send(method: str, target: str, headers: Mapping[str, str], body: bytes) -> ClientResponse:
        answer = app(lambda_event(app, method, target, headers, body), None)
        merged = {**answer["headers"], **answer["multiValueHeaders"]}
        body = answer["body"]
        content = b64decode(body) if answer.get("isBase64Encoded") else body.encode()
        return ClientResponse.of(answer["statusCode"], merged, content)

    return send


def through_socket(url: str) -> Send:
    """Over HTTP, one connection per request."""
    parts = urlsplit(url)

    def send(method: str, target: str, headers: Mapping[str, str], body: bytes) -> ClientResponse:
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        try:
            connection.request(method, target, body=body or None, headers=dict(headers))
            answer = connection.getresponse()
            sent_headers: dict[str, list[str]] = {}
            for name, value in answer.getheaders():
                sent_headers.setdefault(name, []).append(value)
            return ClientResponse.of(answer.status, sent_headers, answer.read())
        finally:
            connection.close()

    return send


def lambda_event(
    app: Chalice, method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> dict[str, object]:
    """The proxy event for a request. Its resource is the first matching pattern, literals before variables."""
    path, _, query = target.partition("?")
    resource, values = _resource(app, path, method)
    parameters: dict[str, list[str]] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        parameters.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "headers": dict(headers or {}),
        "multiValueHeaders": {name: [value] for name, value in (headers or {}).items()},
        "queryStringParameters": {name: found[-1] for name, found in parameters.items()} or None,
        "multiValueQueryStringParameters": parameters or None,
        "pathParameters": values or None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": resource,
            "httpMethod": method,
            "path": f"/api{path}",
            "stage": "api",
            "requestId": "r-1",
            "identity": {"sourceIp": "127.0.0.1"},
        },
        "body": body.decode() if body else None,
        "isBase64Encoded": False,
    }


def _resource(app: Chalice, path: str, method: str) -> tuple[str, dict[str, str]]:
    parts = path.removesuffix("/").split("/")
    for pattern in sorted(app.routes, key=lambda pattern: [part.startswith("{") for part in pattern.split("/")]):
        expected = pattern.split("/")
        if "{proxy+}" in pattern or len(expected) != len(parts) or pattern == "/":
            continue
        pairs = list(zip(expected, parts, strict=True))
        if all(segment == part or (segment.startswith("{") and part) for segment, part in pairs):
            # Methods that a path does not have reach the function only through the gateway's fallback.
            if method not in app.routes[pattern]:
                break
            return pattern, {segment[1:-1]: part for segment, part in pairs if segment.startswith("{")}
    return "/{proxy+}", {"proxy": path[1:]}


def _lower(headers: Mapping[str, object]) -> dict[str, str | tuple[str, ...]]:
    found: dict[str, str | tuple[str, ...]] = {}
    for name, value in headers.items():
        several = tuple(str(part) for part in value) if isinstance(value, list) else (str(value),)
        found[name.lower()] = several if len(several) > 1 else several[0]
    return found


def time_at(year: int = 2026, **more: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC) + timedelta(**more)
