"""What happens to every request and response, whatever its route.

The order: correlation id, size, authentication, permission, path, conditional headers, query, content type, JSON,
forbidden text, model, `Idempotency-Key`, handler with a deadline of 20 s, rendering. Path, query and body are not read
before the caller is authorized, and no handler runs before all of the request was validated.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Protocol

from chalicelib.api.framework import errors as http_errors
from chalicelib.api.framework import inputs
from chalicelib.api.framework.compression import compressed
from chalicelib.api.framework.console import manifest
from chalicelib.api.framework.http import JSON, HttpRequest, HttpResponse, over_https
from chalicelib.api.framework.idempotency import IdempotentRequests
from chalicelib.api.framework.rendering import UNREADABLE, render, with_security_headers
from chalicelib.api.framework.resources import resource_in_answer, resource_in_path
from chalicelib.api.framework.route import Route
from chalicelib.api.framework.sent_credentials import bearer_token, sent_cookie
from chalicelib.domain.access import Actor, Permission, RequestContext, lacks
from chalicelib.domain.idempotency import IdempotencyStore
from chalicelib.errors import HeadgateError, NotPermitted, Unauthenticated
from chalicelib.kit.clock import Clock
from chalicelib.kit.log import add_to_log, failure, get_logger
from chalicelib.kit.pages import Signer
from chalicelib.kit.unreadable import Unreadable, unreadable_rows

CORRELATION_HEADER = "X-Correlation-ID"
BUILD_HEADER = "X-Headgate-Build"
MAX_UNREADABLE = 20
"""Rows that the header names: API Gateway takes 10 KB of headers."""

ANONYMOUS = Actor(id=None, email=None, role=None, via="anonymous")
_SET_UP_FIRST = (
    "This installation requires a second factor, and your account has none. Set it up first: POST /api/v1/auth/totp "
    "gives the secret for an authenticator app, POST /api/v1/auth/totp/confirm takes its first code."
)
SERVICE = Actor(id=None, email=None, role=None, via="service")


class Authenticator(Protocol):
    """Identifies the caller. `headers` have lower-case names."""

    def authenticate(self, headers: Mapping[str, str], method: str) -> Actor:
        """The person or token behind the request, with a role. Raises Unauthenticated, NotPermitted CSRF_REJECTED."""
        ...

    def authenticate_service(self, headers: Mapping[str, str]) -> str | None:
        """The Connect cluster whose service credential the request carries; None when it is of all clusters.

        Raises NotPermitted when it carries none.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryDependencies:
    """What the boundary works with. `idempotency` and `signer` are built by the first request that needs them: the
    signer reads a row. `record_denial` audits that the caller was refused the route, and why. `note_unreadable` stores
    that rows could not be read.
    """

    authenticator: Authenticator
    idempotency: Callable[[], IdempotencyStore]
    signer: Callable[[], Signer]
    record_denial: Callable[[RequestContext, Route, HttpRequest, HeadgateError], None]
    note_unreadable: Callable[[Iterable[Unreadable]], None]
    clock: Clock


