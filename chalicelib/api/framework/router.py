"""Routes as typed functions, and how they are registered with Chalice. No other file of this package knows Chalice.

    routes = Router(tag="Sources")

    @routes.post("/sources", needs=Permission.WRITE, status=201)
    def create_source(context: RequestContext, body: SourceBody) -> SourceOutput:
        \"\"\"Register a database for capture.\"\"\"

The signature declares the parameters: a `RequestContext`, an `HttpRequest`, `body`, `query`, and the variables of the
path by their names. The return annotation is the model of the response, None (204), `Page[Model]`, `list[Model]`,
`TextResponse`, `JsonResponse[Model]` or `WithList[Model]`. `needs` has no default:
there is no route without a permission.
"""

import json
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from chalice.app import Chalice, Request, Response

from chalicelib import __version__
from chalicelib.api.framework import errors as http_errors
from chalicelib.api.framework import inputs
from chalicelib.api.framework.boundary import Boundary
from chalicelib.api.framework.http import FALLBACK, JSON, HttpRequest, HttpResponse
from chalicelib.api.framework.paths import EventMaker, trie_of
from chalicelib.api.framework.route import Route, read_signature
from chalicelib.api.framework.unknown_paths import nothing_here
from chalicelib.domain.access import Permission
from chalicelib.domain.console_links import CONSOLE
from chalicelib.errors import HeadgateError, Malformed, MethodNotAllowed, UnsupportedMedia
from chalicelib.kit.ids import correlation_id
from chalicelib.kit.log import invocation, log_context

Handler = TypeVar("Handler", bound=Callable[..., Any])
Respond = Callable[[HttpRequest], HttpResponse]
ROOT = "/"
DOCS = "/docs"
OPENAPI = "/openapi.json"
NAME = "Headgate"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_request: ContextVar[HttpRequest] = ContextVar("request")
"""The request of this thread: chalice keeps its current request on the app, where concurrent requests share it."""


