import pytest
from chalice.app import Chalice

from chalicelib.api.framework.boundary import Boundary, BoundaryDependencies
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from tests.support.apps.edge import ADMIN, THING, lambda_event, make_edge


def _no_parts() -> BoundaryDependencies:
    raise AssertionError("nothing may be built before a request needs it")


def test_a_route_without_a_permission_does_not_exist() -> None:
    with pytest.raises(TypeError, match="needs"):
        Router(tag="T").get("/things")  # type: ignore[call-arg]


def test_a_handler_stays_a_function_that_can_be_called() -> None:
    routes = Router(tag="T")

    @routes.get("/things", needs=Permission.READ)
    def count_things() -> list[int]:
        """Count."""
        return [1, 2]

    assert count_things() == [1, 2]


def test_mounting_builds_nothing_and_returns_what_it_mounted() -> None:
    routes = Router(tag="T")

    @routes.delete("/things/{uuid}", needs=Permission.ADMINISTER)
    def delete_thing(context: RequestContext, uuid: UuidPath) -> None:
        """Delete."""

    app = Chalice(app_name="t")
    [(path, route)] = routes.mount(app, "/api/v1", Boundary(_no_parts))
    assert (path, route.method, route.status) == ("/api/v1/things/{uuid}", "DELETE", 204)
    assert list(app.routes) == ["/api/v1/things/{uuid}"]


def test_one_route_declared_twice_fails_at_start() -> None:
    routes = Router(tag="T")
    for _ in range(2):
        routes.get("/things", needs=Permission.READ)(_things)
    with pytest.raises(ValueError, match="Duplicate"):
        routes.mount(Chalice(app_name="t"), "", Boundary(_no_parts))


def _things() -> list[int]:
    """Things."""
    return []


def test_the_location_includes_the_stage_of_api_gateway() -> None:
    app = make_edge().app
    event = lambda_event(app, "POST", "/api/v1/things", {**ADMIN, "Content-Type": "application/json"}, b'{"name":"n"}')
    assert app(event, None)["headers"]["Location"].startswith("/api/api/v1/things/")


def test_an_event_that_is_not_of_api_gateway_is_500_in_the_envelope() -> None:
    answer = make_edge().app({"requestContext": {}, "version": "2.0"}, None)
    assert (answer["statusCode"], '"INTERNAL"' in answer["body"]) == (500, True)


def test_absent_headers_and_parameters_are_no_failure() -> None:
    app = make_edge().app
    event = {**lambda_event(app, "GET", "/health"), "headers": None, "multiValueHeaders": None, "pathParameters": None}
    assert app(event, None)["statusCode"] == 200


def test_a_known_path_reached_by_the_fallback_is_405_and_not_404() -> None:
    app = make_edge().app
    event = {**lambda_event(app, "PATCH", f"/api/v1/things/{THING}")}
    answer = app(event, None)
    assert event["resource"] == "/{proxy+}"
    assert (answer["statusCode"], answer["headers"]["Allow"]) == (405, "DELETE, GET, PUT")
