"""Sending ticks: to every cluster, whatever becomes of the message to another one. What ticks report to alerting."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from chalicelib.domain.pipeline import SnapshotMode
from chalicelib.errors import StoreUnavailable, TimedOut
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.stores.transaction import Transaction
from tests.faults.inspection import NO_SECRETS, PASSWORD_REFUSED
from tests.support.alerting.recording_bus import RecordingBus
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import InProcessApp


def register(app: InProcessApp, count: int) -> set[str]:
    """So many Connect clusters, without looking at them."""
    first = app.cluster
    ids = {first.id}
    for number in range(count - 1):
        cluster = replace(first, id=new_id(), name=f"copy {number}")
        transaction = Transaction()
        app.services.stores.resources.connects.put_new(transaction, cluster)
        transaction.commit()
        ids.add(cluster.id)
    return ids


def test_a_store_that_does_not_answer_says_nothing_about_connect(app: InProcessApp) -> None:
    data = replace(app.connect_input(app.connect.url, username="headgate"), secrets={"password": Secret("first")})
    cluster = app.services.connect_clusters.create(app.context(), data)
    app.tick(cluster)
    changed = replace(data, secrets={"password": Secret("second")})
    app.services.connect_clusters.update(app.context(), cluster.id, changed)
    stored = app.services.stores.resources.connects.get(cluster.id)
    app.services.stores.resources.connects.save_alone(replace(stored, credentials=cluster.credentials))
    app.restart()
    with pytest.raises(StoreUnavailable):
        app.tick(cluster)
    view = app.services.stores.connectors.observations.read([cluster.id])[cluster.id]
    assert (view.unreadable, view.unreadable_since) == (None, None)


def test_clusters_beyond_the_first_page_are_ticked_too(app: InProcessApp) -> None:
    ids, sent = register(app, 501), Counter[str]()

    def send(messages: Sequence[tuple[str, int]], _deadline: Deadline) -> int:
        sent.update(cluster_id for cluster_id, _ in messages)
        return len(messages)

    assert replace(app.services.tick, send=send).dispatch() == 501 * 6
    assert sent == dict.fromkeys(ids, 6)


def test_messages_that_the_queue_does_not_take_are_reported_at_the_end(app: InProcessApp) -> None:
    register(app, 5)
    with pytest.raises(StoreUnavailable, match=r"1 of 30 messages for ticks were not sent"):
        replace(app.services.tick, send=lambda messages, _: len(messages) - 1).dispatch()


def test_nothing_is_sent_after_the_deadline(app: InProcessApp) -> None:
    register(app, 2)
    app.interceptor.watch()
    with pytest.raises(StoreUnavailable, match=r"12 of 12"):
        app.services.tick.dispatch(within_seconds=0)
    assert [point.operation for point in app.interceptor.unwatch() if point.side is Side.QUEUE] == []


def test_what_is_desired_is_read_without_the_bodies_and_before_the_deadline(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.pipeline()  # a draft
    tick = app.services.tick
    (desired,) = tick._desired(app.cluster.id, Deadline.after(5))[0].values()
    assert (desired.resource_type, desired.resource_id, desired.restartable) == ("pipeline", pipeline.id, True)
    assert (desired.desired_state, desired.config_hash) == (pipeline.desired_state, pipeline.config_hash)
    reads_everything = replace(pipeline, capture=replace(pipeline.capture, snapshot_mode=SnapshotMode.ALWAYS))
    app.services.stores.resources.pipelines.save_alone(reads_everything)
    (desired,) = tick._desired(app.cluster.id, Deadline.after(5))[0].values()
    assert not desired.restartable
    with pytest.raises(TimedOut):
        tick._desired(app.cluster.id, Deadline.after(0))


def recording(app: InProcessApp) -> RecordingBus:
    """Keeps what the ticks of this process report."""
    bus = RecordingBus(behind=app.services.alerting.bus)
    app.services.tick = replace(app.services.tick, bus=bus)
    return bus


def test_a_failed_task_is_reported_by_the_tick_that_sees_it_and_its_recovery_as_well(app: InProcessApp) -> None:
    bus, pipeline = recording(app), app.deployed_pipeline()
    app.tick(times=4)
    bus.reports.clear()
    app.connect.fail_task(pipeline.connector_name, PASSWORD_REFUSED)
    app.tick()
    assert bus.codes == [["SOURCE_AUTH_FAILED"]]
    assert bus.reports[0].tasks == {pipeline.connector_name: frozenset({0})}
    assert bus.reports[0].at == app.clock.now
    app.services.pipelines.restart(app.context(), pipeline.id)
    app.connect.settle()
    app.tick()
    assert bus.codes[-1] == []


def test_quiet_ticks_report_once_a_minute_that_nothing_is_wrong(app: InProcessApp) -> None:
    bus = recording(app)
    app.deployed_pipeline()
    app.tick(times=4)
    bus.reports.clear()
    app.tick(times=18)
    assert bus.codes == [[], [], []]


def test_a_report_that_was_not_recorded_is_repeated_by_the_next_tick(app: InProcessApp) -> None:
    bus = recording(app)
    bus.records = False
    app.tick(times=3)
    assert len(bus.reports) == 3
    bus.records = True
    app.tick()
    app.tick()
    assert len(bus.reports) == 4


def test_a_new_process_knows_when_the_last_report_was_made(app: InProcessApp) -> None:
    recording(app)
    app.tick()
    app.restart()
    bus = recording(app)
    app.tick()
    assert bus.reports == []


def test_a_report_costs_no_write_of_its_own(app: InProcessApp) -> None:
    bus = recording(app)
    app.tick(times=3)
    app.clock.advance(50)
    bus.reports.clear()
    app.interceptor.watch()
    app.tick()
    written = [point for point in app.interceptor.unwatch() if point.side is Side.STORE and point.writes]
    assert (len(bus.reports), len(written)) == (1, 1)


def test_a_bus_that_fails_changes_nothing_else(app: InProcessApp) -> None:
    bus, pipeline = recording(app), app.deployed_pipeline()
    bus.error = RuntimeError("a bug")
    app.tick(times=4)
    app.connect.fail_task(pipeline.connector_name, PASSWORD_REFUSED, failing_restarts=1)
    app.tick()
    assert bus.reports
    assert [one.condition.code for one in app.services.incidents.list(limit=9).items] == ["SOURCE_AUTH_FAILED"]


def test_a_report_that_is_never_recorded_is_repeated_and_keeps_no_tick_from_its_repairs(app: InProcessApp) -> None:
    pipeline, bus = app.deployed_pipeline(), recording(app)
    app.tick(times=4)
    bus.records = False
    bus.reports.clear()
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    app.tick(times=3)
    assert bus.codes == [["CDC_CONNECTOR_FAILED"], ["CDC_CONNECTOR_FAILED"], []]
    assert app.connect.calls.count("POST", "/restart") > 0
