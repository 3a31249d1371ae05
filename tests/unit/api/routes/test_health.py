import json

import pytest
from chalice.app import Chalice

from chalicelib import __version__
from chalicelib.api.framework.boundary import Boundary, BoundaryDependencies
from chalicelib.api.framework.router import finish_app
from chalicelib.api.routes.health import health_routes
from tests.support.apps.edge import ClientResponse, through_lambda_event


def ask(path: str, found: dict[str, bool]) -> ClientResponse:
    def nothing() -> BoundaryDependencies:
        raise AssertionError("health needs no dependencies")

    app, boundary = Chalice(app_name="t"), Boundary(nothing)
    health_routes(lambda: found).mount(app, "", boundary)
    finish_app(app, boundary, lambda _: tuple(app.routes))
    return through_lambda_event(app)("GET", path, {}, b"")


def test_health_is_ok_whatever_the_stores_do() -> None:
    response = ask("/health?probe=1", {"tables": False})
    assert (response.status, json.loads(response.body)) == (200, {"status": "ok", "version": __version__})


@pytest.mark.parametrize(
    ("found", "status", "word"),
    [
        ({"tables": True, "jobs": True}, 200, "ready"),
        ({"tables": True, "jobs": False}, 503, "unavailable"),
        ({}, 200, "ready"),
    ],
)
def test_ready_names_every_store_and_queue(found: dict[str, bool], status: int, word: str) -> None:
    response = ask("/ready", found)
    expected = {name: "ok" if good else "unavailable" for name, good in found.items()}
    assert (response.status, json.loads(response.body)) == (status, {"status": word, "checks": expected})
