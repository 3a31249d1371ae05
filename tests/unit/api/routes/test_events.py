import json

import pytest

from tests.support.apps.edge import ADMIN, make_edge, through_lambda_event


@pytest.mark.parametrize("headers", [{}, ADMIN, {"authorization": "Bearer nonsense"}])
@pytest.mark.parametrize("query", ["", "?source_id=1&limit=99999", "?limit=1&limit=2", "?a=%24%7Bx%7D"])
def test_the_removed_events_route_is_410_for_every_caller_and_query(headers: dict[str, str], query: str) -> None:
    response = through_lambda_event(make_edge().app)("GET", f"/api/v1/events{query}", headers, b"")
    assert (response.status, json.loads(response.body)["error"]["code"]) == (410, "EVENTS_REMOVED")
