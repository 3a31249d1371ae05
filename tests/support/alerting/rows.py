"""Alerts as a test needs them, stored without a monitor."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.alerts.alert import Alert, AlertStatus, HistoryEntry, Resolution
from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from chalicelib.kit.clock import rfc3339
from chalicelib.kit.ids import id_from
from tests.bench.seeds import put_rows
from tests.support.apps.in_process_app import START_TIME, InProcessApp
from tests.support.stored import put

SOURCES = tuple(id_from("source", str(number)) for number in range(3))
PIPELINES = tuple(id_from("pipeline", str(number)) for number in range(3))
CLUSTER = id_from("connect_cluster", "0")


def an_event(**changes: Any) -> AlertEvent:
    """A task of a pipeline's connector has failed."""
    event = AlertEvent(
        kind=EventKind.CONNECT_TASK_FAILED,
        severity=AlertSeverity.CRITICAL,
        emitter=Emitter(type="connect_cluster", id=CLUSTER, name="workers"),
        pipeline_id=PIPELINES[0],
        pipeline_name="orders",
        source_id=SOURCES[0],
        connect_cluster_id=CLUSTER,
        connector_name="headgate-source-1",
        task_id=0,
        error="A task has failed.",
        hint="Look at the log of the worker.",
        condition_key="condition",
    )
    return replace(event, **changes)


def an_alert(number: int = 0, at: datetime = START_TIME, *, event: AlertEvent | None = None, **changes: Any) -> Alert:
    """An alert that fires since then."""
    event = event or an_event(task_id=number)
    alert = Alert(
        id=id_from("alert", str(number)),
        fingerprint=event.fingerprint,
        origin=f"connect_cluster/{CLUSTER}",
        event=event,
        max_severity=event.severity,
        first_seen_at=at,
        last_seen_at=at,
        created_at=at,
        history=(HistoryEntry(at=at, before=None, after=AlertStatus.FIRING, actor="system", reason="observed"),),
    )
    return replace(alert, **changes)


def stored(app: InProcessApp, alert: Alert) -> Alert:
    """Store it as the alert manager does."""
    return put(app.services.stores.alerts.alerts, alert)


def put_alerts(app: InProcessApp, alerts: Iterable[Alert]) -> None:
    """Store thousands, without the tables' API."""
    put_rows(app.services.stores.alerts.alerts._row(alert, "seed") for alert in alerts)


def random_alerts(count: int, seed: int) -> Iterator[Alert]:
    """Alerts of all kinds, severities and states; some silences have expired at `START_TIME`."""
    chosen = random.Random(seed)
    for number in range(count):
        pipeline = chosen.choice((None, *PIPELINES))
        emitter = chosen.choice(("source", "destination", "connect_cluster"))
        emitter_id = chosen.choice(SOURCES) if emitter == "source" else id_from(emitter, str(number % 3))
        event = an_event(
            kind=chosen.choice(tuple(EventKind)),
            severity=chosen.choice(tuple(AlertSeverity)),
            emitter=Emitter(type=emitter, id=emitter_id, name="named"),
            pipeline_id=pipeline,
            source_id=chosen.choice(SOURCES) if pipeline else None,
            task_id=number,
        )
        # Some were created at the same time.
        at = START_TIME - timedelta(seconds=number // 2)
        yield an_alert(number, at, event=event, **_random_state(chosen))


def _random_state(chosen: random.Random) -> dict[str, Any]:
    taken = {"acknowledged_at": START_TIME, "acknowledged_by": "a@example.com"}
    maybe_taken = taken if chosen.random() < 0.5 else {}
    status = chosen.choice(tuple(AlertStatus))
    match status:
        case AlertStatus.SILENCED:
            until = chosen.choice((None, *(START_TIME + timedelta(seconds=seconds) for seconds in (-60, 0, 60))))
            return {**maybe_taken, "status": status, "silenced_until": until, "silenced_by": "b@example.com"}
        case AlertStatus.RESOLVED:
            return {**maybe_taken, "status": status, "resolved_at": START_TIME, "resolution": Resolution.RECOVERED}
        case AlertStatus.ACKNOWLEDGED:
            return {**taken, "status": status}
    return {"status": status}


def newest_first(alerts: Iterable[Alert]) -> list[Alert]:
    return sorted(alerts, key=lambda alert: (rfc3339(alert.created_at), alert.id), reverse=True)
