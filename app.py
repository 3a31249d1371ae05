"""Registers routes, schedules and queue handlers. No logic."""

from functools import partial

from chalice.app import Chalice

from chalicelib import __version__
from chalicelib.api.framework.boundary import Boundary
from chalicelib.api.framework.dependencies import boundary_dependencies
from chalicelib.api.framework.lazy_routes import LazyRoutes, routes_of
from chalicelib.api.framework.router import NAME, Router, finish_app
from chalicelib.schedules.entry import schedules
from chalicelib.workers.entry import workers

API = "/api/v1"
ROUTE_MODULES = {
    "access": ("auth", "session"),
    "users": ("users", "invites"),
    "sources": ("sources", "jobs"),
    "schemas": ("data",),
    "connections": ("connections",),
    "clusters": ("stream",),
    "connectors": ("connect",),
    "consumer_groups": ("stream",),
    "topics": ("stream",),
    "pipelines": ("pipelines",),
    "destinations": ("destinations",),
    "deliveries": ("deliveries",),
    "histories": ("pipelines", "deliveries", "sources"),
    "operations": ("audit", "monitoring", "operations"),
    "export": ("export",),
    "maintenance": ("maintenance",),
    "alerts": ("alerts", "alert-rules", "notification-channels"),
    "events": ("events",),
}
"""The route modules of `chalicelib.api.routes`, each with the first segments of its paths. See `LazyRoutes`."""


def health() -> Router:
    """Health and readiness."""
    # Imported by the first request for it, as `LazyRoutes` imports the route modules: a cold start loads less.
    from chalicelib.api.routes.health import health_routes
    from chalicelib.wiring import services

    return health_routes(lambda: services().ready())


def docs() -> Router:
    """The documentation of every route."""
    from chalicelib.api.framework.openapi import document
    from chalicelib.api.routes.docs import docs_routes

    return docs_routes(lambda: document(lazy_routes, title=NAME, version=__version__))


app = Chalice(app_name="headgate", configure_logs=False)
boundary = Boundary(boundary_dependencies)
lazy_routes = LazyRoutes(app, boundary)
for module, segments in ROUTE_MODULES.items():
    lazy_routes.declare(API, segments, partial(routes_of, module))
lazy_routes.declare(API, ("connect",), partial(routes_of, "clusters", "connect_routes"))
lazy_routes.declare("", ("internal",), partial(routes_of, "access", "internal_routes"))
lazy_routes.declare("", ("health", "ready"), health)
lazy_routes.declare("", ("metrics",), partial(routes_of, "alerts", "metrics_routes"))
lazy_routes.declare("", ("docs", "openapi.json"), docs)
lazy_routes.declare("", ("console",), partial(routes_of, "console", "console_routes"))
app.register_blueprint(schedules)
app.register_blueprint(workers)
finish_app(app, boundary, lazy_routes.candidates, lazy_routes.nearest)
