"""Alert events: what is wrong, in one form whatever the monitor that has found it."""

import hashlib
from dataclasses import dataclass, replace

from chalicelib.domain.alerts.backlog import Backlog, lost_sentence
from chalicelib.domain.alerts.kinds import SEVERITIES, AlertSeverity, general_kind
from chalicelib.domain.alerts.titles import Subject, title_of
from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import Condition


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
    condition that it was made from, `diagnosis` and `cause` are those of a failed connector or task, of `tasks` that
    the connector has. `database` is the one of the target where names of tables do not say it. `backlog` is what waited
    of a pipeline or delivery when the event began, and `lost` says whether anything is lost.
    """

    kind: EventKind
    severity: AlertSeverity
    emitter: Emitter
    pipeline_id: str | None = None
    pipeline_name: str | None = None
    source_id: str | None = None
    delivery_id: str | None = None
    delivery_name: str | None = None
    destination_id: str | None = None
    connect_cluster_id: str | None = None
    connector_name: str | None = None
    task_id: int | None = None
    error: str
    hint: str | None
    diagnosis: Diagnosis | None = None
    cause: Cause | None = None
    tasks: int = 1
    database: str | None = None
    backlog: Backlog | None = None
    lost: str | None = None
    condition_key: str

    @property
    def kinds(self) -> frozenset[EventKind]:
        """The kinds by which rules select it: a task that failed for a known cause is a failed task as well."""
        return frozenset({self.kind, general_kind(self.kind, self.connector_name, self.task_id)})

    @property
    def title(self) -> str:
        """What stands, and why: `Delivery 'orders to the lake' is stopped: lake.public.orders refuses a row`."""
        return title_of(
            self._subject,
            kind=self.kind,
            code=self.condition_code,
            diagnosis=self.diagnosis,
            cause=self.cause,
            task_id=self.task_id if self.tasks > 1 else None,
            database=self.database,
        )

    @property
    def _subject(self) -> Subject:
        resource_type, _ = self.resource
        names = {"pipeline": self.pipeline_name, "delivery": self.delivery_name}
        name = names.get(resource_type)
        return Subject(resource_type, name) if name else Subject(self.emitter.type, self.emitter.name)

    @property
    def condition_code(self) -> str:
        """The code of the condition, also one that this release does not know."""
        return self.condition_key.rpartition("/")[2]

    @property
    def resource(self) -> tuple[str, str]:
        """Type and id of the resource that the condition is about."""
        resource_type, _, rest = self.condition_key.partition("/")
        return resource_type, rest.partition("/")[0]

    @property
    def resources(self) -> frozenset[tuple[str, str]]:
        """Type and id of every resource that it concerns."""
        ids = {
            "source": self.source_id,
            "destination": self.destination_id,
            "pipeline": self.pipeline_id,
            "delivery": self.delivery_id,
            "connect_cluster": self.connect_cluster_id,
        }
        named = ((kind, resource_id) for kind, resource_id in ids.items() if resource_id)
        return frozenset({self.resource, (self.emitter.type, self.emitter.id), *named})

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
        fields = (("k", self.kind.value), ("e", emitter), ("p", pipeline_id), ("c", connector), ("t", task))
        # Each value stands behind its length: so no two sets of values make the same text.
        text = "".join(f"{tag}{'-' if value is None else f'{len(value)}:{value}'}" for tag, value in fields)
        return hashlib.sha256(text.encode()).hexdigest()

    def repeated(self, condition: Condition) -> "AlertEvent":
        """The event of an active alert as its condition is now. Its names stay: nothing has to be read for them."""
        return replace(
            self,
            severity=SEVERITIES[condition.severity],
            error=condition.message,
            hint=condition.hint,
            diagnosis=condition.diagnosis,
            cause=condition.cause,
            lost=lost_sentence(condition, self.backlog),
        )
