"""What counts as a change of a connector, and what is told of it."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import NOTHING, ConnectorMemory
from chalicelib.domain.connectors.step import ConnectorLook, step
from chalicelib.domain.connectors.transitions import Transition
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import ConnectorStatus, ObservedState
from tests.unit.domain.connectors.looks import (
    FOREIGN,
    IDS,
    NOW,
    OLD,
    REFUSED,
    RUNNING,
    STOPPED,
    UNDESIRED,
    A,
    look,
    memory,
    of_orphan,
    status,
)

WAL = Diagnosis.WAL_GONE


def change(before: ConnectorMemory, seen: ConnectorLook) -> tuple[Any, ...] | None:
    """The states and the kinds of failure before and after."""
    transition = step(before, seen, NOW).transition
    return (transition.before, transition.after, transition.kinds) if transition else None


ABSENT, UP, DOWN = ObservedState.NOT_DEPLOYED, ObservedState.RUNNING, ObservedState.FAILED
OF_WAL = status(A, "RUNNING", "FAILED", diagnosis=WAL)


@pytest.mark.parametrize(
    ("before", "seen", "expected"),
    [
        pytest.param(NOTHING, look(), (None, UP, ()), id="first seen"),
        pytest.param(NOTHING, look(None), (None, ABSENT, ()), id="first looked for"),
        pytest.param(memory(), look(), None, id="quiet"),
        pytest.param(memory(None), look(), (ABSENT, UP, ()), id="appears"),
        pytest.param(memory(), look(None), (UP, ABSENT, ()), id="disappears"),
        pytest.param(memory(None), look(None), None, id="stays away"),
        pytest.param(memory(), look(STOPPED), (UP, ObservedState.STOPPED, ()), id="state"),
        pytest.param(memory(), look(OF_WAL), (UP, DOWN, ("CDC_WAL_ERROR",)), id="task fails"),
        pytest.param(memory(OF_WAL), look(OF_WAL), None, id="task stays failed"),
        pytest.param(
            memory(OF_WAL), look(REFUSED), (DOWN, DOWN, ("SOURCE_AUTH_FAILED",)), id="fails of something else"
        ),
        pytest.param(memory(OF_WAL), look(), (DOWN, UP, ()), id="recovers"),
        pytest.param(memory(), look(replace(RUNNING, worker_id="other")), None, id="another worker"),
        pytest.param(memory(drift=Drift(expected="a")), look(compared=True, config_hash="b"), None, id="drift"),
        pytest.param(NOTHING, UNDESIRED, (None, UP, ()), id="orphan appears"),
        pytest.param(of_orphan(OLD), look(None, None), (UP, ABSENT, ()), id="orphan disappears"),
        pytest.param(FOREIGN, UNDESIRED, None, id="of another installation"),
    ],
)
def test_a_transition_is_a_change_of_state_or_of_the_kind_of_failure(
    before: ConnectorMemory, seen: ConnectorLook, expected: tuple[Any, ...] | None
) -> None:
    assert change(before, seen) == expected


def transition(seen: ConnectorStatus, now: datetime = NOW) -> Transition:
    found = step(memory(), look(seen), now).transition
    assert found
    return found


def test_a_transition_names_the_resource_the_time_and_the_reasons() -> None:
    failed = transition(OF_WAL)
    assert failed.resource_on("k") == ("pipeline", IDS[0])
    assert failed.reasons == (f"Task 0 has failed. {hint_of(WAL, ConnectorKind.SOURCE).message}",)
    assert failed.at == NOW


def test_the_reasons_of_a_transition_are_few() -> None:
    assert len(transition(status(A, "RUNNING", *["FAILED"] * 900, diagnosis=WAL)).reasons) == 3
