"""Connectors as Kafka Connect reports them."""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.observation import ConnectorStatus, ReportedState, TaskStatus


def reported(name: str, state: str, *tasks: str, diagnosis: Diagnosis | None = None) -> ConnectorStatus:
    """A connector in this state, with tasks in these states. Parts that have failed have this diagnosis."""

    def diagnosis_in(state: str) -> Diagnosis | None:
        return diagnosis if state == ReportedState.FAILED else None

    parts = (
        TaskStatus(id=number, state=ReportedState(task_state), worker_id="w", diagnosis=diagnosis_in(task_state))
        for number, task_state in enumerate(tasks)
    )
    return ConnectorStatus(
        name=name, state=ReportedState(state), worker_id="w", tasks=tuple(parts), diagnosis=diagnosis_in(state)
    )