class Boundary:
    """Turns requests into responses by calling handlers. `dependencies` is called by the first that needs it."""

    def __init__(self, dependencies: Callable[[], BoundaryDependencies]) -> None:
        self._dependencies = dependencies

    def respond(self, route: Route, request: HttpRequest) -> HttpResponse:
        with unreadable_rows() as rows:
            response = self.safely(lambda: self._respond(route, request), request)
        if route.shows_secret or route.needs is Permission.SERVICE:
            response = replace(response, has_secret=True)
        # Strangers must not learn, by a header or by the time that a note takes, which accounts exist.
        if not rows or route.needs is Permission.PUBLIC:
            return response
        self._dependencies().note_unreadable(rows)
        if response.status >= 400:
            return response
        # A header, because the models of clients know no entry that has only an id.
        named = ", ".join(f"{row.kind}/{row.id}" for row in islice(rows, MAX_UNREADABLE))
        return replace(response, headers={**response.headers, UNREADABLE: named})

    def safely(self, run: Callable[[], HttpResponse], request: HttpRequest) -> HttpResponse:
        """What `run` returns, or the error response for what it raises. Unexpected errors are logged without values."""
        try:
            return run()
        except HeadgateError as error:
            # What we refuse needs no line of its own, unless something that has failed elsewhere stands behind it.
            if error.__cause__ is not None and http_errors.status_of(error) >= 500:
                get_logger().warning("refused", extra=_failure_fields(request, error))
            return http_errors.render(error)
        except Exception as error:  # noqa: BLE001 - the last line of defence
            get_logger().error("unexpected failure", extra=_failure_fields(request, error))
            return http_errors.render(http_errors.internal())

    def finish(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """The response with the headers that all of them have. Logs one line."""
        headers = {**response.headers, CORRELATION_HEADER: request.correlation_id}
        # RFC 9110, section 9.3.2: no answer to HEAD has content.
        body = "" if request.method == "HEAD" else response.body
        _log(request, response)
        finished = replace(response, headers=headers, body=body)
        return compressed(request, with_security_headers(finished, https=over_https(request.headers)))

    def _respond(self, route: Route, request: HttpRequest) -> HttpResponse:
        inputs.check_size(request)
        context = self._admitted(route, request)
        response = self.safely(lambda: self._served(route, request, context), request)
        if context.actor.via != "session":
            return response
        # By it a page that was loaded before a release learns that there is another one.
        return replace(response, headers={**response.headers, BUILD_HEADER: manifest().build})

    def _served(self, route: Route, request: HttpRequest, context: RequestContext) -> HttpResponse:
        path_values = inputs.path_values(route, request)
        add_to_log(**resource_in_path(route.path, path_values))
        # One spelling: a cursor or an Idempotency-Key is valid however the path is written.
        request = inputs.with_canonical_path(request, path_values)
        if request.method in ("PUT", "PATCH", "DELETE"):
            context = replace(context, if_match=inputs.if_match(request))
        # Strangers would share the keys of public routes: one could keep the request of another from being carried out.
        key = None if route.needs is Permission.PUBLIC else inputs.idempotency_key(request)
        arguments = path_values | self._query(route, request)
        is_dry_run = inputs.wants_dry_run(route, request)
        if route.request_parameter:
            arguments[route.request_parameter] = request
        # What a client sends as the body of a GET is not read.
        if request.method == "GET":
            return self._run(route, request, arguments, context)
        inputs.check_content_type(request)
        body = inputs.body_model(route, request)
        if route.body is not None:
            arguments["body"] = body.model
        if is_dry_run:
            return self._plan(route, request, arguments, context)
        run = partial(self._run, route, request, arguments)
        if key is None:
            return run(context)
        dependencies = self._dependencies()
        requests = IdempotentRequests(
            store=dependencies.idempotency(), signer=dependencies.signer(), clock=dependencies.clock
        )
        return requests.run(context, request, key, body.canonical, run, principal=_principal(route, context.actor))

    def _admitted(self, route: Route, request: HttpRequest) -> RequestContext:
        """The context of a caller who may use the route. Raises Unauthenticated, NotPermitted; both are audited."""
        address = request.source_address
        context = RequestContext(
            actor=ANONYMOUS,
            correlation_id=request.correlation_id,
            source_address=address,
            user_agent=request.headers.get("user-agent", ""),
        )
        try:
            context = replace(context, actor=self._actor(route, request))
            add_to_log(user_id=context.actor.id)
            _check_permission(route, context.actor)
        except (Unauthenticated, NotPermitted) as refused:
            self._record_denial(context, route, request, refused)
            raise
        return context

    def _actor(self, route: Route, request: HttpRequest) -> Actor:
        if route.needs is Permission.PUBLIC:
            return ANONYMOUS
        authenticator = self._dependencies().authenticator
        if route.needs is Permission.SERVICE:
            return replace(SERVICE, credential_id=authenticator.authenticate_service(request.headers))
        return authenticator.authenticate(request.headers, request.method)

    def _record_denial(
        self, context: RequestContext, route: Route, request: HttpRequest, refused: HeadgateError
    ) -> None:
        """Audit it, unless nothing was tried: a request without any credential is not worth a record."""
        is_known = isinstance(refused, NotPermitted) and refused.actor is not None
        if not is_known and context.actor.id is None and not _has_credential(request.headers):
            return
        if isinstance(refused, NotPermitted) and refused.actor:
            context = replace(context, actor=refused.actor)
            add_to_log(user_id=refused.actor.id)
        try:
            self._dependencies().record_denial(context, route, request, refused)
        except Exception as error:  # noqa: BLE001
            # The request is refused, whether or not that could be audited.
            get_logger().error("denial not audited", extra={"failure": failure(error)})

    def _query(self, route: Route, request: HttpRequest) -> dict[str, Any]:
        query = inputs.query_model(route, request)
        if query is None:
            return {}
        if cursor := getattr(query, "cursor", None):
            dependencies = self._dependencies()
            key = inputs.cursor_key(cursor, request, dependencies.signer(), dependencies.clock())
            query = query.model_copy(update={"cursor": key})
        return {"query": query}

    def _plan(
        self, route: Route, request: HttpRequest, arguments: Mapping[str, Any], context: RequestContext
    ) -> HttpResponse:
        """What the call would do. A refusal is audited as that of the call itself is."""
        # The models of a plan take milliseconds to make: those who ask for none do not wait for them.
        from chalicelib.api.framework.plans import plan_response

        try:
            return plan_response(route, _with_context(route, arguments, context))
        except NotPermitted as refused:
            self._record_denial(context, route, request, refused)
            raise

    def _run(
        self, route: Route, request: HttpRequest, arguments: Mapping[str, Any], context: RequestContext
    ) -> HttpResponse:
        arguments = _with_context(route, arguments, context)

        def sign(key: str, list_path: str = "") -> str:
            dependencies = self._dependencies()
            return dependencies.signer().sign(inputs.list_scope(request, list_path), key, dependencies.clock())

        try:
            result = route.handler(**arguments)
        except NotPermitted as refused:
            # Some permissions depend on the resource, so that only the handler can judge them.
            self._record_denial(context, route, request, refused)
            raise
        add_to_log(**resource_in_answer(route.path, arguments, result))
        return render(route, request, result, sign)


def _with_context(route: Route, arguments: Mapping[str, Any], context: RequestContext) -> Mapping[str, Any]:
    return {**arguments, route.context_parameter: context} if route.context_parameter else arguments


def _has_credential(headers: Mapping[str, str]) -> bool:
    return bearer_token(headers) is not None or sent_cookie(headers) is not None


def _check_permission(route: Route, actor: Actor) -> None:
    if route.needs in (Permission.PUBLIC, Permission.SERVICE):
        return
    if not actor.may(route.needs):
        raise lacks(route.needs, actor)
    if actor.lacks_second_factor and not route.before_second_factor:
        raise NotPermitted(_SET_UP_FIRST, actor=actor)


def _failure_fields(request: HttpRequest, error: Exception) -> dict[str, Any]:
    return {"correlation_id": request.correlation_id, "failure": failure(error)}


def _principal(route: Route, actor: Actor) -> str:
    """Who an `Idempotency-Key` belongs to: a user; a token; for an answer that shows a secret, the very session."""
    # A session that somebody has stolen must not get the tokens that another session of the user was shown.
    credential = actor.credential_id if actor.via == "token" or route.shows_secret else None
    return credential or actor.id or actor.via


def _log(request: HttpRequest, response: HttpResponse) -> None:
    fields: dict[str, Any] = {
        "correlation_id": request.correlation_id,
        "method": request.method,
        "path": request.route,
        "status": response.status,
        "source_address": request.source_address,
        "duration_ms": round((time.monotonic() - request.received_at) * 1000, 1),
    }
    if response.status >= 400 and response.headers.get("Content-Type") == JSON:
        fields["code"] = json.loads(response.body).get("error", {}).get("code")
    get_logger().info("request", extra=fields)
