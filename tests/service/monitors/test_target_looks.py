"""Looks at the tables of deliveries: lost rows make them DEGRADED until a person has dealt with it. The database is a
fake; `tests/integration/databases/test_target_tables.py` has the real one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.measured_brokers import register_measured_brokers
from tests.timelines.traffic import Traffic

ORDERS = TableName("target", "orders")
LOOKS = 20


@pytest.fixture
def delivery(app: InProcessApp) -> Delivery:
    """A running delivery whose table has 990 rows, and was looked at three times."""
    register_measured_brokers(app)
    delivery = deploy(app, app.destination().id)
    fill(app)
    for _ in range(3):
        look(app, delivery)
    return delivery


def deploy(app: InProcessApp, destination_id: str, **options: Any) -> Delivery:
    made = replace(app.delivery_input(app.deployed_pipeline()), options=options)
    return app.services.deliveries.deploy(app.context(), destination_id, made)


def fill(app: InProcessApp, **changes: Any) -> None:
    """The table of the delivery is like this now."""
    table = WatchedTable(
        name=ORDERS, identity="1", storage="1", partitions=0, rows=990, live=990, deleted=0, countable=True
    )
    app.database.target_tables[ORDERS] = replace(table, **changes)


def empty(app: InProcessApp) -> None:
    """All rows of the table are deleted."""
    fill(app, rows=0, live=0, deleted=990)


def look(app: InProcessApp, delivery: Delivery) -> None:
    """A minute with its ticks passes, then a look."""
    app.tick(after=30, times=2)
    app.services.destination_monitor.run(delivery.destination_id, Deadline.after(25))


def shown(app: InProcessApp, delivery: Delivery) -> tuple[ObservedState, tuple[str, ...]]:
    """State and reasons, the same in every answer."""
    services, context = app.services, app.context()
    answers = (
        services.deliveries.get(delivery.id),
        services.deliveries.status(context, delivery.id),
        *services.deliveries.list(limit=9, after=None).items,
        *services.deliveries.list_of(delivery.destination_id).items,
        *services.deliveries.status_of(context, delivery.destination_id).items,
        *services.pipelines.detail(delivery.pipeline_id).deliveries.items,
        *services.pipelines.destinations(delivery.pipeline_id, limit=9, after=None).items,
    )
    (answer,) = {(one.observation.state, one.observation.reasons) for one in answers if one.observation}
    return answer


def incidents(app: InProcessApp) -> list[tuple[str, str, str, str | None]]:
    """Those about destinations and deliveries: without traffic the pipeline stands still."""
    found = (one for one in app.services.incidents.list(limit=9).items if one.associations.destination_id)
    return [
        (one.condition.code.value, one.condition.severity.value, one.status.value, one.associations.delivery_id)
        for one in found
    ]


def lost(delivery: Delivery, status: str = "OPEN") -> list[tuple[str, str, str, str | None]]:
    return [("TARGET_REPLACED", "ERROR", status, delivery.id)]


def alerts(app: InProcessApp) -> list[str]:
    facets = app.services.stores.alerts.alerts.facets(Deadline.after(5), only_active=True)
    return [one.severity.value for one in facets if one.kind.startswith("DESTINATION_")]


def is_well(app: InProcessApp, delivery: Delivery) -> bool:
    state, reasons = shown(app, delivery)
    return (state, reasons, incidents(app), alerts(app)) == (ObservedState.RUNNING, (), [], [])


def test_a_table_that_was_dropped_is_told_by_the_next_look(app: InProcessApp, delivery: Delivery) -> None:
    assert is_well(app, delivery)
    app.database.target_tables.clear()
    look(app, delivery)
    state, reasons = shown(app, delivery)
    assert state is ObservedState.DEGRADED
    assert any("target.orders was dropped (about 990 rows)" in reason for reason in reasons)
    assert incidents(app) == lost(delivery)
    assert alerts(app) == ["critical"]
    assert app.services.overview.read().deliveries["DEGRADED"] == 1


def test_a_table_that_the_sink_has_made_again_is_told_and_stays_told(app: InProcessApp, delivery: Delivery) -> None:
    fill(app, identity="2", storage="2", rows=1, live=1)
    for _ in range(3):
        look(app, delivery)
        state, reasons = shown(app, delivery)
        assert state is ObservedState.DEGRADED
        assert any("(about 990 rows before, 1 now)" in reason for reason in reasons)
    assert incidents(app) == lost(delivery)


@pytest.mark.parametrize(
    "changes",
    [
        {"storage": "2", "rows": 0, "live": 0},
        {"storage": "2", "rows": 900, "live": 900},
        {"rows": 0, "live": 0, "deleted": 990},
    ],
    ids=["truncated", "an older dump", "deleted by hand"],
)
def test_rows_that_somebody_else_removed_are_told(
    app: InProcessApp, delivery: Delivery, changes: Mapping[str, Any]
) -> None:
    fill(app, **changes)
    look(app, delivery)
    assert shown(app, delivery)[0] is ObservedState.DEGRADED
    assert incidents(app) == lost(delivery)


def test_rows_that_the_delivery_itself_has_deleted_are_no_loss(app: InProcessApp, delivery: Delivery) -> None:
    traffic, topic = Traffic(rows_per_second=0), delivery.topics[0]
    app.kafka.state.advance(topic, 2 * 990)  # a delete and a tombstone each
    traffic.deliver(app.kafka.state, delivery, 1)
    empty(app)
    for _ in range(LOOKS):
        look(app, delivery)
        assert is_well(app, delivery)


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_table_that_was_changed_on_a_server_that_counts_no_deletions(
    app: InProcessApp, delivery: Delivery, *, is_ours: bool
) -> None:
    uncounted: dict[str, Any] = {"deleted": None}
    fill(app, **uncounted)
    look(app, delivery)
    if is_ours:
        app.kafka.state.advance(delivery.topics[0], 2 * 990)
    fill(app, **uncounted, storage="2", rows=0, live=0)
    app.kafka.refuse()
    look(app, delivery)
    assert incidents(app) == []
    app.kafka.accept()
    look(app, delivery)
    assert incidents(app) == ([] if is_ours else lost(delivery))


def test_while_kafka_cannot_be_read_nothing_is_said_about_deleted_rows_and_then_it_is(
    app: InProcessApp, delivery: Delivery
) -> None:
    empty(app)
    app.kafka.refuse()
    look(app, delivery)
    assert incidents(app) == []
    app.kafka.accept()
    look(app, delivery)
    assert incidents(app) == lost(delivery)


def test_a_delivery_that_does_not_delete_has_deleted_nothing(app: InProcessApp) -> None:
    delivery = deploy(app, app.destination().id, delete_enabled=False)
    fill(app)
    look(app, delivery)
    empty(app)
    look(app, delivery)
    assert incidents(app) == lost(delivery)


def test_a_swap_with_equal_rows_is_told_as_such_and_nothing_more(app: InProcessApp, delivery: Delivery) -> None:
    fill(app, identity="2", storage="2")
    for _ in range(LOOKS):
        look(app, delivery)
        assert shown(app, delivery) == (ObservedState.RUNNING, ())
    assert incidents(app) == [("TARGET_REPLACED", "INFO", "OPEN", delivery.id)]
    messages = [one.condition.message for one in app.services.incidents.list(limit=9).items]
    assert any("was swapped for another table with as many rows" in message for message in messages)
    assert alerts(app) == ["info"]
    app.clock.advance(86_400)
    look(app, delivery)
    assert [one[2] for one in incidents(app)] == ["RESOLVED"]


@pytest.mark.parametrize(
    "changes",
    [{"storage": "2"}, {"storage": "2", "partitions": 1}, {"live": 1980}, {"rows": 0, "live": 0, "storage": "1"}],
    ids=["rewritten", "a partition attached", "counted twice", "statistics reset"],
)
def test_what_loses_no_row_is_no_loss(
    app: InProcessApp, delivery: Delivery, changes: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(app, **changes)
    monkeypatch.setattr(
        "tests.support.apps.fakes.FakeDatabaseClient.count_rows", lambda _self, bounds, _deadline: dict(bounds)
    )
    look(app, delivery)
    fill(app, **{**changes, "rows": 990, "live": 990})
    look(app, delivery)
    assert is_well(app, delivery)


def test_a_table_that_does_not_exist_yet_is_made_by_the_sink(app: InProcessApp) -> None:
    delivery = deploy(app, app.destination().id)
    look(app, delivery)
    fill(app, rows=1, live=1)
    look(app, delivery)
    fill(app)
    look(app, delivery)
    assert is_well(app, delivery)


def test_it_ends_when_a_person_resolves_the_incident(app: InProcessApp, delivery: Delivery) -> None:
    sent: list[tuple[str, str]] = []
    app.services.incidents = replace(app.services.incidents, look_soon=lambda *about: sent.append(about))
    app.database.target_tables.clear()
    look(app, delivery)
    (incident,) = app.services.incidents.list(limit=1, destination_id=delivery.destination_id).items
    app.services.incidents.move(app.context(), incident.id, IncidentStatus.RESOLVED)
    assert sent == [("destination", delivery.destination_id)]
    look(app, delivery)
    assert shown(app, delivery) == (ObservedState.RUNNING, ())
    assert (incidents(app), alerts(app)) == (lost(delivery, "RESOLVED"), [])
    assert app.services.overview.read().deliveries["DEGRADED"] == 0
    fill(app)
    look(app, delivery)
    app.database.target_tables.clear()
    look(app, delivery)
    assert sorted(incidents(app)) == sorted([*lost(delivery), *lost(delivery, "RESOLVED")])


def test_it_ends_when_the_delivery_is_deleted_and_a_new_one_begins_anew(app: InProcessApp, delivery: Delivery) -> None:
    app.database.target_tables.clear()
    look(app, delivery)
    app.services.deliveries.delete(app.context(), delivery.id)
    assert incidents(app) == lost(delivery, "RESOLVED")
    again = deploy(app, delivery.destination_id)
    look(app, again)
    assert shown(app, again) == (ObservedState.RUNNING, ())


def test_what_happens_while_the_delivery_is_paused_is_told_when_it_goes_on(
    app: InProcessApp, delivery: Delivery
) -> None:
    app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    fill(app, storage="2", rows=0, live=0)
    look(app, delivery)
    assert incidents(app) == []
    app.services.deliveries.control(app.context(), delivery.id, OperationKind.RESUME)
    look(app, delivery)
    assert incidents(app) == lost(delivery)


def test_a_delivery_whose_destination_is_away_is_degraded_with_the_reason(
    app: InProcessApp, delivery: Delivery
) -> None:
    app.database.test_failures[:] = [FailureCode.CONNECTION_REFUSED] * 2
    look(app, delivery)
    state, reasons = shown(app, delivery)
    assert state is ObservedState.DEGRADED
    assert any("destination cannot be reached" in reason and "refuses connections" in reason for reason in reasons)
    assert app.services.overview.read().deliveries["DEGRADED"] == 1
    look(app, delivery)
    assert shown(app, delivery) == (ObservedState.RUNNING, ())
    assert app.services.overview.read().deliveries["DEGRADED"] == 0


def test_what_was_lost_stays_told_while_the_destination_is_away(app: InProcessApp, delivery: Delivery) -> None:
    app.database.target_tables.clear()
    look(app, delivery)
    app.database.test_failures[:] = [FailureCode.CONNECTION_REFUSED] * 2
    look(app, delivery)
    assert {code: status for code, _, status, _ in incidents(app)} == {
        "TARGET_REPLACED": "OPEN",
        "DESTINATION_CONNECTION_FAILED": "OPEN",
    }


def test_controls_say_what_the_delivery_says(app: InProcessApp, delivery: Delivery) -> None:
    app.database.target_tables.clear()
    look(app, delivery)
    for kind in (OperationKind.RESUME, OperationKind.RESTART):
        answer = app.services.deliveries.control(app.context(), delivery.id, kind)
        assert answer.observation is not None
        assert answer.observation.state is not ObservedState.RUNNING
