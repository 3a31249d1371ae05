"""A column is renamed under a running delivery on the real stack: discovery says what really happens to the target."""

import pytest

from tests.support.apps.real_headgate import Json, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real


def test_a_renamed_column_is_told_at_the_delivery_whose_target_keeps_the_old_one(headgate: RealHeadgate) -> None:
    source, target = headgate.database("renamed"), headgate.database("renamed_copy")
    source.run(
        "CREATE TABLE shop.orders (id int PRIMARY KEY, price int, note text)",
        "ALTER TABLE shop.orders OWNER TO {role}",
        "INSERT INTO shop.orders VALUES (1, 10, 'a')",
    )
    pipeline = headgate.captured(source, "orders")
    destination = headgate.destination(target)
    delivery = headgate.deliver(
        destination, headgate.delivery_body(pipeline, {pipeline["topics"][0]: "orders"}, auto_evolve=True)
    )
    source.run("ALTER TABLE shop.orders RENAME price TO amount", "INSERT INTO shop.orders VALUES (2, 20, 'b')")
    changes = discovered_changes(headgate, pipeline["source_id"])
    assert (changes["versions"], changes["breaking"]) == (1, 1)
    (named,) = changes["affected"]
    assert (named["type"], named["id"], named["name"]) == ("delivery", delivery["id"], delivery["name"])
    (newest, _) = headgate.get(f"/data/schemas?source_id={pipeline['source_id']}&schema=shop&table=orders")
    assert newest["affects"] == [named]
    (incident,) = headgate.get(f"/operations/errors?active=true&destination_id={destination['id']}")
    assert (incident["code"], incident["delivery_id"]) == ("SCHEMA_CHANGED", delivery["id"])
    assert incident["message"] == named["consequence"]
    # It is true: the target has both columns, and the old one keeps what it had.
    eventually(
        lambda: target.content("shop", "orders", ["id", "price", "amount"]),
        lambda rows: rows == ["(1,10,)", "(2,,20)"],
        seconds=60,
    )
    assert discovered_changes(headgate, pipeline["source_id"])["versions"] == 0
    headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, source)


def discovered_changes(headgate: RealHeadgate, source_id: str) -> Json:
    """What the result of a discovery says about schemas."""
    job = headgate.post(f"/sources/{source_id}/discover")
    done = eventually(
        lambda: headgate.get(f"/jobs/{job['id']}"), lambda seen: seen["status"] in ("COMPLETED", "FAILED")
    )
    assert done["status"] == "COMPLETED", done
    return dict(done["result"]["schema_changes"])
