"""What every request passes, in this order, and what every response carries.

correlation id, size, who (authentication), may they (permission), path, conditional headers, query, content type, JSON,
forbidden text, model, `Idempotency-Key`, handler with a deadline of 20 s, rendering. Nothing that a caller sent is used
before it is known that they may ask, and nothing runs before everything was read.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from chalicelib.api import errors as http_errors
from chalicelib.api import inputs
from chalicelib.api.http import JSON, HttpRequest, HttpResponse
from chalicelib.api.rendering import render, with_security_headers
from chalicelib.api.route import Route
from chalicelib.domain.access import Actor, Permission, RequestContext, may
from chalicelib.errors import HeadgateError, NotPermitted
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import correlation_id
from chalicelib.kit.log import failure, get_logger

if TYPE_CHECKING:
    from chalicelib.domain.idempotency import IdempotencyRows
    from chalicelib.kit.pages import Signer

CORRELATION_HEADER = "X-Correlation-ID"
ANONYMOUS = Actor(id=None, email=None, role=None, via="anonymous")
SERVICE = Actor(id=None, email=None, role=None, via="service")


class Authenticator(Protocol):
    """Knows who asks. `headers` have lower-case names."""

    def authenticate(self, headers: Mapping[str, str], source_address: str, method: str) -> Actor:
        """The person or token behind the request, with a role.

        Raises `Unauthenticated`, or `NotPermitted` with code `CSRF_REJECTED`.
        """
        ...

    def authenticate_service(self, headers: Mapping[str, str]) -> None:
        """Returns when the request carries the service credential. Raises `NotPermitted` otherwise."""
        ...


class Denials(Protocol):
    """Remembers that somebody was told no."""

    def __call__(self, context: RequestContext, route: Route) -> None:
        """Audits the denial of the route to the call's actor."""
        ...


class BoundaryDependencies(NamedTuple):
    """What the boundary works with. What only some requests need is asked for when one does."""

    authenticator: Authenticator
    idempotency: "Callable[[], IdempotencyRows]"
    signer: "Callable[[], Signer]"
    denials: Denials
    clock: Clock


class Exchange(NamedTuple):
    """One request on its way through: what came, what it is called in logs, when it came."""

    request: HttpRequest
    correlation_id: str
    started: float


class Boundary:
    """Stands between HTTP and the handlers. `deps` is asked when a request first needs them: import is cheap."""

    def __init__(self, deps: Callable[[], BoundaryDependencies]) -> None:
        self._deps = deps

    def begin(self, request: HttpRequest) -> Exchange:
        """Names the request."""
        named = correlation_id(request.headers.get("x-correlation-id"))
        return Exchange(request=request, correlation_id=named, started=time.monotonic())

    def answer(self, route: Route, exchange: Exchange) -> HttpResponse:
        """The route's response. Never raises: whatever goes wrong is a response too."""
        return self.safely(lambda: self._answer(route, exchange), exchange)

    def safely(self, run: Callable[[], HttpResponse], exchange: Exchange) -> HttpResponse:
        """What `run` returns, or the envelope of what it raises (the unforeseen is logged without values)."""
        try:
            return run()
        except HeadgateError as error:
            if error.__cause__ is not None and http_errors.status_of(error) >= 500:
                get_logger().warning("refused", extra=_told(exchange, error))
            return http_errors.render(error)
        except Exception as error:  # noqa: BLE001 - the last line of defence
            get_logger().error("unexpected failure", extra=_told(exchange, error))
            return http_errors.render(http_errors.internal())

    def end(self, exchange: Exchange, response: HttpResponse) -> HttpResponse:
        """The response as it leaves, and one line in the log."""
        headers = {**response.headers, CORRELATION_HEADER: exchange.correlation_id}
        # RFC 9110, section 9.3.2: no answer to HEAD has content.
        body = "" if exchange.request.method == "HEAD" else response.body
        _log(exchange, response)
        return with_security_headers(response._replace(headers=headers, body=body))

    def _answer(self, route: Route, exchange: Exchange) -> HttpResponse:
        request = exchange.request
        inputs.within_size(request)
        context = RequestContext(actor=self._actor(route, request), correlation_id=exchange.correlation_id)
        self._permit(route, context)
        values = inputs.path_values(route, request)
        request = inputs.with_route_path(request, values)
        if request.method in ("PUT", "PATCH", "DELETE"):
            context = replace(context, if_match=inputs.if_match(request))
        key = inputs.idempotency_key(request)
        arguments = values | self._query(route, request)
        if route.request:
            arguments[route.request] = request
        if request.method == "GET":
            return self._run(route, request, arguments, context)
        inputs.json_type(request)
        body = inputs.body_model(route, request)
        if route.body is not None:
            arguments["body"] = body.model
        run = partial(self._run, route, request, arguments)
        return run(context) if key is None else self._once(context, request, key, body.canonical, run)

    def _actor(self, route: Route, request: HttpRequest) -> Actor:
        if route.needs is Permission.PUBLIC:
            return ANONYMOUS
        authenticator = self._deps().authenticator
        if route.needs is Permission.SERVICE:
            authenticator.authenticate_service(request.headers)
            return SERVICE
        return authenticator.authenticate(request.headers, request.source_address, request.method)

    def _permit(self, route: Route, context: RequestContext) -> None:
        if route.needs in (Permission.PUBLIC, Permission.SERVICE):
            return
        if context.actor.role is not None and may(context.actor.role, route.needs):
            return
        try:
            self._deps().denials(context, route)
        except Exception as error:  # noqa: BLE001
            # The answer is no, whether or not it could be written down.
            get_logger().error("denial not audited", extra={"failure": failure(error)})
        raise NotPermitted(f"This needs the permission {route.needs}.")

    def _query(self, route: Route, request: HttpRequest) -> dict[str, Any]:
        query = inputs.query_model(route, request)
        if query is None:
            return {}
        if getattr(query, "cursor", None) is not None:
            deps = self._deps()
            query = inputs.place_cursor(query, request, deps.signer(), deps.clock())
        return {"query": query}

    def _once(
        self,
        context: RequestContext,
        request: HttpRequest,
        key: str,
        canonical: bytes,
        run: Callable[[RequestContext], HttpResponse],
    ) -> HttpResponse:
        from chalicelib.api.idempotency import Once

        deps = self._deps()
        once = Once(rows=deps.idempotency(), signer=deps.signer(), clock=deps.clock)
        return once.run(context, request, key, canonical, run)

    def _run(
        self, route: Route, request: HttpRequest, arguments: Mapping[str, Any], context: RequestContext
    ) -> HttpResponse:
        given = {**arguments, route.context: context} if route.context else arguments
        return render(route, request, route.handler(**given), lambda key: self._sign(request, key))

    def _sign(self, request: HttpRequest, key: str) -> str:
        deps = self._deps()
        return deps.signer().sign(inputs.list_scope(request), key, deps.clock())


def _told(exchange: Exchange, error: Exception) -> dict[str, Any]:
    return {"correlation_id": exchange.correlation_id, "failure": failure(error)}


def _log(exchange: Exchange, response: HttpResponse) -> None:
    facts: dict[str, Any] = {
        "correlation_id": exchange.correlation_id,
        "method": exchange.request.method,
        "path": exchange.request.route,
        "status": response.status,
        "duration_ms": round((time.monotonic() - exchange.started) * 1000, 1),
    }
    if response.status >= 400 and response.headers.get("Content-Type") == JSON:
        facts["code"] = json.loads(response.body).get("error", {}).get("code")
    get_logger().info("request", extra=facts)
