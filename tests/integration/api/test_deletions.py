"""Deleting with `forget=true` and `drop_slot=true`, over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from infra.local.doubles.connect import ConnectDouble
from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.waiting import eventually


@dataclass(frozen=True, kw_only=True)
class Doomed:
    """A pipeline and two deliveries on a Connect cluster that is gone."""

    cluster: Json
    source: Json
    pipeline: Json
    deliveries: list[Json]


@contextmanager
def workers(sandbox: Sandbox) -> Iterator[ConnectDouble]:
    """Connect workers of the test's own."""
    double = ConnectDouble(
        headgate_url=sandbox.url,
        service_credential=sandbox.service_credential,
        cluster_id="sandbox",
        broker=sandbox.doubles.kafka_double.state,
    ).start()
    try:
        yield double
    finally:
        double.stop()


@pytest.fixture
def doomed(sandbox: Sandbox) -> Doomed:
    with workers(sandbox) as double:
        body = {"name": sandbox.name("doomed"), "base_url": double.url, "stream_cluster_id": sandbox.stream["id"]}
        cluster, source = sandbox.admin.post_ok("/connect/clusters", body), sandbox.new_source()
        pipeline = sandbox.running_pipeline(connect_cluster_id=cluster["id"], source_id=source["id"])
        destination = sandbox.new_destination()
        deliveries = [
            sandbox.admin.post_ok(f"/destinations/{destination['id']}/deploy", sandbox.delivery_body(pipeline))
            for _ in range(2)
        ]
        refused = sandbox.admin.delete(f"/pipelines/{pipeline['id']}?forget=true")
        assert_error(refused, 409, "STATE_CONFLICT")
    return Doomed(cluster=cluster, source=source, pipeline=pipeline, deliveries=deliveries)


def test_a_dead_connect_cluster_can_be_taken_out(sandbox: Sandbox, doomed: Doomed) -> None:
    admin, pipeline = sandbox.admin, f"/pipelines/{doomed.pipeline['id']}"
    assert_error(admin.delete(pipeline), 409, "RESOURCE_IN_USE")
    assert_error(admin.delete(f"{pipeline}?forget=true"), 409, "RESOURCE_IN_USE")
    one, other = doomed.deliveries
    assert_error(admin.delete(f"/deliveries/{one['id']}"), 503, "CONNECT_UNAVAILABLE")
    assert admin.delete(f"/deliveries/{one['id']}?forget=true").status_code == 204
    path = f"/destinations/{other['destination_id']}/deliveries/{other['id']}"
    assert admin.delete(f"{path}?forget=true").status_code == 204
    assert admin.delete(f"{pipeline}?forget=true").status_code == 204
    assert_error(admin.get(pipeline), 404, "NOT_FOUND")
    for path in (f"/connect/clusters/{doomed.cluster['id']}", f"/sources/{doomed.source['id']}"):
        assert admin.delete(path).status_code == 204
    assert admin.delete(f"/destinations/{other['destination_id']}").status_code == 204
    record = sandbox.audit_records(doomed.pipeline["id"])[0]
    assert (record["action"], record["outcome"]) == ("pipeline.forget", "success")
    assert record["after"]["connector_that_may_be_left"]["name"] == doomed.pipeline["connector_name"]
    below = sandbox.audit_records(other["destination_id"], include_related="true")
    assert [one["action"] for one in below].count("delivery.forget") == 2


def test_only_an_admin_may_have_something_forgotten(sandbox: Sandbox, doomed: Doomed) -> None:
    ops = sandbox.signed_in(sandbox.make_user("Ops")[1])
    for path in (f"/deliveries/{doomed.deliveries[0]['id']}", f"/pipelines/{doomed.pipeline['id']}"):
        assert_error(ops.delete(f"{path}?forget=true"), 403, "FORBIDDEN")


def test_the_query_of_a_deletion_is_checked(sandbox: Sandbox) -> None:
    pipeline, delivery = sandbox.new_pipeline(), sandbox.new_delivery()
    validation_error(sandbox.admin.delete(f"/pipelines/{pipeline['id']}?forget=perhaps"), "query", "forget")
    validation_error(sandbox.admin.delete(f"/pipelines/{pipeline['id']}?forget=true&drop_slot=true"), "query")
    validation_error(sandbox.admin.delete(f"/deliveries/{delivery['id']}?drop_slot=true"), "query", "drop_slot")
    validation_error(sandbox.admin.delete(f"/deliveries/{delivery['id']}?unknown=true"), "query", "unknown")


def slots(sandbox: Sandbox, name: str, condition: str = "true") -> int:
    """How many slots of this name PostgreSQL has."""
    with sandbox.postgresql.connect() as superuser:
        query = f"SELECT count(*) FROM pg_replication_slots WHERE slot_name = %s AND {condition}"
        row = superuser.execute(query.encode(), [name]).fetchone()
    assert row
    return int(row[0])


@pytest.mark.parametrize(("query", "left"), [("?drop_slot=true", 0), ("?drop_slot=false", 1), ("", 1)])
def test_a_deletion_drops_the_slot_only_when_it_is_asked_to(sandbox: Sandbox, query: str, left: int) -> None:
    """The double streams from a real slot of a real PostgreSQL, as Debezium does."""
    pipeline = sandbox.running_pipeline()
    name = pipeline["options"]["slot_name"]
    eventually(lambda: slots(sandbox, name, "active"))
    assert sandbox.admin.delete(f"/pipelines/{pipeline['id']}{query}").status_code == 204
    assert slots(sandbox, name) == left
    kept = sandbox.audit_records(pipeline["id"])[0]["after"]["kept"]
    assert (kept.get("slot_name"), kept["topics"]) == (name if left else None, pipeline["topics"])
    eventually(lambda: slots(sandbox, name, "active") == 0)
    with sandbox.postgresql.connect() as superuser:
        superuser.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", [name]
        )
