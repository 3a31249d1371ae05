"""Consumer groups over HTTP: what is shown of them, and what is not known of them."""

import pytest

from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Json, Sandbox


def groups(sandbox: Sandbox) -> dict[str, Json]:
    listed = sandbox.listed(f"/stream/consumer-groups?cluster_id={sandbox.stream['id']}&fresh=true")
    return {group["group_id"]: group for group in listed}


def test_a_group_is_shown_with_its_offsets_and_its_delivery(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    group, topic = f"connect-{delivery['connector_name']}", delivery["topics"][0]
    state = sandbox.doubles.kafka_double.state
    state.advance(topic, 5)
    end = state.end_offset(topic)
    state.join_group(group, [topic])
    state.commit(group, topic, 0, end - 5)
    assert groups(sandbox)[group] == {
        "group_id": group,
        "state": "Stable",
        "protocol_type": "consumer",
        "members": 1,
        "topics": [topic],
        "offsets": [{"topic": topic, "partition": 0, "committed_offset": end - 5, "end_offset": end, "lag": 5}],
        "total_lag": 5,
        "resource": {"type": "delivery", "id": delivery["id"], "name": delivery["name"]},
    }


def test_what_is_not_known_is_null_and_never_0(sandbox: Sandbox) -> None:
    state = sandbox.doubles.kafka_double.state
    denied, partly = sandbox.name("denied"), sandbox.name("partly")
    topic, gone = sandbox.name("topic"), sandbox.name("gone")
    state.create_topic(topic, 2)
    state.commit(denied, topic, 0, 0)
    state.denied.add(denied)
    state.join_group(partly, [topic])
    state.commit(partly, topic, 0, 0)
    state.commit(partly, gone, 0, 7)
    try:
        found = groups(sandbox)
    finally:
        state.denied.discard(denied)
    assert {field: found[denied][field] for field in ("topics", "offsets", "total_lag", "resource")} == dict.fromkeys(
        ("topics", "offsets", "total_lag", "resource")
    )
    assert found[partly]["offsets"] == [
        {"topic": gone, "partition": 0, "committed_offset": 7, "end_offset": None, "lag": None},
        {"topic": topic, "partition": 0, "committed_offset": 0, "end_offset": 0, "lag": 0},
        {"topic": topic, "partition": 1, "committed_offset": None, "end_offset": 0, "lag": None},
    ]
    assert found[partly]["total_lag"] is None


def test_brokers_that_do_not_answer_are_503(sandbox: Sandbox) -> None:
    body = {"name": sandbox.name("away"), "bootstrap_servers": "127.0.0.1:1"}
    away = sandbox.admin.post_ok("/stream/clusters", body)
    answer = sandbox.admin.get(f"/stream/consumer-groups?cluster_id={away['id']}")
    assert_error(answer, 503, "STREAM_UNAVAILABLE")


@pytest.mark.parametrize("query", ["", "?cluster_id=", "?cluster_id=x"])
def test_a_stream_cluster_has_to_be_named(sandbox: Sandbox, query: str) -> None:
    validation_error(sandbox.admin.get(f"/stream/consumer-groups{query}"), "query", "cluster_id")
