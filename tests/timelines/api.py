"""The API as a user reads it: the routes of Headgate over an app in this process, called with Lambda events."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import Any
from unittest.mock import patch

from chalice.app import Chalice

from chalicelib.api.framework.boundary import Boundary, BoundaryDependencies
from chalicelib.api.framework.router import finish_app
from chalicelib.api.routes.console import console_routes
from chalicelib.domain.access import Actor
from tests.support.apps.edge import Send, through_lambda_event
from tests.support.apps.in_process_app import ADMIN, InProcessApp

MODULES = ("pipelines", "deliveries", "sources", "histories", "operations", "alerts")
NEVER_ENDS = datetime(9000, 1, 1, tzinfo=UTC)


class _Admin:
    def authenticate(self, headers: Mapping[str, str], method: str) -> Actor:
        return replace(ADMIN, expires_at=NEVER_ENDS)

    def authenticate_service(self, headers: Mapping[str, str]) -> None:
        """Not used here."""


@dataclass(kw_only=True)
class Api:
    """Requests of the Admin to an app. `bodies` are the texts of all answers since it was last cleared."""

    chalice: Chalice
    send: Send
    bodies: list[str] = field(default_factory=list)

    def get(self, path: str) -> Any:
        """The body of GET; AssertionError unless that is answered with 200."""
        return self.call("GET", path)

    def call(self, method: str, path: str) -> Any:
        """The body of the answer to a request without a body; AssertionError unless it succeeds."""
        headers = {"host": "headgate.example.com", "x-correlation-id": "timeline", "content-type": "application/json"}
        answer = self.send(method, f"/api/v1{path}", headers, b"")
        assert answer.status < 300, (method, path, answer.status, answer.body)
        self.bodies.append(answer.body)
        return json.loads(answer.body) if answer.body else None


@contextmanager
def api_of(app: InProcessApp, modules: Sequence[str] = MODULES, *, with_console: bool = False) -> Iterator[Api]:
    """These route modules of the API over the app, whichever its process is at the time of a request."""
    chalice = Chalice(app_name="timelines", configure_logs=False)
    boundary = Boundary(lambda: _dependencies(app))
    with ExitStack() as ends:
        for name in modules:
            module = import_module(f"chalicelib.api.routes.{name}")
            ends.enter_context(patch.object(module, "services", lambda: app.services))
            module.routes.mount(chalice, "/api/v1", boundary)
        if with_console:
            console_routes.mount(chalice, "", boundary)
        finish_app(chalice, boundary, lambda _: tuple(chalice.routes))
        yield Api(chalice=chalice, send=through_lambda_event(chalice))


def _dependencies(app: InProcessApp) -> BoundaryDependencies:
    return BoundaryDependencies(
        authenticator=_Admin(),
        idempotency=lambda: app.services.idempotency,
        signer=lambda: app.services.signer,
        record_denial=lambda *_: None,
        note_unreadable=app.services.unreadable_rows.note,
        clock=app.clock,
    )