class Router:
    """The routes of one route module. `tag` groups them in the documentation."""

    def __init__(self, *, tag: str) -> None:
        self.tag = tag
        self.routes: list[Route] = []

    def get(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        """Declares a GET. `options` are those of `route`."""
        return self.route("GET", path, needs=needs, **options)

    def post(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        return self.route("POST", path, needs=needs, **options)

    def put(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        return self.route("PUT", path, needs=needs, **options)

    def patch(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        return self.route("PATCH", path, needs=needs, **options)

    def delete(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        return self.route("DELETE", path, needs=needs, **options)

    def route(  # noqa: PLR0913 - the options of a route
        self,
        method: str,
        path: str,
        *,
        needs: Permission,
        status: int = 200,
        also: Iterable[int] = (),
        location: str | None = None,
        hidden: bool = False,
        any_query: bool = False,
        shows_secret: bool = False,
        before_second_factor: bool = False,
        has_dry_run: bool = False,
        tag: str | None = None,
    ) -> Callable[[Handler], Handler]:
        """Declares a route.

        `status` is that of success (201 adds `Location`: the path and the new id, or `location` with `{id}` filled in),
        `also` are further statuses that a `JsonResponse` may have, `hidden` keeps the route out of the OpenAPI
        document, `any_query` allows unknown query parameters, `shows_secret` gives the answer to a repeated request
        in the same session only, `before_second_factor` serves sessions that have to set one up first, `has_dry_run`
        takes `?dry_run=true`, which is answered without the handler's result (`dry_run.py`), `tag` is its group in the
        documentation where it is not that of the others. Raises `TypeError` for a signature that cannot
        be served.
        """

        def declare(handler: Handler) -> Handler:
            declared = read_signature(handler, path)
            self.routes.append(
                Route(
                    method=method,
                    path=path,
                    tag=tag or self.tag,
                    needs=needs,
                    handler=handler,
                    status=204 if declared["response"].kind == "none" and status == 200 else status,
                    also=tuple(also),
                    location=location,
                    hidden=hidden,
                    any_query=any_query,
                    shows_secret=shows_secret,
                    before_second_factor=before_second_factor,
                    has_dry_run=has_dry_run,
                    **declared,
                )
            )
            return handler

        return declare

    def mount(self, app: Chalice, prefix: str, boundary: Boundary) -> list[tuple[str, Route]]:
        """Registers every route with Chalice under the prefix; returns the routes with their full paths."""
        mounted = [(prefix + route.path, route) for route in self.routes]
        for path, route in mounted:
            # Every type: the boundary refuses a wrong one in our envelope, after the caller was authorized.
            register = app.route(path, methods=[route.method], name=route.name, content_types=["*/*"])
            register(_view(route, boundary))
        return mounted


def finish_app(
    app: Chalice,
    boundary: Boundary,
    candidates: Callable[[str], tuple[str, ...]],
    nearest: Callable[[str], str | None] = lambda _path: None,
) -> None:
    """Registers the fallback for unknown paths and the middleware around every request.

    `GET /` leads a browser to the console, and says to all others where the documentation is.
    `candidates` returns the patterns that may match a path: when one does, only the method was wrong. `nearest` returns
    the pattern that an unknown path was probably meant for.
    """

    def refuse(request: HttpRequest) -> HttpResponse:
        if request.path == ROOT and request.method == "GET":
            return _root(request)
        match = trie_of(candidates(request.path)).match(request.path)
        if match is not None and match.pattern not in (ROOT, FALLBACK):
            methods = sorted(app.routes[match.pattern])
            raise MethodNotAllowed(f"This address takes {', '.join(methods)} only.", allowed=methods)
        raise nothing_here(nearest(request.path))

    def unknown(**_: str) -> Response:
        request = _request.get()
        return _Answer(boundary.safely(lambda: refuse(request), request))

    methods = [*METHODS, "HEAD", "OPTIONS"]
    app.route(ROOT, methods=methods, name="root", content_types=["*/*"])(unknown)
    app.route(FALLBACK, methods=methods, name="unknown", content_types=["*/*"])(unknown)
    app.register_middleware(_middleware(boundary, refuse), "http")
    _replace_local_matcher()


def _root(request: HttpRequest) -> HttpResponse:
    if "text/html" in request.headers.get("accept", ""):
        # Relative where no prefix is known: a proxy may have removed one.
        location = request.base + CONSOLE if request.base else f".{CONSOLE}"
        # own-rule redirect: to a path of our own
        return HttpResponse(status=302, headers={"Location": location})
    about = {"name": NAME, "version": __version__, "docs": request.base + DOCS, "openapi": request.base + OPENAPI}
    return HttpResponse(status=200, body=json.dumps(about), headers={"Content-Type": JSON})


def _view(route: Route, boundary: Boundary) -> Callable[..., Response]:
    def view(**_: str) -> Response:
        return _Answer(boundary.respond(route, _request.get()))

    return view


def _middleware(boundary: Boundary, refuse: Respond) -> Callable[[Any, Callable[[Any], Any]], Any]:
    def middleware(incoming: Request | None, get_response: Callable[[Any], Any]) -> Response:
        request = _from_chalice(incoming)
        fields = invocation(getattr(incoming, "lambda_context", None))
        with log_context(**fields, correlation_id=request.correlation_id):
            token = _request.set(request)
            try:
                response = boundary.safely(
                    lambda: _from_chalice_response(get_response(incoming), request, refuse), request
                )
            finally:
                _request.reset(token)
            return _Answer(boundary.finish(request, response))

    return middleware


def _from_chalice(incoming: Request | None) -> HttpRequest:
    received_at = time.monotonic()
    if incoming is None:
        return HttpRequest(
            method="GET", route="", path="", correlation_id=correlation_id(None), received_at=received_at
        )
    event = incoming.to_original_event()
    full = str(incoming.context.get("path") or "/")
    path = str(event.get("path") or full)
    query, headers = incoming.query_params, _headers(event)
    return HttpRequest(
        method=incoming.method,
        route=incoming.path,
        path=path,
        base=_base(full, path),
        has_slash=path.endswith("/"),
        path_values=incoming.uri_params or {},
        query={name: query.getlist(name) for name in query} if query is not None else {},
        headers=headers,
        body=_body(incoming),
        source_address=str(incoming.context.get("identity", {}).get("sourceIp") or ""),
        correlation_id=correlation_id(headers.get("x-correlation-id")),
        received_at=received_at,
    )


def _base(full: str, path: str) -> str:
    """API Gateway puts the stage, or the mapping of a domain, before the path that the request context shows."""
    if path == ROOT:
        return full.rstrip("/")
    return full.removesuffix(path) if full.endswith(path) else ""


def _headers(event: dict[str, Any]) -> dict[str, str]:
    """Header values by lower-case name. The last value of a repeated header counts; cookies are joined."""
    # HTTP/2 lets a client split its cookies into several headers (RFC 9113, section 8.2.3).
    headers = {name.lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    for name, values in (event.get("multiValueHeaders") or {}).items():
        if name.lower() == "cookie":
            headers["cookie"] = "; ".join(values)
    return headers


def _body(incoming: Request) -> bytes | None:
    # Chalice decodes base64 and encodes text when the body is read: both may fail for what a client has sent.
    try:
        return bytes(incoming.raw_body)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return None


class _Answer(Response):
    """One of our responses on its way through Chalice."""

    def __init__(self, ours: HttpResponse) -> None:
        headers = {name: list(value) if isinstance(value, tuple) else value for name, value in ours.headers.items()}
        super().__init__(body=ours.body, status_code=ours.status, headers=headers)
        self.ours = ours

    def to_dict(self, binary_types: list[str] | None = None) -> dict[str, Any]:
        """What the function answers. Chalice would decide by the type of content what is binary."""
        answer = super().to_dict(None)
        if self.ours.compressed is not None:
            answer |= {"body": b64encode(self.ours.compressed).decode(), "isBase64Encoded": True}
        return answer


def _from_chalice_response(response: Response, request: HttpRequest, refuse: Respond) -> HttpResponse:
    """The response of one of our views. Raises for Chalice's own responses."""
    if isinstance(response, _Answer):
        return response.ours
    if response.status_code == 405:
        # The methods that Chalice lists include those of our fallback.
        return refuse(request)
    raise _chalice_error(response)


def _chalice_error(response: Response) -> HeadgateError:
    match response.status_code:
        case 400:
            return Malformed("The request cannot be read.")
        case 415:
            return UnsupportedMedia(inputs.NOT_JSON)
        case _:
            return http_errors.internal()


def _replace_local_matcher() -> None:
    """Gives `chalice local` and chalice's test client our path matcher.

    Both create a `LocalGateway`, which has no parameter for a matcher and looks its class up by name. The module is
    loaded only by the chalice command or a test, never in a deployed function, so it is not imported here. Because
    every path then has a route, the gateway's own 403 for unknown paths, whose text repeats the `Authorization` header,
    is never sent.
    """
    if (local := sys.modules.get("chalice.local")) is not None:
        local.LambdaEventConverter = EventMaker  # type: ignore[attr-defined]
