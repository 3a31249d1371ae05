"""Sinks of two dialects of SQL on one Connect cluster are started one kind after the other."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.connectors.sink_starts import MAKES_TABLES_FOR, SinkStart, dialect_warnings
from chalicelib.domain.delivery import Delivery, TableWriting
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.table import TableName
from chalicelib.errors import Conflict
from chalicelib.kit.ids import new_id
from chalicelib.stores.connectors.sink_starts import SinkStarts
from tests.support.apps.in_process_app import InProcessApp

ORDERS = TableName("target", "orders")
OTHER = "MySQL"


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests wait less long than in production, and less long than another dialect has its time."""
    monkeypatch.setattr("chalicelib.services.connectors.lifecycle.WAIT_SECONDS", 0.2)
    monkeypatch.setattr("chalicelib.services.connectors.sink_starts._TABLE_SECONDS", 0.2)


def store(app: InProcessApp) -> SinkStarts:
    return app.services.stores.connectors.sink_starts


def take(app: InProcessApp, dialect: str = OTHER, holder: str | None = None) -> SinkStart | None:
    """Another sink is started now, if it may."""
    now = app.clock()
    return store(app).take(app.cluster.id, dialect, holder or new_id(), now, now + MAKES_TABLES_FOR)


def deploy(app: InProcessApp, **options: Any) -> Delivery:
    made = replace(app.delivery_input(app.deployed_pipeline()), options=options)
    return app.services.deliveries.deploy(app.context(), app.destination().id, made)


def made_tables(app: InProcessApp) -> None:
    """The sink has made the table of the delivery."""
    app.database.target_tables[ORDERS] = WatchedTable(
        name=ORDERS, identity="1", storage="1", partitions=0, rows=1, live=1, deleted=0, countable=True
    )


def state(app: InProcessApp, delivery: Delivery) -> tuple[ObservedState, Sequence[str]]:
    observation = app.services.deliveries.get(delivery.id).observation
    assert observation is not None
    return observation.state, observation.reasons


def test_a_delivery_that_nothing_hinders_is_started_by_its_deploy(app: InProcessApp) -> None:
    delivery = deploy(app)
    assert state(app, delivery)[0] is ObservedState.RUNNING
    assert store(app).dialects(app.cluster.id) == {"PostgreSQL"}


def test_while_another_dialect_makes_its_tables_a_deploy_waits_and_a_tick_starts_the_sink(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    take(app)
    made = app.delivery_input(pipeline)
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, made)
    observed, reasons = state(app, delivery)
    assert (delivery.desired_state, observed) == (DesiredState.RUNNING, ObservedState.STOPPED)
    assert any("It waits until sinks to another kind of database" in reason for reason in reasons)
    app.tick(times=1)
    assert state(app, delivery)[0] is ObservedState.STOPPED
    app.tick(times=4)
    assert state(app, delivery)[0] is ObservedState.RUNNING
    assert store(app).dialects(app.cluster.id) == {OTHER, "PostgreSQL"}


def test_sinks_of_the_same_dialect_do_not_wait_for_each_other(app: InProcessApp) -> None:
    take(app, "PostgreSQL")
    assert state(app, deploy(app))[0] is ObservedState.RUNNING


@pytest.mark.parametrize("kind", [OperationKind.RESUME, OperationKind.RESTART, OperationKind.RESTART_TASK])
def test_who_starts_a_sink_by_hand_is_told_to_wait(app: InProcessApp, kind: OperationKind) -> None:
    delivery = deploy(app)
    parameters = {"task": 0} if kind is OperationKind.RESTART_TASK else {}
    if kind is OperationKind.RESUME:
        app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    app.clock.advance(MAKES_TABLES_FOR.total_seconds())
    take(app)
    with pytest.raises(Conflict, match="Repeat this in half a minute"):
        app.services.deliveries.control(app.context(), delivery.id, kind, **parameters)
    assert app.services.deliveries.get(delivery.id).open_operation is None
    app.clock.advance(MAKES_TABLES_FOR.total_seconds())
    app.services.deliveries.control(app.context(), delivery.id, kind, **parameters)
    app.tick(times=2)
    assert state(app, delivery)[0] is ObservedState.RUNNING


