"""Registers routes, schedules and queue handlers. No logic: what each of them does is said where it is declared."""

from functools import partial

from chalice.app import Chalice

from chalicelib.api.boundary import Boundary
from chalicelib.api.boundary_deps import boundary_deps
from chalicelib.api.lazy_routes import LazyRoutes, routes_of
from chalicelib.api.router import Router, close
from chalicelib.monitors.entry import monitors
from chalicelib.workers.entry import workers

API = "/api/v1"
VERSION = "1.0.0"
ROUTE_MODULES = {
    "access": ("auth", "session"),
    "sources": ("sources", "jobs"),
    "clusters": ("stream", "connect"),
    "pipelines": ("pipelines",),
    "destinations": ("destinations",),
    "deliveries": ("deliveries",),
    "audit": ("audit",),
    "events": ("events",),
}
"""The modules of `chalicelib.api` with routes, each loaded when a path is asked for that begins with one of these."""


def health() -> Router:
    """The routes of health and readiness."""
    from chalicelib.api.health import health_routes
    from chalicelib.wiring import services

    return health_routes(lambda: services().ready())


def docs() -> Router:
    """The routes of the documentation, which describes everything that is mounted."""
    from chalicelib.api.docs import TITLE, docs_routes
    from chalicelib.api.openapi import document

    return docs_routes(lambda: document(site, title=TITLE, version=VERSION))


app = Chalice(app_name="headgate", configure_logs=False)
boundary = Boundary(boundary_deps)
site = LazyRoutes(app, boundary)
for module, segments in ROUTE_MODULES.items():
    site.declare(API, segments, partial(routes_of, module))
site.declare("", ("internal",), partial(routes_of, "access", "internal_routes"))
site.declare("", ("health", "ready"), health)
site.declare("", ("docs", "openapi.json"), docs)
app.register_blueprint(monitors)
app.register_blueprint(workers)
close(app, boundary, site.near)
