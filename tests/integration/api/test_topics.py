"""Topics over HTTP."""

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, validation_error
from tests.support.apps.sandbox import Api, Json, Sandbox

TOPIC = {
    *("name", "partitions", "replication_factor", "internal", "protected", "protection_reason", "size", "message_rate"),
    "used_by_pipelines",
}
DETAIL = {*TOPIC, "partition_details", "configs", "checked_at"}
PARTITION = {"partition", "leader", "replicas", "isr", "beginning_offset", "end_offset"}
FRESH = {"fresh": "true"}


def path(sandbox: Sandbox, name: str = "") -> str:
    return f"/stream/topics{'/' if name else ''}{name}?cluster_id={sandbox.stream['id']}"


def new_topic(sandbox: Sandbox, partitions: int = 1, **settings: str) -> str:
    name = f"{sandbox.name('free')}.public.Orders_1"
    sandbox.doubles.kafka_double.state.create_topic(name, partitions, settings)
    return name


def topics(api: Api, sandbox: Sandbox) -> dict[str, Json]:
    """All topics by name."""
    listed = api.get_ok(f"{path(sandbox)}&fresh=true")
    return {topic["name"]: topic for topic in listed}


def test_topics_are_listed_by_name_with_the_pipelines_that_use_them(sandbox: Sandbox) -> None:
    pipeline, free = sandbox.running_pipeline(), new_topic(sandbox, partitions=3)
    used = f"{pipeline['topic_prefix']}.any.table"
    sandbox.doubles.kafka_double.state.create_topic(used)
    listed = topics(sandbox.with_role("Ops"), sandbox)
    assert list(listed) == sorted(listed)
    assert all(set(topic) == TOPIC for topic in listed.values())
    assert listed[free] == {
        "name": free,
        "partitions": 3,
        "replication_factor": 1,
        "internal": False,
        "protected": False,
        "protection_reason": None,
        "size": 0,
        "message_rate": None,
        "used_by_pipelines": [],
    }
    user = {"type": "pipeline", "id": pipeline["id"], "name": pipeline["name"]}
    assert listed[used]["used_by_pipelines"] == [user]


def test_cursors_lead_through_all_topics(sandbox: Sandbox) -> None:
    names = {new_topic(sandbox) for _ in range(4)}
    query, seen, cursor = f"{path(sandbox)}&fresh=true&limit=3", list[str](), ""
    while True:
        page = sandbox.admin.get(query + (f"&cursor={cursor}" if cursor else ""))
        assert page.status_code == 200, page.text
        assert len(page.json()) <= 3
        assert is_timestamp(page.headers["X-Observed-At"])
        seen += [topic["name"] for topic in page.json()]
        cursor = page.headers.get("X-Next-Cursor", "")
        if not cursor:
            break
    assert seen == sorted(set(seen))
    assert names <= set(seen)


def test_a_topic_is_shown_with_its_partitions_and_settings(sandbox: Sandbox) -> None:
    name = new_topic(sandbox, 2, **{"retention.ms": "60000"})
    sandbox.doubles.kafka_double.state.advance(name, 5, partition=1)
    topic = sandbox.admin.get_ok(path(sandbox, name))
    assert set(topic) == DETAIL
    assert is_timestamp(topic["checked_at"])
    assert topic["configs"]["retention.ms"] == "60000"
    assert all(set(partition) == PARTITION for partition in topic["partition_details"])
    assert [(one["beginning_offset"], one["end_offset"]) for one in topic["partition_details"]] == [(0, 0), (0, 5)]
    assert (topic["name"], topic["partitions"], topic["used_by_pipelines"]) == (name, 2, [])


def test_an_admin_deletes_a_topic_that_nobody_uses_and_it_is_gone_at_once(sandbox: Sandbox) -> None:
    name = new_topic(sandbox)
    target = path(sandbox, name.replace(".", "%2E"))
    assert sandbox.with_role("Viewer").get(target).status_code == 200
    for role in ("Viewer", "Ops"):
        assert_error(sandbox.with_role(role).delete(target), 403, "FORBIDDEN")
    deleted = sandbox.admin.delete(target)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert_error(sandbox.with_role("Viewer").get(target), 404, "NOT_FOUND")
    assert_error(sandbox.admin.delete(target), 404, "NOT_FOUND")
    records = sandbox.audit_records(name)
    assert {(one["action"], one["resource_type"]) for one in records} == {("topic.delete", "topic")}
    assert sorted(one["outcome"] for one in records) == ["requested", "success"]
    denials = [one for one in sandbox.admin.get_ok("/audit") if one["action"] == "topic.delete"]
    assert "denied" in {one["outcome"] for one in denials}
    assert len({one["correlation_id"] for one in records}) == 1


def test_a_topic_in_use_is_not_deleted(sandbox: Sandbox) -> None:
    pipeline = sandbox.running_pipeline()
    name = f"{pipeline['topic_prefix']}.shop.orders"
    sandbox.doubles.kafka_double.state.create_topic(name)
    refused = sandbox.admin.delete(path(sandbox, name))
    assert_error(refused, 409, "RESOURCE_IN_USE")
    user = {"type": "pipeline", "id": pipeline["id"], "name": pipeline["name"]}
    assert refused.json()["error"]["details"] == {"used_by": [user]}


@pytest.mark.parametrize("name", ["__consumer_offsets", "connect-status", "_schemas"])
def test_a_protected_topic_says_why_and_is_not_deleted(sandbox: Sandbox, name: str) -> None:
    state = sandbox.doubles.kafka_double.state
    state.create_topic(name, settings={"cleanup.policy": "compact"})
    topic = topics(sandbox.admin, sandbox)[name]
    assert (topic["protected"], topic["internal"]) == (True, name.startswith("__"))
    assert topic["protection_reason"]
    refused = sandbox.admin.delete(path(sandbox, name))
    assert_error(refused, 409, "STATE_CONFLICT")
    assert topic["protection_reason"] in refused.json()["error"]["message"]
    assert name in state.topics


@pytest.mark.parametrize("name", ["%20", "a%2Fb", "%2e%2e%2e%2e%20", "a" * 301])
def test_a_name_that_no_topic_can_have_is_not_found(sandbox: Sandbox, name: str) -> None:
    for method in ("GET", "DELETE"):
        assert_error(sandbox.admin.call(method, path(sandbox, name)), 404, "NOT_FOUND")


def test_the_cluster_has_to_exist(sandbox: Sandbox) -> None:
    for method, where in (("GET", ""), ("GET", "/any"), ("DELETE", "/any")):
        target = f"/stream/topics{where}"
        assert validation_error(sandbox.admin.call(method, target), "query", "cluster_id") == "missing"
        assert validation_error(sandbox.admin.call(method, f"{target}?cluster_id=x"), "query", "cluster_id")
        unknown = sandbox.admin.call(method, f"{target}?cluster_id={UNKNOWN_ID}")
        assert_error(unknown, 404, "NOT_FOUND")


def test_brokers_that_are_away_are_an_error_and_no_empty_list(sandbox: Sandbox) -> None:
    body = {"name": sandbox.name("stream"), "bootstrap_servers": "127.0.0.1:1"}
    away = sandbox.admin.post_ok("/stream/clusters", body)["id"]
    for method, where in (("GET", ""), ("GET", "/any"), ("DELETE", "/any")):
        answer = sandbox.admin.call(method, f"/stream/topics{where}?cluster_id={away}")
        assert_error(answer, 503, "STREAM_UNAVAILABLE")
