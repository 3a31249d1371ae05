"""For each event kind of the specification an observation that raises it: nothing is in the list that cannot happen."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.alerts.kinds import TITLES
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.conditions import (
    UNASSIGNED_FOR,
    UNREADABLE_FOR,
    WRONG_STATE_FOR,
    cluster_conditions,
)
from chalicelib.domain.connectors.memory import ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.restarts import RestartCause, Restarts
from chalicelib.domain.connectors.step import ConnectorLook, step
from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.hints import HINTS
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.monitoring.catch_up import TOO_LONG
from chalicelib.domain.monitoring.condition import DESCRIPTIONS, WITHOUT_ALERTS, Condition, ConditionCode, Severity
from chalicelib.domain.monitoring.progress import after_measurement
from chalicelib.domain.monitoring.source_conditions import capture_conditions, health_conditions
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.monitoring.watched_connector import ProgressFacts, WatchedConnector
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import DesiredState
from tests.support.connectors import reported

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PIPELINE = "3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11"
SOURCE, SINK = ConnectorKind.SOURCE, ConnectorKind.SINK
PSQL = "org.postgresql.util.PSQLException: "


def connector(
    state: str = "RUNNING",
    *tasks: str,
    trace: str = "",
    role: ConnectorKind = SOURCE,
    desired: DesiredState = DesiredState.RUNNING,
    after: timedelta = timedelta(seconds=10),
    restarts: int = 0,
) -> list[Condition]:
    """What two ticks, so far apart, find of a connector in this state, whose failed parts have this trace."""
    name = connector_name(role, PIPELINE)
    status = reported(name, state, *tasks, diagnosis=classify(trace, role) if trace else None)
    wished = DesiredConnector(resource_type="pipeline", resource_id="p", desired_state=desired, config_hash="h")
    tried = Restarts(count=restarts, tried_at=NOW, cause=RestartCause.FAILED, since=NOW)
    memory = ConnectorMemory(desired=wished, restarts=tried if restarts else None)
    look = ConnectorLook(name=name, status=status, desired=wished)
    return list(step(step(memory, look, NOW).memory, look, NOW + after).conditions)


def task(trace: str, role: ConnectorKind = SOURCE) -> Callable[[], list[Condition]]:
    """A task that has failed like this."""
    return lambda: connector("RUNNING", "FAILED", trace=trace, role=role)


def connection(kind: str, code: str) -> Callable[[], list[Condition]]:
    """A source or destination whose connection test ends like this."""
    failed = HealthRecord.unhealthy(NOW, code, "It does not answer.")
    return lambda: list(health_conditions(kind, "s", "orders", failed))


def progress(role: ConnectorKind, *, delivered: int) -> list[Condition]:
    """What a metrics provider finds of a connector after ten minutes: it has moved so far in each half of one."""
    watched = WatchedConnector(
        connector=connector_name(role, PIPELINE), kind=role, topics=("t",), quiet=timedelta(seconds=60)
    )
    measured = None
    for number in range(20):
        at, lag = number * delivered, 10**6 if role is SINK else None
        facts = ProgressFacts(position=at, records=at, end=10**7, lag=lag, behind=lag is not None, members=1)
        measured = after_measurement(measured, watched, facts, running=True, now=NOW + number * timedelta(seconds=30))
    assert measured
    return list(capture_conditions("p", measured.findings))


def unreadable() -> Iterable[Condition]:
    view = ClusterView(unreadable="It does not answer.", unreadable_since=NOW - UNREADABLE_FOR, observed_at=NOW)
    return cluster_conditions("k", view)


RAISED_BY: dict[EventKind, Callable[[], Iterable[Condition]]] = {
    EventKind.CONNECTOR_FAILED: lambda: connector("FAILED", trace="java.lang.IllegalStateException: never seen"),
    EventKind.CONNECTOR_UNASSIGNED: lambda: connector("UNASSIGNED", after=UNASSIGNED_FOR),
    EventKind.CONNECTOR_PAUSED: lambda: connector("PAUSED", "PAUSED", after=WRONG_STATE_FOR),
    EventKind.CONNECTOR_RESTART_LOOP: lambda: connector("FAILED", restarts=3),
    EventKind.CONNECT_TASK_FAILED: task("java.lang.IllegalStateException: never seen"),
    EventKind.STREAM_CONNECT_UNAVAILABLE: unreadable,
    EventKind.SOURCE_CONNECTION_FAILED: connection("source", "CONNECTION_REFUSED"),
    EventKind.SOURCE_DATABASE_UNAVAILABLE: connection("source", "NOT_ACCEPTING_CONNECTIONS"),
    EventKind.SOURCE_AUTH_FAILED: task(f'{PSQL}FATAL: password authentication failed for user "capture"'),
    EventKind.CDC_REPLICATION_SLOT_ERROR: task(f'{PSQL}ERROR: replication slot "a" does not exist'),
    EventKind.CDC_BINLOG_ERROR: task(
        "com.github.shyiko.mysql.binlog.network.ServerException: Could not find first log file name in binary log index"
    ),
    EventKind.CDC_WAL_ERROR: task(f"{PSQL}ERROR: requested WAL segment 0000000100000001 has already been removed"),
    EventKind.CDC_PERMISSION_ERROR: task(f"{PSQL}ERROR: permission denied for table orders"),
    EventKind.CDC_CONNECTOR_FAILED: task("java.lang.OutOfMemoryError: Java heap space"),
    EventKind.DESTINATION_CONNECTION_FAILED: connection("destination", "CONNECTION_REFUSED"),
    EventKind.DESTINATION_AUTH_FAILED: connection("destination", "AUTHENTICATION_FAILED"),
    EventKind.DESTINATION_WRITE_FAILED: task(
        f'{PSQL}ERROR: new row for relation "orders" violates check constraint "positive"', SINK
    ),
    EventKind.DESTINATION_SCHEMA_ERROR: task(f'{PSQL}ERROR: relation "orders" does not exist', SINK),
    EventKind.DESTINATION_CONNECTOR_FAILED: task(
        "java.sql.SQLException: No suitable driver found for jdbc:postgresql://10.1.2.3:5432/shop", SINK
    ),
    EventKind.PIPELINE_FAILED: lambda: capture_conditions(
        "p", [Finding(code=FindingCode.LOG_POSITION_LOST, message="Changes were lost.", certain=True)]
    ),
    EventKind.PIPELINE_DEGRADED: lambda: connector(
        "RUNNING", "RUNNING", desired=DesiredState.PAUSED, after=WRONG_STATE_FOR
    ),
    EventKind.PIPELINE_NO_EVENTS: lambda: progress(SOURCE, delivered=0),
    EventKind.PIPELINE_LAG_HIGH: lambda: progress(SINK, delivered=1000),
}


@pytest.mark.parametrize("kind", EventKind)
def test_there_is_an_observation_that_raises_each_kind(kind: EventKind) -> None:
    assert kind in {one.code.event_kind for one in RAISED_BY[kind]()}


def test_each_code_and_each_hint_has_a_kind_and_each_kind_has_a_title() -> None:
    assert set(DESCRIPTIONS) == set(ConditionCode)
    assert {hint.event_type for hint in HINTS.values()} <= set(EventKind)
    assert set(TITLES) == set(EventKind)


def test_codes_of_one_kind_have_one_title() -> None:
    alerting = [(code, described) for code, described in DESCRIPTIONS.items() if code not in WITHOUT_ALERTS]
    assert len({(code.event_kind, described.title) for code, described in alerting}) == len(EventKind)


def test_a_delivery_that_stands_still_has_no_events_and_one_that_is_slow_has_a_high_lag() -> None:
    still, slow = progress(SINK, delivered=0), progress(SINK, delivered=1000)
    assert [(one.code.event_kind, one.severity) for one in still] == [(EventKind.PIPELINE_NO_EVENTS, Severity.ERROR)]
    assert [(one.code.event_kind, one.severity) for one in slow] == [(EventKind.PIPELINE_LAG_HIGH, Severity.WARNING)]
    assert TOO_LONG.total_seconds() < 10**6 / (1000 / 30)
