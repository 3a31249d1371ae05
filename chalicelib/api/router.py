"""Routes as typed functions, and their way onto Chalice. No other file of this room knows Chalice.

    routes = Router(tag="Sources")

    @routes.post("/sources", needs=Permission.WRITE, status=201)
    def create_source(call: Call, body: SourceInput) -> SourceOutput:
        \"\"\"Register a database for capture.\"\"\"

The signature declares everything: `call`, `body`, `query`, an `HttpRequest`, and the variables of the path by their
names; the return annotation is the model of the answer, None (204), `Page[Model]`, `list[Model]`, `Reply` or
`Answer[Model]`. `needs` has no default: a route without a permission does not exist.
"""

import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from chalice.app import Chalice, Request, Response

from chalicelib.api import errors as http_errors
from chalicelib.api.boundary import Boundary, Exchange
from chalicelib.api.http import FALLBACK, HttpRequest, HttpResponse
from chalicelib.api.route import Route, read_signature
from chalicelib.domain.access import Permission
from chalicelib.errors import HeadgateError, Malformed, MethodNotAllowed, NotFound, UnsupportedMedia

Handler = TypeVar("Handler", bound=Callable[..., Any])
Refusing = Callable[[HttpRequest], HttpResponse]
ROOT = "/"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_exchange: ContextVar[Exchange] = ContextVar("exchange")
"""The exchange of this thread: chalice keeps its current request on the app, where concurrent requests share it."""


