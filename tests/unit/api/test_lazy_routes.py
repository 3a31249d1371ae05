"""Subjects are loaded when one of their paths is asked for, and all of them by whoever walks through the routes."""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from chalice.app import Chalice

import app as deployed
from chalicelib import api
from chalicelib.api.boundary import Boundary, BoundaryDependencies
from chalicelib.api.lazy_routes import LazyRoutes
from chalicelib.api.paths import PathTrie
from chalicelib.api.router import Router, finish_app
from chalicelib.domain.access import Permission
from tests.support.edge import Seen, lambda_event, through_lambda_event


def _no_parts() -> BoundaryDependencies:
    raise AssertionError("public routes need nobody")


def subject(*paths: str) -> Router:
    routes = Router(tag="T")
    for number, path in enumerate(paths):

        def handler() -> list[int]:
            """Answers."""
            return [1]

        handler.__name__ = f"handler_{number}"
        routes.get(path, needs=Permission.PUBLIC)(handler)
    return routes


class Place:
    """An app with two subjects, and the names of those that were loaded."""

    def __init__(self) -> None:
        self.app, self.loaded = Chalice(app_name="t"), list[str]()
        boundary = Boundary(_no_parts)
        self.lazy_routes = LazyRoutes(self.app, boundary)
        self.lazy_routes.declare(
            "/v1", ("cats", "kittens"), self._loads("cats", subject("/cats", "/cats/all", "/kittens"))
        )
        self.lazy_routes.declare("/v1", ("dogs",), self._loads("dogs", subject("/dogs")))
        finish_app(self.app, boundary, self.lazy_routes.candidates)

    def get(self, resource: str, path: str = "", method: str = "GET") -> int:
        """The status of the answer to an event of API Gateway's."""
        target = path or resource
        event = {**lambda_event(Chalice(app_name="none"), method, target)}
        event["requestContext"] = {"resourcePath": resource, "httpMethod": method, "path": target}
        return int(self.app(event, None)["statusCode"])

    def _loads(self, name: str, routes: Router) -> Callable[[], Router]:
        def load() -> Router:
            self.loaded.append(name)
            return routes

        return load


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    assert Place().loaded == []


@pytest.mark.parametrize("path", ["/v1/cats", "/v1/cats/all", "/v1/kittens"])
def test_a_request_loads_its_own_subject_once(path: str) -> None:
    place = Place()
    assert [place.get(path), place.get(path), place.get("/v1/cats")] == [200, 200, 200]
    assert place.loaded == ["cats"]


def test_whoever_walks_through_the_routes_gets_all_of_them() -> None:
    place = Place()
    assert set(place.app.routes) == {"/v1/cats", "/v1/cats/all", "/v1/kittens", "/v1/dogs", "/", "/{proxy+}"}
    assert len(place.app.routes) == 6


def test_routes_are_told_in_the_order_of_declaration_whatever_was_asked_for_first() -> None:
    place = Place()
    place.get("/v1/dogs")
    assert [path for path, _ in place.lazy_routes] == ["/v1/cats", "/v1/cats/all", "/v1/kittens", "/v1/dogs"]


def test_to_look_for_a_path_does_not_make_it() -> None:
    place = Place()
    assert ("/v1/dogs" in place.app.routes, "/v1/birds" in place.app.routes) == (True, False)
    assert "/v1/birds" not in list(place.app.routes)


def test_a_path_that_nobody_has_loads_nothing() -> None:
    place = Place()
    assert place.get("/{proxy+}", "/v1/birds") == 404
    assert place.loaded == []


def test_a_known_path_that_came_by_the_fallback_is_405_though_its_subject_was_not_loaded() -> None:
    assert Place().get("/{proxy+}", "/v1/cats/all", "PATCH") == 405


def test_every_gateway_finds_every_subject() -> None:
    place = Place()
    seen: Callable[..., Seen] = through_lambda_event(place.app)
    assert [seen("GET", path, {}, b"").status for path in ("/v1/dogs", "/v1/kittens", "/v1/birds")] == [200, 200, 404]


def test_a_route_that_would_never_be_found_fails_when_its_subject_is_loaded() -> None:
    app = Chalice(app_name="t")
    lazy_routes = LazyRoutes(app, Boundary(_no_parts))
    lazy_routes.declare("/v1", ("cats",), lambda: subject("/cats", "/lions"))
    with pytest.raises(ValueError, match="/v1/lions"):
        list(app.routes)


def test_a_subject_that_cannot_be_loaded_is_tried_again() -> None:
    def load() -> Router:
        if attempts := place.loaded.count("attempt"):
            return subject("/birds")
        place.loaded.append("attempt")
        raise ImportError(f"attempt {attempts}")

    place = Place()
    place.lazy_routes.declare("/v1", ("birds",), load)
    assert [place.get("/v1/birds"), place.get("/v1/birds")] == [500, 200]


def test_every_module_with_routes_is_declared() -> None:
    modules = {name: import_module(f"{api.__name__}.{name}") for _, name, _ in pkgutil.iter_modules(api.__path__)}
    with_routes = {name for name, module in modules.items() if isinstance(getattr(module, "routes", None), Router)}
    assert with_routes == set(deployed.ROUTE_MODULES)


def test_no_two_routes_call_one_position_of_a_path_by_two_names() -> None:
    patterns: Any = deployed.app.routes
    assert PathTrie(patterns).match("/api/v1/sources/1/tables") is not None
