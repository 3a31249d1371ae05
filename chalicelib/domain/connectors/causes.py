"""What the failures of connectors are about: the names in their traces, compared with those that Headgate knows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chalicelib.domain.connectors.memory import ClusterMemory
from chalicelib.domain.delivery import Delivery, TableWriting
from chalicelib.domain.diagnosis.cause import Candidates, Cause, known_cause
from chalicelib.domain.observation import ConnectorStatus, ReportedState, TaskStatus
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.table import TableName

MAX_NOTED = 2_000
"""Failed connectors and tasks whose names one look compares."""

Part = tuple[str, int | None]
"""The name of a connector, and the id of its task; None for the connector itself."""


@dataclass(slots=True)
class NotedNames:
    """What the traces of one answer of Kafka Connect seem to name. It lives as long as the look."""

    by_part: dict[Part, Candidates] = field(default_factory=dict)

    def note(self, connector: str, task_id: int | None, candidates: Candidates) -> None:
        if len(self.by_part) < MAX_NOTED:
            self.by_part[connector, task_id] = candidates


def known_tables(resource: Pipeline | Delivery) -> tuple[TableName, ...]:
    """The tables of a pipeline, or the target tables of a delivery; object storage has none."""
    if isinstance(resource, Pipeline):
        return resource.capture.captured_tables
    return tuple(resource.writing.targets) if isinstance(resource.writing, TableWriting) else ()


def remembered_causes(
    statuses: Mapping[str, ConnectorStatus], noted: NotedNames, memory: ClusterMemory
) -> dict[Part, Cause | None]:
    """What the last tick has found out, by failed connector and task; None where it has to be looked up."""
    names = {name for name, _ in noted.by_part}
    observations = (memory.of(name).observation for name in names)
    before = _by_part(one.connector for one in observations if one and one.connector)
    now = _by_part(statuses[name] for name in names if name in statuses)
    return {
        part: before[part].cause if part in before and _is_same(before[part], now[part]) else None
        for part in noted.by_part
        if part in now
    }


def with_known_tables(
    statuses: Mapping[str, ConnectorStatus],
    noted: NotedNames,
    memory: ClusterMemory,
    resources: Sequence[Pipeline | Delivery],
) -> dict[str, ConnectorStatus]:
    """The connectors with what the last tick has found out about their failures. About new ones is told which tables of
    the `resources` they name: constraints and columns are looked up by ticks alone.
    """
    tables = {resource.connector_name: known_tables(resource) for resource in resources}
    remembered = remembered_causes(statuses, noted, memory)
    causes = {
        part: cause or known_cause(noted.by_part[part], tables.get(part[0], ())) for part, cause in remembered.items()
    }
    return with_causes(statuses, causes)


def with_causes(
    statuses: Mapping[str, ConnectorStatus], causes: Mapping[Part, Cause | None]
) -> dict[str, ConnectorStatus]:
    """The connectors with what their failures are about. None: it was not looked up."""
    changed = {name: _with_causes(statuses[name], causes) for name in {name for name, _ in causes}}
    return {**statuses, **changed}


def _with_causes(status: ConnectorStatus, causes: Mapping[Part, Cause | None]) -> ConnectorStatus:
    tasks = tuple(
        replace(task, cause=causes[status.name, task.id]) if (status.name, task.id) in causes else task
        for task in status.tasks
    )
    return replace(status, tasks=tasks, cause=causes.get((status.name, None), status.cause))


def _by_part(statuses: Iterable[ConnectorStatus]) -> dict[Part, ConnectorStatus | TaskStatus]:
    parts: dict[Part, ConnectorStatus | TaskStatus] = {}
    for status in statuses:
        parts[status.name, None] = status
        parts.update({(status.name, task.id): task for task in status.tasks})
    return parts


def _is_same(before: ConnectorStatus | TaskStatus, now: ConnectorStatus | TaskStatus) -> bool:
    """Whether it is the same failure, whose names were looked up."""
    was_looked_up = before.state is ReportedState.FAILED and before.cause is not None
    return was_looked_up and (before.diagnosis, before.checksum) == (now.diagnosis, now.checksum)
