"""The offsets of a source that is stopped: they can be replaced, and Debezium compares them with its slot."""

from typing import Any

import pytest

from tests.contract.conftest import Shop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually

POSITIONS = ("lsn", "lsn_proc", "lsn_commit")


@pytest.fixture
def halted(running: dict[str, str], shop: Shop, connect: ConnectView) -> dict[str, str]:
    """The config of a source that has run, and is stopped."""
    eventually(lambda: offsets(connect, running), bool, seconds=60)
    connect.call("PUT", f"/connectors/{running['name']}/stop")
    connect.wait_for_states(running["name"], "STOPPED")
    eventually(shop.slots, lambda slots: slots == {running["slot.name"]: False})
    return running


def offsets(connect: ConnectView, config: dict[str, str]) -> list[dict[str, Any]]:
    found = connect.call("GET", f"/connectors/{config['name']}/offsets").json()["offsets"]
    assert isinstance(found, list)
    return found


def alter(connect: ConnectView, config: dict[str, str], position: int) -> Any:
    """Let it go on at a position, as if it had streamed up to there."""
    offset = dict.fromkeys(POSITIONS, position)
    changed = {"partition": {"server": config["topic.prefix"]}, "offset": offset}
    return connect.call("PATCH", f"/connectors/{config['name']}/offsets", {"offsets": [changed]})


def make_slot_again(shop: Shop, config: dict[str, str]) -> int:
    """The position at which the new slot begins."""
    shop.admin.execute("SELECT pg_drop_replication_slot(%s)", [config["slot.name"]])
    shop.admin.execute("UPDATE orders SET note = 'in the gap'")
    created = "SELECT lsn - '0/0'::pg_lsn FROM pg_create_logical_replication_slot(%s, 'pgoutput')"
    (position,) = shop.admin.execute(created, [config["slot.name"]]).fetchone() or (0,)
    return int(position)


def test_the_offset_of_a_stopped_source_is_replaced(halted: dict[str, str], connect: ConnectView) -> None:
    (before,) = offsets(connect, halted)
    assert before["partition"] == {"server": halted["topic.prefix"]}
    for _ in range(2):
        response = alter(connect, halted, 12345)
        assert (response.status_code, "altered successfully" in response.json()["message"]) == (200, True)
        changed = {"partition": before["partition"], "offset": dict.fromkeys(POSITIONS, 12345)}
        assert offsets(connect, halted) == [changed]


def test_the_offset_of_a_source_that_is_not_stopped_cannot_be_replaced(
    running: dict[str, str], connect: ConnectView
) -> None:
    response = alter(connect, running, 12345)
    assert response.status_code == 400
    assert "must be in the STOPPED state" in response.json()["message"]


def test_an_unknown_connector_has_no_offsets(connect: ConnectView) -> None:
    assert alter(connect, {"name": "nobody", "topic.prefix": "p"}, 1).status_code == 404


def test_a_source_does_not_start_before_the_beginning_of_its_slot_and_goes_on_at_it(
    halted: dict[str, str], shop: Shop, connect: ConnectView
) -> None:
    position = make_slot_again(shop, halted)
    alter(connect, halted, position - 100_000)
    path = f"/connectors/{halted['name']}"
    connect.call("PUT", f"{path}/resume")
    connect.wait_for_states(halted["name"], "RUNNING", "FAILED")
    assert "but this is no longer available on the server" in connect.trace(halted["name"])
    connect.call("PUT", f"{path}/stop")
    connect.wait_for_states(halted["name"], "STOPPED")
    assert alter(connect, halted, position).status_code == 200
    connect.call("PUT", f"{path}/resume")
    connect.wait_for_states(halted["name"], "RUNNING", "RUNNING")
    eventually(shop.slots, lambda slots: slots == {halted["slot.name"]: True})


def test_a_source_with_an_offset_does_not_start_without_its_slot(
    halted: dict[str, str], shop: Shop, connect: ConnectView
) -> None:
    shop.admin.execute("SELECT pg_drop_replication_slot(%s)", [halted["slot.name"]])
    connect.call("PUT", f"/connectors/{halted['name']}/resume")
    connect.wait_for_states(halted["name"], "RUNNING", "FAILED")
    assert "but this is no longer available on the server" in connect.trace(halted["name"])
