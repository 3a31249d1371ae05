"""The overview over HTTP. Its counts against all that is done: `tests/service/test_overview.py`."""

import json
from collections import Counter

import pytest

from tests.support.apps.sandbox import Json, Sandbox
from tests.support.waiting import eventually

HEALTH = {"UNKNOWN", "HEALTHY", "UNHEALTHY"}
OBSERVED = {
    *("UNKNOWN", "NOT_DEPLOYED", "RUNNING", "PAUSED", "STOPPED", "UNASSIGNED", "RESTARTING", "DEGRADED", "FAILED"),
}


def _overview(sandbox: Sandbox) -> Json:
    return dict(sandbox.admin.get_ok("/monitoring/overview"))


def _counted_as_listed(sandbox: Sandbox, noun: str, state: str) -> set[str]:
    """The ids of the list, when the overview's count of each state is that of the list.

    The schedule counts, and ticks follow some seconds later.
    """
    sandbox.fire("dispatch")

    def read() -> tuple[Json, list[Json]]:
        counts = {name: count for name, count in _overview(sandbox)[noun].items() if count}
        return counts, sandbox.listed(f"/{noun}")

    _, listed = eventually(read, lambda both: both[0] == Counter(entry[state] for entry in both[1]))
    return {entry["id"] for entry in listed}


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
    assert len(overview.pop("attention")) <= 50
    assert overview["metrics_notice"] or None not in (overview["throughput"], overview["lag"])
    assert set(overview) == {
        *("incidents", "alerts", "throughput", "lag", "metrics_notice", "recent_activity"),
    }


def test_it_says_when_the_states_were_seen_also_when_nothing_has_changed(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()

    def seen() -> tuple[str, str]:
        full = sandbox.admin.get("/monitoring/overview")
        same = sandbox.admin.get("/monitoring/overview", headers={"If-None-Match": full.headers["ETag"]})
        assert same.status_code in (200, 304)
        return full.headers["X-Observed-At"], same.headers["X-Observed-At"]

    before = sandbox.admin.get_ok(f"/pipelines/{pipeline['id']}")["observed_at"]
    first, second = eventually(seen, lambda times: min(times) > before)
    assert first <= second


def test_it_counts_what_was_created_and_deleted_before_the_last_minute(sandbox: Sandbox) -> None:
    created = sandbox.admin.post_ok("/destinations", sandbox.destination_body())
    assert created["id"] in _counted_as_listed(sandbox, "destinations", "status")
    assert sandbox.admin.delete(f"/destinations/{created['id']}").status_code == 204
    assert created["id"] not in _counted_as_listed(sandbox, "destinations", "status")


def test_recent_activity_is_what_people_did_and_at_most_20_records(sandbox: Sandbox) -> None:
    for _ in range(21):
        created = sandbox.admin.post_ok("/destinations", sandbox.destination_body())
    sandbox.admin.post_ok(f"/destinations/{created['id']}/test", status=200)

    def read() -> tuple[list[Json], list[Json]]:
        return _overview(sandbox)["recent_activity"], sandbox.admin.get_ok("/audit?meaningful=true&limit=20")

    # A record may be written between the two reads.
    activity, _ = eventually(read, lambda both: both[0] == both[1])
    assert len(activity) == 20
    assert all(record["meaningful"] for record in activity)


SHOWN_TO_ALL = {"at", "action", "resource_type", "resource_id", "resource_name", "outcome"}


@pytest.mark.parametrize("role", ["Viewer", "Ops"])
def test_others_than_admins_see_what_was_done_to_resources_and_nothing_about_people_or_tokens(
    sandbox: Sandbox, role: str
) -> None:
    api, email, token = sandbox.with_role(role), f"{sandbox.name('invited')}@example.com", sandbox.name("token")
    destination = sandbox.admin.post_ok("/destinations", sandbox.destination_body())
    sandbox.admin.post_ok("/users/invite", {"email": email, "role": "Ops"})
    sandbox.admin.post_ok("/auth/tokens", {"name": token, "role": "Viewer"})
    assert api.delete(f"/users/{destination['id']}").status_code == 403

    def read() -> list[Json]:
        return list(api.get_ok("/monitoring/overview")["recent_activity"])

    activity = eventually(read, lambda shown: shown and shown[0]["resource_id"] == destination["id"])
    assert all(set(entry) == SHOWN_TO_ALL for entry in activity)
    assert (activity[0]["action"], activity[0]["outcome"]) == ("destination.create", "success")
    assert activity[0]["resource_name"] == destination["name"]
    text = json.dumps(activity)
    assert not [word for word in (email, token, "@", "127.0.0.1", "user.", "api_token", "session") if word in text]
    admin = json.dumps(_overview(sandbox)["recent_activity"])
    assert all(word in admin for word in (email, token, "127.0.0.1"))
