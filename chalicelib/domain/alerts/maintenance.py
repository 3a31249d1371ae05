"""Maintenance windows: planned work. Alerts in their scope are observed and kept, and nobody is notified of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.naming import Resource
from chalicelib.errors import Invalid

MAX_OPEN = 100
"""Windows of an installation that are not over."""

MAX_LENGTH = timedelta(days=30)
Labels = Mapping[str, str]


class MaintenanceState(StrEnum):
    """Whether it has begun, and whether it is over."""

    SCHEDULED = "scheduled"
    ACTIVE = "active"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceScope:
    """What a window is about: the resources that are named by id, and those that have all of the labels.

    An alert is in scope when it is about one of them: an alert of a delivery is also about its pipeline, the source of
    that, its destination and its Connect cluster.
    """

    labels: Labels = field(default_factory=dict)
    source_ids: tuple[str, ...] = ()
    destination_ids: tuple[str, ...] = ()
    pipeline_ids: tuple[str, ...] = ()
    connect_cluster_ids: tuple[str, ...] = ()

    @property
    def resources(self) -> frozenset[Resource]:
        """The resources that are named by id."""
        by_type = {
            "source": self.source_ids,
            "destination": self.destination_ids,
            "pipeline": self.pipeline_ids,
            "connect_cluster": self.connect_cluster_ids,
        }
        return frozenset((kind, resource_id) for kind, ids in by_type.items() for resource_id in ids)

    @property
    def is_empty(self) -> bool:
        return not self.labels and not self.resources

    def covers(self, event: AlertEvent, labels_of: Callable[[Resource], Labels]) -> bool:
        """Whether an alert is in scope. `labels_of` is only asked where the scope has labels."""
        if not self.resources.isdisjoint(event.resources):
            return True
        pairs = self.labels.items()
        return bool(pairs) and any(pairs <= labels_of(resource).items() for resource in event.resources)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceValues:
    """What people say about a window. It ends by itself at `until`."""

    name: str
    starts_at: datetime
    until: datetime
    reason: str
    scope: MaintenanceScope

    def require_valid(self, now: datetime) -> None:
        """Raise Invalid for times that make no window, and for an empty scope."""
        if self.until <= self.starts_at:
            raise Invalid.at("body", "until", type_="not_after_from", message="`until` has to be later than `from`.")
        if self.until <= now:
            message = "`until` has passed already: give a time in the future."
            raise Invalid.at("body", "until", type_="in_the_past", message=message)
        if self.until - self.starts_at > MAX_LENGTH:
            message = f"A maintenance window lasts {MAX_LENGTH.days} days at the most. Make another one after it."
            raise Invalid.at("body", "until", type_="too_long", message=message)
        if self.scope.is_empty:
            message = "Name something in the scope: labels, sources, destinations, pipelines or Connect clusters."
            raise Invalid.at("body", "scope", type_="nothing_named", message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceWindow(MaintenanceValues):
    """A window as it is stored. `created_by` is an e-mail address. `closed`: it is known to be over."""

    id: str
    created_by: str
    closed: bool = False
    version: int = 1
    revision: int = 1
    created_at: datetime

    @classmethod
    def of(cls, values: MaintenanceValues, window_id: str, created_by: str, now: datetime) -> Self:
        """A new window."""
        said = {field.name: getattr(values, field.name) for field in fields(values)}
        return cls(id=window_id, created_by=created_by, created_at=now, **said)

    def state_at(self, now: datetime) -> MaintenanceState:
        if now < self.starts_at:
            return MaintenanceState.SCHEDULED
        return MaintenanceState.ACTIVE if now < self.until else MaintenanceState.ENDED


def active_at(windows: Iterable[MaintenanceWindow], now: datetime) -> tuple[MaintenanceWindow, ...]:
    return tuple(window for window in windows if window.state_at(now) is MaintenanceState.ACTIVE)


def covering(
    windows: Sequence[MaintenanceWindow], event: AlertEvent, labels_of: Callable[[Resource], Labels]
) -> MaintenanceWindow | None:
    """The first of these windows that has the alert in its scope."""
    return next((window for window in windows if window.scope.covers(event, labels_of)), None)
