"""Route modules are loaded when one of their paths is requested; iterating over the routes loads all of them."""

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from chalice.app import Chalice

import app as deployed
from chalicelib.api import routes as route_modules
from chalicelib.api.framework.boundary import Boundary, BoundaryDependencies
from chalicelib.api.framework.lazy_routes import LazyRoutes
from chalicelib.api.framework.paths import PathTrie
from chalicelib.api.framework.router import Router, finish_app
from chalicelib.domain.access import Permission
from tests.support.apps.edge import ClientResponse, lambda_event, through_lambda_event


def _no_dependencies() -> BoundaryDependencies:
    raise AssertionError("public routes need no dependencies")


def route_module(*paths: str) -> Router:
    routes = Router(tag="T")
    for number, path in enumerate(paths):

        def handler() -> list[int]:
            """Returns a number."""
            return [1]

        handler.__name__ = f"handler_{number}"
        routes.get(path, needs=Permission.PUBLIC)(handler)
    return routes


class LazyApp:
    """An app with two route modules, and the names of those that were loaded."""

    def __init__(self) -> None:
        self.app, self.loaded = Chalice(app_name="t"), list[str]()
        boundary = Boundary(_no_dependencies)
        self.lazy_routes = LazyRoutes(self.app, boundary)
        self.lazy_routes.declare(
            "/v1", ("cats", "kittens"), self._loads("cats", route_module("/cats", "/cats/all", "/kittens"))
        )
        self.lazy_routes.declare("/v1", ("dogs",), self._loads("dogs", route_module("/dogs")))
        finish_app(self.app, boundary, self.lazy_routes.candidates)

    def get(self, resource: str, path: str = "", method: str = "GET") -> int:
        """The status of the response to an event of API Gateway."""
        target = path or resource
        event = {**lambda_event(Chalice(app_name="none"), method, target)}
        event["requestContext"] = {"resourcePath": resource, "httpMethod": method, "path": target}
        return int(self.app(event, None)["statusCode"])

    def _loads(self, name: str, routes: Router) -> Callable[[], Router]:
        def load() -> Router:
            self.loaded.append(name)
            return routes

        return load


def test_no_route_module_is_loaded_before_it_is_needed() -> None:
    assert LazyApp().loaded == []


@pytest.mark.parametrize("path", ["/v1/cats", "/v1/cats/all", "/v1/kittens"])
def test_a_request_loads_its_own_route_module_once(path: str) -> None:
    lazy = LazyApp()
    assert [lazy.get(path), lazy.get(path), lazy.get("/v1/cats")] == [200, 200, 200]
    assert lazy.loaded == ["cats"]


def test_iterating_over_the_routes_loads_all_modules() -> None:
    lazy = LazyApp()
    assert set(lazy.app.routes) == {"/v1/cats", "/v1/cats/all", "/v1/kittens", "/v1/dogs", "/", "/{proxy+}"}
    assert len(lazy.app.routes) == 6


def test_routes_are_listed_in_the_order_of_declaration() -> None:
    lazy = LazyApp()
    lazy.get("/v1/dogs")
    assert [path for path, _ in lazy.lazy_routes] == ["/v1/cats", "/v1/cats/all", "/v1/kittens", "/v1/dogs"]


def test_looking_up_a_path_does_not_add_it() -> None:
    lazy = LazyApp()
    assert ("/v1/dogs" in lazy.app.routes, "/v1/birds" in lazy.app.routes) == (True, False)
    assert "/v1/birds" not in list(lazy.app.routes)


def test_an_unknown_path_loads_no_module() -> None:
    lazy = LazyApp()
    assert lazy.get("/{proxy+}", "/v1/birds") == 404
    assert lazy.loaded == []


def test_a_known_path_through_the_fallback_is_405_before_its_module_is_loaded() -> None:
    assert LazyApp().get("/{proxy+}", "/v1/cats/all", "PATCH") == 405


def test_every_gateway_finds_every_module() -> None:
    lazy = LazyApp()
    send: Callable[..., ClientResponse] = through_lambda_event(lazy.app)
    assert [send("GET", path, {}, b"").status for path in ("/v1/dogs", "/v1/kittens", "/v1/birds")] == [200, 200, 404]


def test_a_route_outside_its_declared_segments_fails_on_loading() -> None:
    app = Chalice(app_name="t")
    lazy_routes = LazyRoutes(app, Boundary(_no_dependencies))
    lazy_routes.declare("/v1", ("cats",), lambda: route_module("/cats", "/lions"))
    with pytest.raises(ValueError, match="/v1/lions"):
        list(app.routes)


def test_a_module_that_cannot_be_loaded_is_tried_again() -> None:
    def load() -> Router:
        if attempts := lazy.loaded.count("attempt"):
            return route_module("/birds")
        lazy.loaded.append("attempt")
        raise ImportError(f"attempt {attempts}")

    lazy = LazyApp()
    lazy.lazy_routes.declare("/v1", ("birds",), load)
    assert [lazy.get("/v1/birds"), lazy.get("/v1/birds")] == [500, 200]


def test_every_module_with_routes_is_declared() -> None:
    modules = {
        name: import_module(f"{route_modules.__name__}.{name}")
        for _, name, _ in pkgutil.iter_modules(route_modules.__path__)
    }
    with_routes = {name for name, module in modules.items() if isinstance(getattr(module, "routes", None), Router)}
    assert with_routes == set(deployed.ROUTE_MODULES)


def test_no_two_routes_name_one_position_of_a_path_differently() -> None:
    patterns: Any = deployed.app.routes
    assert PathTrie(patterns).match("/api/v1/sources/1/tables") is not None
