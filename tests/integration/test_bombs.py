"""Requests that are meant to be expensive are refused, at the earliest step that can. Times: `tests.security`, S9."""

import pytest

import app
from tests.support.apps.edge import ADMIN, JSON_ADMIN, make_edge, through_lambda_event
from tests.support.hostile.bombs import HEADERS, TARGETS, refuse_bodies

ROUTES = {route.name: route for _, route in app.lazy_routes if route.body is not None}


def test_a_hostile_body_is_refused_by_every_route() -> None:
    accepted = {(result.body, result.route) for result in refuse_bodies(ROUTES) if not result.refused}
    # Nothing but white space in an object is an empty object, which these take.
    assert {body for body, _ in accepted} <= {"white space"}
    assert all(not ROUTES[route].body_required for _, route in accepted)


@pytest.mark.parametrize("name", HEADERS)
def test_a_hostile_header_is_answered(name: str) -> None:
    header, value = HEADERS[name]
    for method, body in (("GET", b""), ("POST", b'{"name": "one"}'), ("DELETE", b"")):
        headers = {key: text for key, text in JSON_ADMIN.items() if key.lower() != header.lower()}
        response = through_lambda_event(make_edge().app)(method, "/api/v1/things", {**headers, header: value}, body)
        assert response.status < 500, response.body[:300]
        assert value not in str(response.headers) + response.body


@pytest.mark.parametrize("name", TARGETS)
def test_a_hostile_address_is_answered(name: str) -> None:
    response = through_lambda_event(make_edge().app)("GET", TARGETS[name], ADMIN, b"")
    assert response.status in (200, 404, 422), response.body[:300]
