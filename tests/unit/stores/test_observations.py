"""Snapshots of Connect clusters: of any size, written in parts, used only when complete."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.cluster import ConnectCluster, PendingDeletions
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.orphans import Confirmation, Orphan
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView
from chalicelib.errors import WriteConflict
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.observations import ObservationRow, Observations
from chalicelib.stores.transaction import Transaction
from tests.support.call_interceptor import CallInterceptor, InterceptedCall, Point
from tests.support.tables import Tables
from tests.unit.stores.cluster_views import NOW, RECREATIONS, RESTARTS, after_a_read, view, view_for_tick


def calls_of_write(
    interceptor: CallInterceptor, observations: Observations, seen: ClusterView, *, changed: bool
) -> list[str]:
    """The calls to DynamoDB that a write makes."""
    later = after_a_read(observations, seen)
    interceptor.watch()
    assert observations.write("k", later, changed=changed)
    return [point.operation for point in interceptor.unwatch()]


def registered() -> tuple[ConnectClusters, str]:
    """The store of Connect clusters with one cluster, and its address."""
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
    assert read.desired == view(connectors).snapshot.desired
    assert {name: seen.state for name, seen in read.observed.items()} == dict.fromkeys(
        read.desired, ObservedState.RUNNING
    )
    assert (read.epoch, read.unsettled, read.missing) == (3, True, {"gone": NOW})
    assert (read.orphans, read.foreign) == ({"c0": Orphan(since=NOW, ours=True)}, {"c1": NOW})
    assert (read.recreations, read.restarts) == ({"c0": RECREATIONS}, {"c0": RESTARTS})
    assert read.drifted == {"c0": Drift(expected="hash", confirmed=True)}


def test_every_part_of_ten_thousand_connectors_fits_into_an_item(tables: Tables) -> None:
    Observations().write("k", view(10_000), changed=True)
    bodies = [row.body for row in ObservationRow.query("k") if row.body]
    assert max(len(body) for body in bodies) < 100_000


def test_one_changed_connector_writes_one_part(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    for row in ObservationRow.query("k", ObservationRow.part.startswith("body/")):
        row.update([ObservationRow.epoch.set(7)])  # a part that is written again loses this
    calls = calls_of_write(interceptor, observations, view(5_000, c7=ObservedState.FAILED), changed=True)
    assert calls == ["TransactWriteItems"]
    parts = ObservationRow.query("k", ObservationRow.part.startswith("body/"))
    assert [row.epoch for row in parts].count(0) == 1
    assert Observations().read(["k"])["k"].snapshot.observed["c7"].state is ObservedState.FAILED


def test_an_unchanged_observation_writes_no_part(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    later = view(5_000)
    observed_later = {
        name: replace(seen, observed_at=NOW + timedelta(hours=1)) for name, seen in later.snapshot.observed.items()
    }
    later = replace(later, snapshot=replace(later.snapshot, observed=observed_later))
    assert calls_of_write(interceptor, observations, later, changed=True) == ["UpdateItem"]


def test_a_body_that_the_process_has_is_not_read_again(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    interceptor.watch()
    observations.read(["k"])
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"]


def test_a_body_that_was_partly_written_is_not_used_and_then_written_again(tables: Tables) -> None:
    Observations().write("k", view(5_000), changed=True)
    ObservationRow("k", "body/3").delete()
    fresh = Observations()
    assert fresh.read(["k"])["k"].snapshot == ClusterSnapshot()
    assert fresh.write("k", after_a_read(fresh, view(5_000)), changed=True)
    assert len(Observations().read(["k"])["k"].snapshot.desired) == 5_000


def test_a_body_that_an_older_release_has_stored_counts_as_empty_and_is_written_again(tables: Tables) -> None:
    Observations().write("c", view(3), changed=True)
    old = {row.part: row for row in ObservationRow.query("c", consistent_read=True)}
    for row in old.values():
        row.digests = row.digests[1:]
        row.save()
    read = Observations().read(["c"])["c"]
    assert (read.snapshot, read.settled) == (ClusterSnapshot(), False)
    assert Observations().write("c", replace(read, snapshot=view(3).snapshot), changed=True)
    assert Observations().read(["c"])["c"].snapshot.desired == view(3).snapshot.desired


@pytest.mark.parametrize("changed", [True, False])
def test_of_two_ticks_at_the_same_time_only_the_first_write_succeeds(tables: Tables, changed: bool) -> None:
    first, second = Observations(), Observations()
    first.write("k", view(2), changed=True)
    views = [replace(one.read(["k"])["k"], observed_at=NOW) for one in (first, second)]
    failed = replace(views[0], snapshot=view(2, c0=ObservedState.FAILED).snapshot)
    late = replace(views[1], snapshot=view(2, c1=ObservedState.FAILED).snapshot)
    assert first.write("k", failed, changed=True)
    assert not second.write("k", late, changed=changed)
    states = {name: seen.state for name, seen in second.read(["k"])["k"].snapshot.observed.items()}
    assert states == {"c0": ObservedState.FAILED, "c1": ObservedState.RUNNING}


def test_an_unreadable_cluster_is_stored_even_after_another_write(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    assert observations.write("k", ClusterView(observed_at=NOW, unreadable="Out of reach."), changed=False)
    assert observations.read(["k"])["k"].unreadable == "Out of reach."


def test_a_tick_begins_with_one_call(tables: Tables, interceptor: CallInterceptor) -> None:
    clusters, address = registered()
    observations = Observations()
    observations.write("k", view(5_000), changed=True)
    interceptor.watch()
    cluster, seen = observations.cluster_and_view("k", clusters)
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"]
    assert cluster
    assert cluster.base_url == address
    assert seen == observations.read(["k"])["k"]


def test_a_head_whose_body_the_process_does_not_have_is_read_again_with_it(
    tables: Tables, interceptor: CallInterceptor
) -> None:
    clusters, _ = registered()
    Observations().write("k", view(3), changed=True)
    interceptor.watch()
    _, seen = Observations().cluster_and_view("k", clusters)
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"] * 3
    assert len(seen.snapshot.desired) == 3


def test_a_cluster_that_is_not_registered_has_no_registration(tables: Tables) -> None:
    assert Observations().cluster_and_view("k", ConnectClusters()) == (None, ClusterView())


def test_a_change_of_what_is_desired_is_counted_in_the_head(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    transaction = Transaction()
    observations.bump(transaction, "k")
    transaction.commit()
    seen = observations.read(["k"])["k"]
    assert (seen.epoch, len(seen.snapshot.desired)) == (1, 2)


def test_an_unreadable_cluster_keeps_its_snapshot(tables: Tables) -> None:
    observations = Observations()
    observations.write("k", view(2), changed=True)
    seen = observations.read(["k"])["k"]
    observations.write("k", replace(seen, unreadable="Out of reach."), changed=False)
    read = Observations().read(["k"])["k"]
    assert (read.unreadable, len(read.snapshot.desired)) == ("Out of reach.", 2)


# deletions that wait for a confirmation


def test_a_confirmation_replaces_the_deletions_that_it_is_for_and_no_others(tables: Tables) -> None:
    observations = Observations()
    pending = PendingDeletions(count=5, since=NOW, names=("c0",), newest=NOW)
    confirmation = Confirmation(newest=NOW, until=NOW + timedelta(hours=1))
    assert observations.write("k", replace(view(1), pending=pending), changed=True)
    assert Observations().heads(["k"])["k"].pending == pending
    with pytest.raises(WriteConflict):
        confirm(observations, replace(pending, count=6), confirmation)
    confirm(observations, pending, confirmation)
    head = Observations().heads(["k"])["k"]
    assert (head.pending, head.confirmation) == (None, confirmation)


def confirm(observations: Observations, pending: PendingDeletions, confirmation: Confirmation) -> None:
    transaction = Transaction()
    observations.confirm(transaction, "k", pending, confirmation)
    transaction.commit()


def test_a_tick_that_still_cannot_read_connect_keeps_the_confirmation(tables: Tables) -> None:
    observations = Observations()
    pending = PendingDeletions(count=5, since=NOW, names=(), newest=NOW)
    confirmation = Confirmation(newest=NOW, until=NOW)
    assert observations.write("k", replace(view(1), pending=pending), changed=True)
    late = replace(view_for_tick(observations), unreadable="Out of reach.", unreadable_since=NOW)
    confirm(observations, pending, confirmation)
    assert observations.write("k", late, changed=False)
    head = Observations().heads(["k"])["k"]
    assert (head.pending, head.confirmation) == (None, confirmation)


def test_a_snapshot_that_was_stored_only_in_part_is_marked(tables: Tables) -> None:
    Observations().write("k", view(1), changed=True)
    ObservationRow("k", "body/0").delete()
    assert Observations().read(["k"])["k"].torn


def test_a_body_that_is_written_while_it_is_read_is_read_again(tables: Tables, interceptor: CallInterceptor) -> None:
    """Between the read of the head and that of the body, a tick writes both."""
    writer, reader = Observations(), Observations()
    writer.write("k", view(1), changed=True)
    after = replace(writer.read(["k"])["k"], snapshot=view(1, c0=ObservedState.FAILED).snapshot)
    calls: list[Point] = []

    def write_after_the_first_read(point: Point, call: InterceptedCall) -> object:
        answer = call()
        if not calls:
            calls.append(point)
            assert writer.write("k", after, changed=True)
        return answer

    interceptor.watch(write_after_the_first_read)
    seen = reader.read(["k"])["k"]
    interceptor.unwatch()
    assert not seen.torn
    assert seen.snapshot.observed["c0"].state is ObservedState.FAILED
