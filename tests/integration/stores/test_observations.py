"""Snapshots of Connect clusters on moto: any size, written in parts, believed only when whole."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.cluster_view import ClusterView, Remembered, Wanted
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.kit.ids import id_from
from chalicelib.stores.observations import ObservationRow, Observations
from chalicelib.stores.transaction import Transaction
from tests.support.gate import Gate
from tests.support.tables import Tables, on_moto

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate()


@pytest.fixture(scope="module")
def all_tables(gate: Gate) -> Iterator[Tables]:
    with on_moto(gate) as made:
        yield made


@pytest.fixture
def tables(all_tables: Tables) -> Iterator[Tables]:
    empty = all_tables.keep()
    yield all_tables
    all_tables.restore(empty)


def view(connectors: int, **changes: ObservedState) -> ClusterView:
    """Every connector runs, but for those that are named."""
    names = [f"c{number}" for number in range(connectors)]
    wanted = {
        name: Wanted(
            resource_type="pipeline", resource_id=id_from(name), desired_state=DesiredState.RUNNING,
            config_hash=id_from("hash", name) * 2,
        )
        for name in names
    }  # fmt: skip
    observed = {name: Observation(state=changes.get(name, ObservedState.RUNNING), observed_at=NOW) for name in names}
    remembered = Remembered(epoch=3, unsettled=True, wanted=wanted, observed=observed, missing={"gone": NOW})
    return ClusterView(observed_at=NOW, remembered=remembered)


def written(gate: Gate, observations: Observations, seen: ClusterView, *, changed: bool) -> list[str]:
    """The calls to the store that a write makes."""
    gate.watch()
    observations.write("k", seen, changed=changed)
    return [point.what for point in gate.unwatch()]


@pytest.mark.parametrize("connectors", [0, 1, 400, 401, 5_000])
def test_another_process_reads_what_was_written(tables: Tables, connectors: int) -> None:
    Observations().write("k", view(connectors), changed=True)
    read = Observations().read(["k"])["k"].remembered
    assert read.wanted == view(connectors).remembered.wanted
    assert {name: seen.state for name, seen in read.observed.items()} == dict.fromkeys(
        read.wanted, ObservedState.RUNNING
    )
    assert (read.epoch, read.unsettled, read.missing) == (3, True, {"gone": NOW})


def test_every_part_of_ten_thousand_connectors_fits_into_an_item(tables: Tables) -> None:
    Observations().write("k", view(10_000), changed=True)
    bodies = [row.body for row in ObservationRow.query("k") if row.body]
    assert max(len(body) for body in bodies) < 100_000


def test_one_changed_connector_costs_one_part(tables: Tables, gate: Gate) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    calls = written(gate, observations, view(5_000, c7=ObservedState.FAILED), changed=True)
    assert calls == ["UpdateItem", "PutItem"]
    assert Observations().read(["k"])["k"].remembered.observed["c7"].state is ObservedState.FAILED


def test_a_later_look_at_the_same_costs_no_part(tables: Tables, gate: Gate) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    later = view(5_000)
    moved = {
        name: replace(seen, observed_at=NOW + timedelta(hours=1)) for name, seen in later.remembered.observed.items()
    }
    later = replace(later, remembered=replace(later.remembered, observed=moved))
    assert written(gate, observations, later, changed=True) == ["UpdateItem"]


def test_a_body_that_is_known_is_not_read_again(tables: Tables, gate: Gate) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    gate.watch()
    observations.read(["k"])
    assert [point.what for point in gate.unwatch()] == ["BatchGetItem"]


def test_a_body_whose_writer_died_half_way_is_not_believed_and_then_written_anew(tables: Tables) -> None:
    Observations().write("k", view(5_000), changed=True)
    ObservationRow("k", "body/3").delete()
    fresh = Observations()
    assert fresh.read(["k"])["k"].remembered == Remembered()
    fresh.write("k", view(5_000), changed=True)
    assert len(Observations().read(["k"])["k"].remembered.wanted) == 5_000


def test_of_two_ticks_at_the_same_moment_the_first_one_counts(tables: Tables) -> None:
    first, second = Observations(), Observations()
    for one in (first, second):
        one.read(["k"])
    first.write("k", view(2, c0=ObservedState.FAILED), changed=True)
    second.write("k", view(2, c1=ObservedState.FAILED), changed=True)
    states = {name: seen.state for name, seen in second.read(["k"])["k"].remembered.observed.items()}
    assert states == {"c0": ObservedState.FAILED, "c1": ObservedState.RUNNING}


def test_a_change_of_what_is_wanted_is_counted_beside_the_body(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    transaction = Transaction()
    observations.bump(transaction, "k")
    transaction.commit()
    seen = observations.read(["k"])["k"]
    assert (seen.epoch, len(seen.remembered.wanted)) == (1, 2)


def test_an_unreadable_cluster_keeps_what_was_known(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    seen = observations.read(["k"])["k"]
    observations.write("k", replace(seen, unreadable="Out of reach."), changed=False)
    read = Observations().read(["k"])["k"]
    assert (read.unreadable, len(read.remembered.wanted)) == ("Out of reach.", 2)
