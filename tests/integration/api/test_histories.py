"""Histories over HTTP: columns of equal length, and mistakes that are answered with what is right."""

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, validation_error
from tests.support.apps.sandbox import Sandbox

METRICS, LOG = {"times", "lag", "throughput"}, {"times", "retained_bytes", "safe_bytes"}


def path_of(sandbox: Sandbox, kind: str) -> str:
    """Of a resource that exists."""
    match kind:
        case "pipelines":
            return f"/pipelines/{sandbox.pipeline['id']}/metric-history"
        case "deliveries":
            delivery = sandbox.cached("a delivery with a history", sandbox.new_delivery)
            return f"/deliveries/{delivery['id']}/metric-history"
        case _:
            return f"/sources/{sandbox.source['id']}/log-history"


KINDS = pytest.mark.parametrize("kind", ["pipelines", "deliveries", "sources"])


@KINDS
def test_a_history_has_columns_of_equal_length(sandbox: Sandbox, kind: str) -> None:
    for query in ("", "?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z"):
        history = sandbox.with_role("Viewer").get_ok(path_of(sandbox, kind) + query)
        assert set(history) == (LOG if kind == "sources" else METRICS)
        assert {len(column) for column in history.values()} == {len(history["times"])}
        assert 0 < len(history["times"]) <= 500
        assert all(map(is_timestamp, history["times"]))
        assert history["times"] == sorted(history["times"])


@KINDS
@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "to", "later than from"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z", "to", "later than from"),
        ("from=2099-01-01T00:00:00Z", "from", "past"),
        ("from=2020-01-01T00:00:00Z", "from", "400 days"),
        ("from=yesterday", "from", "2030-01-31T12:00:00Z"),
        ("to=2026-01-01T00:00:00", "to", ""),
        ("limit=3", "limit", ""),
    ],
)  # fmt: skip
def test_a_span_that_cannot_be_shown_is_answered_with_what_is_right(
    sandbox: Sandbox, kind: str, query: str, field: str, says: str
) -> None:
    response = sandbox.admin.get(f"{path_of(sandbox, kind)}?{query}")
    validation_error(response, "query", field)
    assert says in response.json()["error"]["message"]


@KINDS
def test_what_does_not_exist_has_no_history(sandbox: Sandbox, kind: str) -> None:
    name = "log-history" if kind == "sources" else "metric-history"
    assert_error(sandbox.admin.get(f"/{kind}/{UNKNOWN_ID}/{name}"), 404, "NOT_FOUND")