def test_to_pause_a_sink_never_waits(app: InProcessApp) -> None:
    delivery = deploy(app)
    app.clock.advance(MAKES_TABLES_FOR.total_seconds())
    take(app)
    app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    app.tick()
    assert state(app, delivery)[0] is ObservedState.PAUSED


def test_a_capture_is_started_beside_every_sink(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    take(app)
    app.services.pipelines.control(app.context(), pipeline.id, OperationKind.RESTART)
    app.tick(times=2)
    observation = app.services.pipelines.get(pipeline.id).observation
    assert observation is not None
    assert observation.state is ObservedState.RUNNING


def test_once_its_tables_exist_a_delivery_lets_others_start(app: InProcessApp) -> None:
    take(app)
    app.clock.advance(MAKES_TABLES_FOR.total_seconds())
    made_tables(app)
    deploy(app)
    assert take(app) is not None


def test_a_delivery_that_makes_no_tables_lets_others_start_at_once(app: InProcessApp) -> None:
    take(app)
    app.clock.advance(MAKES_TABLES_FOR.total_seconds())
    delivery, context = deploy(app), app.context()
    assert take(app) is None
    makes_none = replace(delivery, writing=replace(delivery.writing, auto_create=False, auto_evolve=False))
    starter, deadline = app.services.deliveries.connector.starter, context.deadline
    destination = app.services.destinations.get(delivery.destination_id)
    assert starter.start(makes_none, destination, "PostgreSQL", lambda: None, deadline, deadline)
    assert take(app) is not None


def test_the_end_of_one_start_does_not_end_another_one(app: InProcessApp) -> None:
    first, second = take(app, "PostgreSQL", "first"), take(app, "PostgreSQL", "second")
    assert first is not None
    assert second is not None
    assert (first.alone, second.alone) == (True, False)
    store(app).end(first, app.clock())
    assert take(app) is None
    # The same delivery may be started again, as after a lost reply.
    again = take(app, "PostgreSQL", "second")
    assert again is not None
    assert again.alone
    store(app).end(again, app.clock())
    assert take(app) is not None


def test_the_time_of_a_dialect_ends_by_itself(app: InProcessApp) -> None:
    take(app, "PostgreSQL")
    app.clock.advance((MAKES_TABLES_FOR - timedelta(seconds=1)).total_seconds())
    assert take(app) is None
    app.clock.advance(1)
    begun = take(app)
    assert begun is not None
    assert begun.dialects == {"PostgreSQL", OTHER}
    assert begun.has_others


def test_a_preview_warns_where_sinks_of_another_dialect_are_started(app: InProcessApp) -> None:
    made, destination = app.delivery_input(app.deployed_pipeline()), app.destination()

    def codes() -> set[str]:
        preview = app.services.deliveries.preview(app.context(), destination.id, made)
        return {warning.code for warning in preview.warnings}

    assert "SINKS_OF_TWO_KINDS" not in codes()
    take(app)
    assert "SINKS_OF_TWO_KINDS" in codes()
    writing = TableWriting(mappings=(), auto_create=False)
    assert len(list(dialect_warnings(writing, [OTHER]))) == 1
    assert list(dialect_warnings(replace(writing, auto_evolve=False), [OTHER])) == []


def test_what_is_known_of_a_deleted_cluster_is_removed(app: InProcessApp) -> None:
    cluster = app.cluster
    take(app)
    app.services.connect_clusters.delete(app.context(), cluster.id)
    stores = app.services.stores.connectors
    (note,) = stores.deleted_clusters.notes_before(app.clock() + timedelta(hours=1))
    stores.deleted_clusters.sweep(note, app.context().deadline)
    assert store(app).dialects(cluster.id) == frozenset()