class Router:
    """Routes of one route module. `tag` groups them in the documentation."""

    def __init__(self, *, tag: str) -> None:
        self.tag = tag
        self.routes: list[Route] = []

    def get(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        """Declares a GET. `options` are those of `route`."""
        return self.route("GET", path, needs=needs, **options)

    def post(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        """Declares a POST."""
        return self.route("POST", path, needs=needs, **options)

    def put(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        """Declares a PUT."""
        return self.route("PUT", path, needs=needs, **options)

    def patch(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        """Declares a PATCH."""
        return self.route("PATCH", path, needs=needs, **options)

    def delete(self, path: str, *, needs: Permission, **options: Any) -> Callable[[Handler], Handler]:
        """Declares a DELETE."""
        return self.route("DELETE", path, needs=needs, **options)

    def route(
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
    ) -> Callable[[Handler], Handler]:
        """Declares a route.

        `status` is that of success (201 adds `Location`: the path and the new id, or `location` with `{id}` filled in),
        `also` are further statuses that an `Answer` may choose, `hidden` keeps the route out of the OpenAPI document,
        `any_query` lets unknown query parameters pass. Raises `TypeError` for a signature that cannot be served.
        """

        def declare(handler: Handler) -> Handler:
            facts = read_signature(handler, path)
            self.routes.append(
                Route(
                    method=method,
                    path=path,
                    tag=self.tag,
                    needs=needs,
                    handler=handler,
                    status=204 if facts["answers"].kind == "none" and status == 200 else status,
                    also=tuple(also),
                    location=location,
                    hidden=hidden,
                    any_query=any_query,
                    **facts,
                )
            )
            return handler

        return declare

    def mount(self, app: Chalice, prefix: str, boundary: Boundary) -> list[tuple[str, Route]]:
        """Registers every route with Chalice under the prefix; returns them with their whole paths."""
        mounted = [(prefix + route.path, route) for route in self.routes]
        for path, route in mounted:
            register = app.route(path, methods=[route.method], name=route.name, content_types=["*/*"])
            register(_view(route, boundary))
        return mounted


def close(app: Chalice, boundary: Boundary, near: Callable[[str], tuple[str, ...]]) -> None:
    """Finishes the app: the fallback for unknown paths, the middleware around everything.

    `near` gives the patterns of all routes that might fit a path: of one that does, only the method was wrong.
    """

    def no_route(request: HttpRequest) -> HttpResponse:
        return _no_route(app, near, request)

    def unknown(**_: str) -> Response:
        exchange = _exchange.get()
        return _to_chalice(boundary.safely(lambda: no_route(exchange.request), exchange))

    methods = [*METHODS, "HEAD", "OPTIONS"]
    app.route(ROOT, methods=methods, name="root", content_types=["*/*"])(unknown)
    app.route(FALLBACK, methods=methods, name="unknown", content_types=["*/*"])(unknown)
    app.register_middleware(_edge(boundary, no_route), "http")
    _teach_local_gateway()


def _no_route(app: Chalice, near: Callable[[str], tuple[str, ...]], request: HttpRequest) -> HttpResponse:
    from chalicelib.api.paths import trie_of

    match = trie_of(near(request.path)).match(request.path)
    if match is not None and match.pattern not in (ROOT, FALLBACK):
        raise MethodNotAllowed("This address does not take that method.", allowed=tuple(app.routes[match.pattern]))
    raise NotFound("There is nothing at this address.")


def _view(route: Route, boundary: Boundary) -> Callable[..., Response]:
    def view(**_: str) -> Response:
        return _to_chalice(boundary.answer(route, _exchange.get()))

    return view


def _edge(boundary: Boundary, no_route: Refusing) -> Callable[[Any, Callable[[Any], Any]], Any]:
    def edge(incoming: Request | None, get_response: Callable[[Any], Any]) -> Response:
        exchange = boundary.begin(_from_chalice(incoming))
        token = _exchange.set(exchange)
        try:
            response = boundary.safely(lambda: _of_ours(get_response(incoming), exchange.request, no_route), exchange)
        finally:
            _exchange.reset(token)
        return _to_chalice(boundary.end(exchange, response))

    return edge


def _from_chalice(incoming: Request | None) -> HttpRequest:
    if incoming is None:
        return HttpRequest(method="GET", route="", path="")
    event = incoming.to_original_event()
    full = str(incoming.context.get("path") or "/")
    path = str(event.get("path") or full)
    return HttpRequest(
        method=incoming.method,
        route=incoming.path,
        path=path,
        # API Gateway puts the stage, or a domain's mapping, in front of the path that the request context shows.
        base=full.removesuffix(path) if full.endswith(path) and path != "/" else "",
        path_values=incoming.uri_params or {},
        query={}
        if incoming.query_params is None
        else {n: incoming.query_params.getlist(n) for n in incoming.query_params},
        headers=_headers(event),
        body=_body(incoming),
        source_address=str(incoming.context.get("identity", {}).get("sourceIp") or ""),
    )


def _headers(event: dict[str, Any]) -> dict[str, str]:
    """Header values by lower-case name. Of a header sent twice the last one counts; cookies are put together."""
    headers = {name.lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    for name, values in (event.get("multiValueHeaders") or {}).items():
        if name.lower() == "cookie":
            headers["cookie"] = "; ".join(values)
    return headers


def _body(incoming: Request) -> bytes | None:
    try:
        return bytes(incoming.raw_body)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return None


def _to_chalice(response: HttpResponse) -> Response:
    headers = {name: list(value) if isinstance(value, tuple) else value for name, value in response.headers.items()}
    return Response(body=response.body, status_code=response.status, headers=headers)


def _of_ours(response: Response, request: HttpRequest, no_route: Refusing) -> HttpResponse:
    """A response of our views as it is; one of Chalice's own (its body is a dict) as our envelope."""
    if isinstance(response.body, str):
        headers = {name: tuple(value) if isinstance(value, list) else value for name, value in response.headers.items()}
        return HttpResponse(status=response.status_code, body=response.body, headers=headers)
    if response.status_code == 405:
        return no_route(request)  # what Chalice says is allowed may be what our fallback takes
    raise _chalice_error(response)


def _chalice_error(response: Response) -> HeadgateError:
    match response.status_code:
        case 400:
            return Malformed("The request cannot be read.")
        case 415:
            return UnsupportedMedia("Send the body as application/json.")
        case _:
            return http_errors.internal()


def _teach_local_gateway() -> None:
    """Gives `chalice local` and chalice's test client our matcher.

    Neither can be told from outside which one to use: both make a `LocalGateway`, which looks this class up by name.
    The module is there only when the chalice command or a test has loaded it, never in a function's package, so it is
    not imported here. Because every path then finds a route, the gateway's own 403 for unknown paths, whose text
    repeats the `Authorization` header, is never reached.
    """
    if (local := sys.modules.get("chalice.local")) is not None:
        from chalicelib.api.paths import EventMaker

        local.LambdaEventConverter = EventMaker  # type: ignore[attr-defined]
