"""Which alerts a maintenance window keeps back, and what is a window."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.maintenance import (
    MaintenanceScope,
    MaintenanceState,
    MaintenanceValues,
    MaintenanceWindow,
)
from chalicelib.errors import Invalid
from tests.unit.domain.alerts.test_transitions import EVENT, NOW

NOWHERE: dict[str, Any] = dict.fromkeys(
    ("pipeline_id", "source_id", "delivery_id", "destination_id", "connect_cluster_id")
)


def about(kind: str, emitter: str, **ids: str) -> AlertEvent:
    """An event about a resource (its id is its type) that comes from an emitter."""
    source = Emitter(type=emitter, id=emitter, name=emitter)
    return replace(EVENT, emitter=source, condition_key=f"{kind}/{kind}/CODE", **{**NOWHERE, **ids})


OF_SOURCE = about("source", "source", source_id="source")
OF_DESTINATION = about("destination", "destination", destination_id="destination")
OF_CLUSTER = about("connect_cluster", "connect_cluster", connect_cluster_id="connect")
OF_PIPELINE = about("pipeline", "source", pipeline_id="pipeline", source_id="source", connect_cluster_id="connect")
OF_DELIVERY = about(
    "delivery",
    "destination",
    pipeline_id="pipeline",
    source_id="source",
    delivery_id="delivery",
    destination_id="destination",
    connect_cluster_id="connect",
)
EVENTS = {
    "source": OF_SOURCE,
    "destination": OF_DESTINATION,
    "cluster": OF_CLUSTER,
    "pipeline": OF_PIPELINE,
    "delivery": OF_DELIVERY,
}


def covered(scope: MaintenanceScope, labels: dict[tuple[str, str], dict[str, str]] | None = None) -> set[str]:
    known = labels or {}
    return {name for name, event in EVENTS.items() if scope.covers(event, lambda resource: known.get(resource, {}))}


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"source_ids": ("source",)}, {"source", "pipeline", "delivery"}),
        ({"destination_ids": ("destination",)}, {"destination", "delivery"}),
        ({"pipeline_ids": ("pipeline",)}, {"pipeline", "delivery"}),
        ({"connect_cluster_ids": ("connect",)}, {"cluster", "pipeline", "delivery"}),
        ({"source_ids": ("other",), "destination_ids": ("destination",)}, {"destination", "delivery"}),
        ({"source_ids": ("destination",), "pipeline_ids": ("source",)}, set()),
    ],
)
def test_a_window_on_a_resource_has_the_alerts_of_all_that_depends_on_it(
    scope: dict[str, tuple[str, ...]], expected: set[str]
) -> None:
    assert covered(MaintenanceScope(**scope)) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"team": "shop"}, {"source", "pipeline", "delivery"}),
        ({"team": "shop", "env": "test"}, {"pipeline", "delivery"}),
        ({"team": "shop", "tier": "1"}, set()),
        ({"team": "other"}, set()),
    ],
)
def test_one_resource_of_the_alert_has_to_have_all_of_the_labels(wanted: dict[str, str], expected: set[str]) -> None:
    labels = {
        ("source", "source"): {"team": "shop"},
        ("pipeline", "pipeline"): {"team": "shop", "env": "test"},
        ("delivery", "delivery"): {"tier": "1"},
    }
    assert covered(MaintenanceScope(labels=wanted), labels) == expected


def test_labels_and_ids_each_add_to_the_scope() -> None:
    scope = MaintenanceScope(labels={"team": "shop"}, destination_ids=("destination",))
    labels = {("connect_cluster", "connect"): {"team": "shop"}}
    assert covered(scope, labels) == {"cluster", "pipeline", "delivery", "destination"}


def window(**fields: Any) -> MaintenanceValues:
    values = MaintenanceValues(
        name="upgrade", starts_at=NOW, until=NOW + timedelta(hours=1), reason="upgrade",
        scope=MaintenanceScope(source_ids=("source",)),
    )  # fmt: skip
    return replace(values, **fields)


@pytest.mark.parametrize(
    ("fields", "type_"),
    [
        ({"until": NOW}, "not_after_from"),
        ({"starts_at": NOW - timedelta(hours=2), "until": NOW - timedelta(hours=1)}, "in_the_past"),
        ({"until": NOW + timedelta(days=30, seconds=1)}, "too_long"),
        ({"scope": MaintenanceScope()}, "nothing_named"),
    ],
)
def test_what_makes_no_window_is_refused(fields: dict[str, Any], type_: str) -> None:
    with pytest.raises(Invalid) as refused:
        window(**fields).require_valid(NOW)
    assert refused.value.details[0]["type"] == type_


@pytest.mark.parametrize(
    "fields", [{}, {"starts_at": NOW - timedelta(days=1)}, {"until": NOW + timedelta(days=30)}], ids=str
)
def test_a_window_may_have_begun_and_last_thirty_days(fields: dict[str, Any]) -> None:
    window(**fields).require_valid(NOW)


@pytest.mark.parametrize(
    ("after", "state"),
    [
        (-1, MaintenanceState.SCHEDULED),
        (0, MaintenanceState.ACTIVE),
        (3599, MaintenanceState.ACTIVE),
        (3600, MaintenanceState.ENDED),
    ],
)
def test_it_is_active_from_its_beginning_to_its_end(after: int, state: MaintenanceState) -> None:
    stored = MaintenanceWindow(
        id="w", name="w", starts_at=NOW, until=NOW + timedelta(hours=1), reason="w", scope=MaintenanceScope(),
        created_by="ann@example.com", created_at=NOW,
    )  # fmt: skip
    now: datetime = NOW + timedelta(seconds=after)
    assert stored.state_at(now) is state
