"""Alert events: what a monitor has found wrong, in one form whatever the monitor.

A monitor reports everything that is wrong where it looks, again and again. So a lost report loses nothing: the next one
says the same. What a report no longer contains has recovered.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.alerts.kinds import AlertSeverity, EventKind, general_kind
from chalicelib.domain.monitoring.incident import CHANGES_LOST, Condition

REPORT_SECONDS = 8.0
"""What recording one report may take: it has a time limit of its own, so that it takes no time from a monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorReport:
    """Everything that is wrong at one origin at one time. `at` is when the look began, and names the monitor's cycle.

    Origins are those of incidents: `connect_cluster/<id>`, `source/<id>`, `destination/<id>`, `operations`. `complete`
    is false when the monitor could not see everything: then what it does not name is neither wrong nor well. `tasks`
    are the tasks that exist, by connector, where the monitor has seen them. `seen_at` says, by the keys of conditions,
    when each was last observed where a report repeats what was found before; None: all were observed now.
    """

    origin: str
    at: datetime
    conditions: tuple[Condition, ...]
    complete: bool = True
    tasks: Mapping[str, frozenset[int]] = field(default_factory=dict)
    seen_at: Mapping[str, datetime] | None = None

    def has_observed(self, condition_key: str, since: datetime) -> bool:
        """Whether the condition was observed after that time, and is not only repeated."""
        if self.seen_at is None:
            return True
        seen = self.seen_at.get(condition_key)
        return seen is not None and seen > since


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitter:
    """Where an event comes from: a source, a destination or a connect_cluster. Its name is as it was then."""

    type: str
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertEvent:
    """Something wrong. `error` is what is wrong and `hint` what it means and what to do: sentences of ours.

    `source_id` is the source of the pipeline, so that people find everything about a source. `condition_key` is the
    condition that it was made from.
    """

    kind: EventKind
    severity: AlertSeverity
    emitter: Emitter
    pipeline_id: str | None = None
    pipeline_name: str | None = None
    source_id: str | None = None
    delivery_id: str | None = None
    destination_id: str | None = None
    connect_cluster_id: str | None = None
    connector_name: str | None = None
    task_id: int | None = None
    error: str
    hint: str | None
    condition_key: str

    @property
    def is_lasting(self) -> bool:
        """Whether it is about rows that a connector has lost: they stay missing when the connector goes on."""
        return self.connector_name is not None and self.condition_key.endswith(f"/{CHANGES_LOST}")

    @property
    def kinds(self) -> frozenset[EventKind]:
        """The kinds by which rules select it: a task that failed for a known cause is a failed task as well."""
        return frozenset({self.kind, general_kind(self.kind, self.connector_name, self.task_id)})

    @property
    def resource(self) -> tuple[str, str]:
        """Type and id of the resource that the condition is about."""
        resource_type, _, rest = self.condition_key.partition("/")
        return resource_type, rest.partition("/")[0]

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of kind, emitter, pipeline, connector on its cluster, and task: what makes it the same.

        The pipeline only counts for what is wrong with it or its deliveries: which pipelines a source has may change
        while the source is out of reach.
        """
        pipeline_id = self.pipeline_id if self.resource[0] in ("pipeline", "delivery") else None
        connector = f"{self.connect_cluster_id}/{self.connector_name}" if self.connector_name else None
        task = None if self.task_id is None else str(self.task_id)
        emitter = f"{self.emitter.type}:{self.emitter.id}"
        slots = (("k", self.kind.value), ("e", emitter), ("p", pipeline_id), ("c", connector), ("t", task))
        text = "".join(f"{tag}{'-' if slot is None else f'{len(slot)}:{slot}'}" for tag, slot in slots)
        return hashlib.sha256(text.encode()).hexdigest()
