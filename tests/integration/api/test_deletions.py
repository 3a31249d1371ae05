"""Deleting with `forget=true` and `drop_slot=true`, over HTTP."""

import pytest

from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Sandbox
from tests.support.waiting import eventually


def test_nothing_is_forgotten_while_connect_answers(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    for path in (
        f"/deliveries/{delivery['id']}",
        f"/destinations/{delivery['destination_id']}/deliveries/{delivery['id']}",
        f"/pipelines/{sandbox.running_pipeline()['id']}",
    ):
        assert_error(sandbox.admin.delete(f"{path}?forget=true"), 409, "STATE_CONFLICT")


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
