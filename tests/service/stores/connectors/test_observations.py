"""Memories of Connect clusters: of any size, written in parts, used only when complete."""

import json
import time
import zlib
from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.addresses import ConnectAddress
from chalicelib.domain.cluster import ChangeKind, ConnectCluster, PendingChanges
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.confirmations import Confirmation
from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import NOTHING, ClusterMemory, ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.orphans import Orphan
from chalicelib.domain.connectors.step import ConnectorLook, step
from chalicelib.domain.connectors.workers import OTHER_KAFKA
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.errors import StoreBusy, WriteConflict
from chalicelib.kit.ids import id_from
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.connectors.observations import ObservationRow, Observations
from chalicelib.stores.transaction import Transaction
from tests.service.stores.cluster_views import NOW, RECREATIONS, RESTARTS, after_a_read, running, view, view_for_tick
from tests.service.stores.test_transaction import refused
from tests.support.apps.call_interceptor import CallInterceptor, InterceptedCall, Point
from tests.support.apps.tables import Tables
from tests.support.connectors import reported
from tests.support.entities import store_new


def calls_of_write(
    interceptor: CallInterceptor, observations: Observations, seen: ClusterView, *, changed: bool
) -> list[str]:
    later = after_a_read(observations, seen)
    interceptor.watch()
    assert observations.write("k", later, changed=changed)
    return [point.operation for point in interceptor.unwatch()]


def written(connectors: int) -> Observations:
    """The store of the process that has written a view of so many connectors."""
    observations = Observations()
    assert observations.write("k", view(connectors), changed=True)
    return observations


