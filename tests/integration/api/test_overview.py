"""The overview over HTTP. Its counts against all that is done: `tests/service/test_overview.py`."""

from collections import Counter

from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.waiting import eventually

HEALTH = {"UNKNOWN", "HEALTHY", "UNHEALTHY"}
OBSERVED = {
    *("UNKNOWN", "NOT_DEPLOYED", "RUNNING", "PAUSED", "STOPPED", "UNASSIGNED", "RESTARTING", "DEGRADED", "FAILED"),
}


def _overview(sandbox: Sandbox) -> Json:
    return dict(sandbox.admin.get_ok("/monitoring/overview"))


def _counted_as_listed(sandbox: Sandbox, noun: str, state: str) -> int:
    """How many the overview counts, when the count of each state is that of the list.

    The schedule counts, and ticks follow some seconds later.
    """
    sandbox.fire("dispatch")

    def both() -> tuple[Json, Json]:
        counts = {name: count for name, count in _overview(sandbox)[noun].items() if count}
        return counts, dict(Counter(one[state] for one in sandbox.listed(f"/{noun}")))

    counts, _ = eventually(both, lambda seen: seen[0] == seen[1], seconds=20)
    return sum(counts.values())


def test_it_has_every_field_of_the_contract_and_every_state(sandbox: Sandbox) -> None:
    overview = _overview(sandbox)
    states = {noun: set(overview.pop(noun)) for noun in ("pipelines", "deliveries")}
    health = {
        noun: set(overview.pop(noun)) for noun in ("sources", "destinations", "stream_clusters", "connect_clusters")
    }
    assert all(keys == OBSERVED for keys in states.values())
    assert all(keys == HEALTH for keys in health.values())
    assert set(overview["incidents"]) == {"open", "acknowledged"}
    assert 0 <= overview["alerts"]["critical"] <= overview["alerts"]["active"]
    assert set(overview["alerts"]) == {"active", "critical"}
    assert (overview["throughput"], overview["lag"]) == (None, None)
    assert overview["metrics_notice"]
    assert set(overview) == {
        *("incidents", "alerts", "throughput", "lag", "metrics_notice", "recent_activity"),
    }


def test_it_counts_what_was_created_and_deleted_before_the_last_minute(sandbox: Sandbox) -> None:
    created = sandbox.admin.post_ok("/destinations", sandbox.destination_body())
    counted = _counted_as_listed(sandbox, "destinations", "status")
    assert sandbox.admin.delete(f"/destinations/{created['id']}").status_code == 204
    assert _counted_as_listed(sandbox, "destinations", "status") == counted - 1


def test_a_deployed_pipeline_is_counted_as_its_list_shows_it(sandbox: Sandbox) -> None:
    draft = sandbox.new_pipeline()
    counted = _counted_as_listed(sandbox, "pipelines", "observed_state")
    assert sandbox.admin.post(f"/pipelines/{draft['id']}/deploy").status_code == 200
    assert _counted_as_listed(sandbox, "pipelines", "observed_state") == counted
    assert sandbox.admin.delete(f"/pipelines/{draft['id']}").status_code == 204
    assert _counted_as_listed(sandbox, "pipelines", "observed_state") == counted - 1


def test_recent_activity_is_what_people_did_and_at_most_20_records(sandbox: Sandbox) -> None:
    for _ in range(21):
        created = sandbox.admin.post_ok("/destinations", sandbox.destination_body())
    sandbox.admin.post_ok(f"/destinations/{created['id']}/test", status=200)
    activity = _overview(sandbox)["recent_activity"]
    assert len(activity) == 20
    assert all(record["meaningful"] for record in activity)
    assert activity == sandbox.admin.get_ok("/audit?meaningful=true&limit=20")


def test_every_role_sees_the_same_overview_and_nobody_without_a_session_does(sandbox: Sandbox) -> None:
    seen = [sandbox.with_role(role).get_ok("/monitoring/overview") for role in ("Viewer", "Ops", "Admin")]
    assert seen[0] == seen[1] == seen[2]
    assert_error(sandbox.unauthenticated().get("/monitoring/overview"), 401, "UNAUTHENTICATED")
