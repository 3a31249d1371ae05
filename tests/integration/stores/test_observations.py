"""Snapshots of Connect clusters on moto: any size, written in parts, believed only when whole."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.restarts import Ailment, Restarts
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView, Wanted
from chalicelib.kit.ids import id_from
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.observations import ObservationRow, Observations
from chalicelib.stores.transaction import Transaction
from tests.support.call_interceptor import Gate
from tests.support.tables import Tables, on_moto

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RESTARTS = Restarts(count=2, tried_at=NOW, ailment=Ailment.FAILED, since=NOW)


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
    snapshot = ClusterSnapshot(
        epoch=3, unsettled=True, wanted=wanted, observed=observed, missing={"gone": NOW},
        restarts={"c0": RESTARTS}, drifted={"c0": Drift(given="hash", confirmed=True)},
    )  # fmt: skip
    return ClusterView(observed_at=NOW, snapshot=snapshot)


def over(observations: Observations, seen: ClusterView) -> ClusterView:
    """What was just seen, to be written over what is stored now."""
    return replace(seen, body=observations.read(["k"])["k"].body)


def written(gate: Gate, observations: Observations, seen: ClusterView, *, changed: bool) -> list[str]:
    """The calls to the store that a write makes."""
    later = over(observations, seen)
    gate.watch()
    assert observations.write("k", later, changed=changed)
    return [point.what for point in gate.unwatch()]


def registered() -> tuple[ConnectClusters, str]:
    """A Connect cluster in its table."""
    clusters, now = ConnectClusters(), NOW
    cluster = ConnectCluster(
        id="k", name="connect", base_url="http://connect:8083", stream_cluster_id="s",
        credentials=Credentials(id="c"), created_at=now, updated_at=now,
    )  # fmt: skip
    transaction = Transaction()
    clusters.put_new(transaction, cluster)
    transaction.commit()
    return clusters, cluster.base_url


@pytest.mark.parametrize("connectors", [0, 1, 400, 401, 5_000])
def test_another_process_reads_what_was_written(tables: Tables, connectors: int) -> None:
    Observations().write("k", view(connectors), changed=True)
    read = Observations().read(["k"])["k"].snapshot
    assert read.wanted == view(connectors).snapshot.wanted
    assert {name: seen.state for name, seen in read.observed.items()} == dict.fromkeys(
        read.wanted, ObservedState.RUNNING
    )
    assert (read.epoch, read.unsettled, read.missing) == (3, True, {"gone": NOW})
    assert read.restarts == {"c0": RESTARTS}
    assert read.drifted == {"c0": Drift(given="hash", confirmed=True)}


def test_every_part_of_ten_thousand_connectors_fits_into_an_item(tables: Tables) -> None:
    Observations().write("k", view(10_000), changed=True)
    bodies = [row.body for row in ObservationRow.query("k") if row.body]
    assert max(len(body) for body in bodies) < 100_000


def test_one_changed_connector_costs_one_part(tables: Tables, gate: Gate) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    calls = written(gate, observations, view(5_000, c7=ObservedState.FAILED), changed=True)
    assert calls == ["UpdateItem", "PutItem"]
    assert Observations().read(["k"])["k"].snapshot.observed["c7"].state is ObservedState.FAILED


def test_a_later_look_at_the_same_costs_no_part(tables: Tables, gate: Gate) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    later = view(5_000)
    moved = {
        name: replace(seen, observed_at=NOW + timedelta(hours=1)) for name, seen in later.snapshot.observed.items()
    }
    later = replace(later, snapshot=replace(later.snapshot, observed=moved))
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
    assert fresh.read(["k"])["k"].snapshot == ClusterSnapshot()
    assert fresh.write("k", over(fresh, view(5_000)), changed=True)
    assert len(Observations().read(["k"])["k"].snapshot.wanted) == 5_000


@pytest.mark.parametrize("changed", [True, False])
def test_of_two_ticks_at_the_same_moment_the_first_one_counts(tables: Tables, changed: bool) -> None:
    first, second = Observations(), Observations()
    first.write("k", view(2), changed=True)
    begins = [replace(one.read(["k"])["k"], observed_at=NOW) for one in (first, second)]
    failed = replace(begins[0], snapshot=view(2, c0=ObservedState.FAILED).snapshot)
    late = replace(begins[1], snapshot=view(2, c1=ObservedState.FAILED).snapshot)
    assert first.write("k", failed, changed=True)
    assert not second.write("k", late, changed=changed)
    states = {name: seen.state for name, seen in second.read(["k"])["k"].snapshot.observed.items()}
    assert states == {"c0": ObservedState.FAILED, "c1": ObservedState.RUNNING}


def test_that_connect_could_not_be_read_is_noted_whatever_was_stored_meanwhile(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    assert observations.write("k", ClusterView(observed_at=NOW, unreadable="Out of reach."), changed=False)
    assert observations.read(["k"])["k"].unreadable == "Out of reach."


def test_a_tick_begins_with_one_call(tables: Tables, gate: Gate) -> None:
    clusters, address = registered()
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    gate.watch()
    cluster, seen = observations.look("k", clusters)
    assert [point.what for point in gate.unwatch()] == ["BatchGetItem"]
    assert cluster
    assert cluster.base_url == address
    assert seen == observations.read(["k"])["k"]


def test_a_head_whose_body_is_new_to_the_process_is_read_once_more_before_it_is_believed(
    tables: Tables, gate: Gate
) -> None:
    clusters, _ = registered()
    Observations().write("k", view(3), changed=True)
    gate.watch()
    _, seen = Observations().look("k", clusters)
    assert [point.what for point in gate.unwatch()] == ["BatchGetItem"] * 3
    assert len(seen.snapshot.wanted) == 3


def test_a_cluster_that_is_not_registered_has_no_registration(tables: Tables) -> None:
    assert Observations().look("k", ConnectClusters()) == (None, ClusterView())


def test_a_change_of_what_is_wanted_is_counted_beside_the_body(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    transaction = Transaction()
    observations.bump(transaction, "k")
    transaction.commit()
    seen = observations.read(["k"])["k"]
    assert (seen.epoch, len(seen.snapshot.wanted)) == (1, 2)


def test_an_unreadable_cluster_keeps_what_was_known(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    seen = observations.read(["k"])["k"]
    observations.write("k", replace(seen, unreadable="Out of reach."), changed=False)
    read = Observations().read(["k"])["k"]
    assert (read.unreadable, len(read.snapshot.wanted)) == ("Out of reach.", 2)