def registered() -> tuple[ConnectClusters, ConnectAddress]:
    """The store of Connect clusters with one cluster, and its address."""
    clusters = ConnectClusters()
    cluster = ConnectCluster(
        id="k", name="connect", address=ConnectAddress(base_url="http://connect:8083"), stream_cluster_id="s",
        credentials=Credentials(id="c"), created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    store_new(clusters, cluster)
    return clusters, cluster.address


@pytest.mark.parametrize("connectors", [0, 1, 400, 401, 5_000])
def test_another_process_reads_what_was_written(tables: Tables, connectors: int) -> None:
    written(connectors)
    read = Observations().read(["k"])["k"].memory
    assert (read.epoch, read.unsettled) == (3, True)
    assert read.desired == view(connectors).memory.desired
    assert set(states(read).values()) <= {ObservedState.RUNNING}
    assert len(states(read)) == connectors


def test_a_storm_of_failed_tasks_fits_into_items(tables: Tables) -> None:
    """Each of 400 connectors has 64 failed tasks, with a condition each. DynamoDB's items have at most 400 KB."""
    resource_ids = [id_from("storm", str(number)) for number in range(400)]
    connectors = {}
    for resource_id in resource_ids:
        name = connector_name(ConnectorKind.SINK, resource_id)
        status = reported(name, "RUNNING", *["FAILED"] * 64, diagnosis=Diagnosis.CONNECTION)
        desired = DesiredConnector(
            resource_type="delivery", resource_id=resource_id, desired_state=DesiredState.RUNNING, config_hash="a"
        )
        connectors[name] = step(NOTHING, ConnectorLook(name=name, status=status, desired=desired), NOW).memory
    stored = ClusterMemory(epoch=3, connectors=connectors)
    assert Observations().write("k", replace(view(0), memory=stored), changed=True)
    sizes = [len(row.body) for row in ObservationRow.query("k", ObservationRow.part.startswith("body/"))]
    assert max(sizes) < 200_000
    read = Observations().read(["k"])["k"].memory.connectors
    assert {name: memory.conditions for name, memory in read.items()} == {
        name: memory.conditions for name, memory in connectors.items()
    }


def states(memory: ClusterMemory) -> dict[str, ObservedState]:
    return {name: known.observation.state for name, known in memory.connectors.items() if known.observation}


EVENTFUL = replace(
    running("c0"), missing_since=NOW, wrong_since=NOW, reverted_at=(NOW, NOW), unassigned_since=NOW,
    recreations=RECREATIONS, restarts=RESTARTS, drift=Drift(expected="hash", confirmed=True),
    findings=(Finding(code=FindingCode.STALLED, message="It stands still."),),
    conditions=(Condition(
        code=ConditionCode.STALLED, resource_type="pipeline", resource_id="r", message="It stands still.",
        connector_name="c0", task_id=0,
    ),),
)  # fmt: skip


@pytest.mark.parametrize(
    "known",
    [EVENTFUL, ConnectorMemory(orphan=Orphan(since=NOW, ours=True)), ConnectorMemory(foreign_until=NOW)],
    ids=["desired", "orphan", "foreign"],
)
def test_all_that_a_tick_remembers_of_a_connector_is_read_again(tables: Tables, known: ConnectorMemory) -> None:
    Observations().write("k", ClusterView(memory=ClusterMemory(connectors={"c0": known})), changed=True)
    read = Observations().read(["k"])["k"].memory.of("c0")
    if known.observation and read.observation:
        read = replace(read, observation=replace(read.observation, observed_at=NOW))
    assert read == known


def test_what_is_at_its_default_is_not_stored(tables: Tables) -> None:
    foreign = ClusterMemory(connectors={"c0": ConnectorMemory(foreign_until=NOW)})
    Observations().write("k", ClusterView(memory=foreign), changed=True)
    (body,) = [row.body for row in ObservationRow.query("k") if row.body]
    assert json.loads(zlib.decompress(body)) == {"connectors": {"c0": {"foreign_until": "2026-01-01T00:00:00Z"}}}


def test_every_part_of_ten_thousand_connectors_fits_into_an_item(tables: Tables) -> None:
    written(10_000)
    bodies = [row.body for row in ObservationRow.query("k") if row.body]
    assert max(len(body) for body in bodies) < 100_000


def test_one_changed_connector_writes_one_part(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = written(5_000)
    for row in ObservationRow.query("k", ObservationRow.part.startswith("body/")):
        row.update([ObservationRow.epoch.set(7)])  # a part that is written again loses this
    calls = calls_of_write(interceptor, observations, view(5_000, c7=ObservedState.FAILED), changed=True)
    assert calls == ["TransactWriteItems"]
    parts = ObservationRow.query("k", ObservationRow.part.startswith("body/"))
    assert [row.epoch for row in parts].count(0) == 1
    assert states(Observations().read(["k"])["k"].memory)["c7"] is ObservedState.FAILED


def test_an_unchanged_observation_writes_no_part(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = written(5_000)
    later = Observation(state=ObservedState.RUNNING, observed_at=NOW + timedelta(hours=1))
    connectors = {name: replace(known, observation=later) for name, known in view(5_000).memory.connectors.items()}
    seen_later = view(5_000)
    seen_later = replace(seen_later, memory=replace(seen_later.memory, connectors=connectors))
    assert calls_of_write(interceptor, observations, seen_later, changed=True) == ["UpdateItem"]


def test_a_body_that_the_process_has_is_not_read_again(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = written(5_000)
    interceptor.watch()
    observations.read(["k"])
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"]


def test_a_body_that_was_partly_written_is_not_used_and_then_written_again(tables: Tables) -> None:
    written(5_000)
    ObservationRow("k", "body/3").delete()
    fresh = Observations()
    assert fresh.read(["k"])["k"].memory == ClusterMemory()
    assert fresh.write("k", after_a_read(fresh, view(5_000)), changed=True)
    assert len(Observations().read(["k"])["k"].memory.desired) == 5_000


@pytest.mark.parametrize("changed", [True, False])
def test_of_two_ticks_at_the_same_time_only_the_first_write_succeeds(tables: Tables, changed: bool) -> None:
    first, second = Observations(), Observations()
    first.write("k", view(2), changed=True)
    views = [replace(one.read(["k"])["k"], observed_at=NOW) for one in (first, second)]
    failed = replace(views[0], memory=view(2, c0=ObservedState.FAILED).memory)
    late = replace(views[1], memory=view(2, c1=ObservedState.FAILED).memory)
    assert first.write("k", failed, changed=True)
    assert not second.write("k", late, changed=changed)
    assert states(second.read(["k"])["k"].memory) == {"c0": ObservedState.FAILED, "c1": ObservedState.RUNNING}


def test_an_unreadable_cluster_is_stored_even_after_another_write(tables: Tables) -> None:
    observations = written(2)
    assert observations.write("k", ClusterView(observed_at=NOW, unreadable="Out of reach."), changed=False)
    assert observations.read(["k"])["k"].unreadable == "Out of reach."


def test_a_tick_begins_with_one_call(tables: Tables, interceptor: CallInterceptor) -> None:
    clusters, address = registered()
    observations = written(5_000)
    interceptor.watch()
    cluster, seen = observations.cluster_and_view("k", clusters)
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"]
    assert cluster
    assert cluster.address == address
    assert seen == observations.read(["k"])["k"]


def test_a_head_whose_body_the_process_does_not_have_is_read_again_with_it(
    tables: Tables, interceptor: CallInterceptor
) -> None:
    clusters, _ = registered()
    written(3)
    interceptor.watch()
    _, seen = Observations().cluster_and_view("k", clusters)
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"] * 3
    assert len(seen.memory.desired) == 3


def test_a_cluster_that_is_not_registered_has_no_registration(tables: Tables) -> None:
    assert Observations().cluster_and_view("k", ConnectClusters()) == (None, ClusterView())


def test_each_change_of_what_is_desired_raises_the_epoch_that_a_tick_reads(tables: Tables) -> None:
    observations = written(2)
    for number in range(20):
        with Transaction() as transaction:
            observations.bump(transaction, "k", id_from("resource", str(number % 10)))
        seen = view_for_tick(observations)
        assert (seen.epoch, len(seen.memory.desired)) == (number + 1, 2)


def test_a_change_before_the_first_tick_is_counted(tables: Tables) -> None:
    with Transaction() as transaction:
        Observations().bump(transaction, "k", "resource")
    assert view_for_tick(Observations()) == ClusterView(epoch=1)


def test_neither_a_tick_nor_an_operation_of_another_resource_writes_the_row_of_an_operation(
    tables: Tables, interceptor: CallInterceptor
) -> None:
    observations, resources = Observations(), [id_from("resource", str(number)) for number in range(40)]
    observations.write("k", view(2), changed=True)
    of_ticks = {row["part"] for row in tables.rows("observations")}
    for resource_id in resources:
        with Transaction() as transaction:
            observations.bump(transaction, "k", resource_id)
    of_operations = {row["part"] for row in tables.rows("observations")} - of_ticks
    assert len(of_operations) == 8
    interceptor.watch()
    seen = view_for_tick(observations)
    assert observations.write("k", replace(seen, observed_at=NOW + timedelta(seconds=10)), changed=False)
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem", "UpdateItem"]


CONFLICT = refused("TransactionConflictException")
CANCELLED = refused("TransactionCanceledException", "TransactionConflict")


@pytest.mark.parametrize(("answer", "changed"), [(CONFLICT, False), (CANCELLED, True)], ids=["head", "head and parts"])
def test_a_tick_whose_write_meets_a_transaction_was_not_the_fastest(
    tables: Tables, interceptor: CallInterceptor, answer: object, changed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    observations = written(2)
    seen = replace(view(2, c1=ObservedState.FAILED), write_id=view_for_tick(observations).write_id)
    interceptor.watch(lambda _point, _send: answer)
    assert observations.write("k", seen, changed=changed) is None
    interceptor.unwatch()
    assert observations.write("k", seen, changed=changed)


def test_a_tick_whose_write_is_throttled_fails(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = Observations()
    interceptor.watch(lambda _point, _send: refused("ThrottlingException"))
    with pytest.raises(StoreBusy):
        observations.write("k", view(2), changed=False)


def test_an_unreadable_cluster_keeps_its_memory(tables: Tables) -> None:
    observations = written(2)
    seen = observations.read(["k"])["k"]
    observations.write("k", replace(seen, unreadable="Out of reach."), changed=False)
    read = Observations().read(["k"])["k"]
    assert (read.unreadable, len(read.memory.desired)) == ("Out of reach.", 2)


# deletions that wait for a confirmation


def test_what_is_wrong_with_the_workers_and_creations_that_wait_are_stored(tables: Tables) -> None:
    observations = Observations()
    pending = PendingChanges(count=5, since=NOW, names=("c0",), newest=NOW)
    confirmation = Confirmation(newest=NOW, until=NOW + timedelta(hours=1))
    waiting = replace(view(1), pending_creations=pending, fault=OTHER_KAFKA)
    assert observations.write("k", waiting, changed=True)
    head = Observations().heads(["k"])["k"]
    assert (head.pending, head.pending_creations, head.fault) == (None, pending, OTHER_KAFKA)
    confirm(observations, pending, confirmation, ChangeKind.CREATIONS)
    head = Observations().heads(["k"])["k"]
    assert (head.pending_creations, head.creations_confirmation, head.confirmation) == (None, confirmation, None)


def test_a_confirmation_replaces_the_deletions_that_it_is_for_and_no_others(tables: Tables) -> None:
    observations = Observations()
    pending = PendingChanges(count=5, since=NOW, names=("c0",), newest=NOW)
    confirmation = Confirmation(newest=NOW, until=NOW + timedelta(hours=1))
    assert observations.write("k", replace(view(1), pending=pending), changed=True)
    assert Observations().heads(["k"])["k"].pending == pending
    with pytest.raises(WriteConflict):
        confirm(observations, replace(pending, count=6), confirmation)
    confirm(observations, pending, confirmation)
    head = Observations().heads(["k"])["k"]
    assert (head.pending, head.confirmation) == (None, confirmation)


def confirm(
    observations: Observations,
    pending: PendingChanges,
    confirmation: Confirmation,
    kind: ChangeKind = ChangeKind.DELETIONS,
) -> None:
    with Transaction() as transaction:
        observations.confirm(transaction, "k", kind, pending, confirmation)


def test_a_tick_that_still_cannot_read_connect_keeps_the_confirmation(tables: Tables) -> None:
    observations = Observations()
    pending = PendingChanges(count=5, since=NOW, names=(), newest=NOW)
    confirmation = Confirmation(newest=NOW, until=NOW)
    assert observations.write("k", replace(view(1), pending=pending), changed=True)
    late = replace(view_for_tick(observations), unreadable="Out of reach.", unreadable_since=NOW)
    confirm(observations, pending, confirmation)
    assert observations.write("k", late, changed=False)
    head = Observations().heads(["k"])["k"]
    assert (head.pending, head.confirmation) == (None, confirmation)


def test_a_memory_that_was_stored_only_in_part_is_marked(tables: Tables) -> None:
    written(1)
    ObservationRow("k", "body/0").delete()
    assert Observations().read(["k"])["k"].torn


def test_a_body_that_is_written_while_it_is_read_is_read_again(tables: Tables, interceptor: CallInterceptor) -> None:
    """Between the read of the head and that of the body, a tick writes both."""
    writer, reader = Observations(), Observations()
    writer.write("k", view(1), changed=True)
    after = replace(writer.read(["k"])["k"], memory=view(1, c0=ObservedState.FAILED).memory)
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
    assert states(seen.memory) == {"c0": ObservedState.FAILED}
