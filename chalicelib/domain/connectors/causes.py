"""What the failures of connectors are about: the names in their traces, compared with those that Headgate knows."""

from collections.abc import Mapping, Sequence
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


def _remembered(before: ConnectorStatus | None, now: ConnectorStatus, part: Part, noted: Candidates) -> Cause | None:
    earlier, current = _part(before, part), _part(now, part)
    if earlier is None or current is None or earlier.state is not ReportedState.FAILED or earlier.cause is None:
        return None
    is_same = (earlier.diagnosis, earlier.checksum) == (current.diagnosis, noted.checksum)
    return earlier.cause if is_same else None


def remembered_causes(
    statuses: Mapping[str, ConnectorStatus], noted: NotedNames, memory: ClusterMemory
) -> dict[Part, Cause | None]:
    """What the last tick has found out, by failed connector and task; None where it has to be looked up."""
    causes = dict[Part, Cause | None]()
    for part, candidates in noted.by_part.items():
        status, observation = statuses.get(part[0]), memory.of(part[0]).observation
        if status is not None:
            before = observation.connector if observation else None
            causes[part] = _remembered(before, status, part, candidates)
    return causes


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
    changed = {name: _with_causes(statuses[name], causes) for name, _ in causes}
    return {**statuses, **changed}


def _with_causes(status: ConnectorStatus, causes: Mapping[Part, Cause | None]) -> ConnectorStatus:
    tasks = tuple(
        replace(task, cause=causes[status.name, task.id]) if (status.name, task.id) in causes else task
        for task in status.tasks
    )
    return replace(status, tasks=tasks, cause=causes.get((status.name, None), status.cause))


def _part(status: ConnectorStatus | None, part: Part) -> ConnectorStatus | TaskStatus | None:
    if status is None or part[1] is None:
        return status
    tasks: Sequence[TaskStatus] = status.tasks
    return next((task for task in tasks if task.id == part[1]), None)
