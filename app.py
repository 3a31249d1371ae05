"""Registers routes, schedules and queue handlers. No logic: what each of them does is said where it is declared."""

from collections.abc import Mapping

from chalice.app import Chalice

from chalicelib.api import access, audit, clusters, deliveries, destinations, events, pipelines, sources
from chalicelib.api.boundary import Boundary
from chalicelib.api.docs import TITLE, docs_routes
from chalicelib.api.health import health_routes
from chalicelib.api.openapi import Json, document
from chalicelib.api.parts import boundary_parts
from chalicelib.api.router import close
from chalicelib.monitors.entry import monitors
from chalicelib.wiring import services
from chalicelib.workers.entry import workers

API = "/api/v1"
VERSION = "1.0.0"
SUBJECTS = (access, sources, clusters, pipelines, destinations, deliveries, audit, events)


def ready() -> Mapping[str, bool]:
    """Every store and queue by name, and whether it answers."""
    return services().ready()


def description() -> Json:
    """The OpenAPI document of everything that is mounted."""
    return document(mounted, title=TITLE, version=VERSION)


app = Chalice(app_name="headgate", configure_logs=False)
boundary = Boundary(boundary_parts)
outside_the_api = (health_routes(ready), docs_routes(description), access.internal_routes)
mounted = [
    *(entry for subject in SUBJECTS for entry in subject.routes.mount(app, API, boundary)),
    *(entry for routes in outside_the_api for entry in routes.mount(app, "", boundary)),
]
app.register_blueprint(monitors)
app.register_blueprint(workers)
close(app, boundary)
