"""What is concluded about one connector: what to remember of it, what to do, what is wrong."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.connectors import restarts
from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import NOTHING, ConnectorMemory
from chalicelib.domain.connectors.orphans import QUARANTINE_AFTER, Orphan
from chalicelib.domain.connectors.recreations import Recreations
from chalicelib.domain.connectors.restarts import NOT_RESTARTED, RestartCause, Restarts
from chalicelib.domain.connectors.step import Action, ConnectorLook, step, with_attempt
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from tests.unit.domain.connectors.looks import (
    FOREIGN,
    NOW,
    OLD,
    ORPHAN,
    PAUSED,
    REFUSED,
    RUNNING,
    RUNS,
    STOPPED,
    TICK,
    UNDESIRED,
    A,
    desired,
    look,
    memory,
    of_orphan,
    status,
)

AUTH, CONNECTION = Diagnosis.AUTH, Diagnosis.CONNECTION
FAILED = status(A, "RUNNING", "FAILED", diagnosis=CONNECTION)
BEFORE = NOW - TICK
VANISHED = Recreations(vanished=(NOW,))
TRIED = Recreations(count=1, tried_at=BEFORE, vanished=(BEFORE,))
NEEDS_RESTART = Restarts(cause=RestartCause.FAILED, since=BEFORE)
WRONG = memory(STOPPED, wrong_since=BEFORE, reverted_at=(BEFORE,))
NOT_STARTED = memory(STOPPED, wrong_since=NOW, not_started=True)
PAUSED_BY_HAND = status(A, "PAUSED", "PAUSED")
GONE = memory(None, missing_since=BEFORE)
CAPTURE = desired(resource_type="pipeline")
NO_RESTART = desired(restartable=False)


@pytest.mark.parametrize(
    ("before", "seen", "after", "actions", "codes"),
    [
        pytest.param(memory(), look(), memory(), [], [], id="runs as desired"),
        pytest.param(NOTHING, look(), memory(), [], [], id="is seen for the first time"),
        pytest.param(
            NOTHING, look(STOPPED), NOT_STARTED, [Action.RESUME], [], id="was just created, stopped, and is started"
        ),
        pytest.param(
            memory(STOPPED, None),
            look(STOPPED),
            NOT_STARTED,
            [Action.RESUME],
            [],
            id="was seen while it was being created, and is started",
        ),
        pytest.param(
            memory(None, missing_since=BEFORE),
            look(STOPPED),
            NOT_STARTED,
            [Action.RESUME],
            [],
            id="was created again, stopped, and is started",
        ),
        pytest.param(
            NOT_STARTED,
            look(STOPPED),
            NOT_STARTED,
            [Action.RESUME],
            [],
            id="was created and could not be started yet: nobody has stopped it",
        ),
        pytest.param(
            NOTHING,
            look(STOPPED, busy=True),
            replace(NOT_STARTED, wrong_since=None),
            [],
            [],
            id="was just created by an operation that is still open",
        ),
        pytest.param(NOT_STARTED, look(), memory(), [], [], id="was created and runs now"),
        pytest.param(
            NOTHING,
            look(STOPPED, CAPTURE),
            memory(STOPPED, CAPTURE, wrong_since=NOW, reverted_at=(NOW,)),
            [],
            [],
            id="a capture is stopped when it is seen first: Headgate starts those that it creates at once",
        ),
        pytest.param(
            NOTHING, look(STOPPED, PAUSED), memory(STOPPED, PAUSED), [], [], id="is stopped, and should be paused"
        ),
        pytest.param(
            NOTHING,
            look(PAUSED_BY_HAND),
            memory(PAUSED_BY_HAND, wrong_since=NOW, reverted_at=(NOW,)),
            [],
            [],
            id="is paused when it is seen for the first time: that is not how Headgate creates one",
        ),
        pytest.param(memory(), look(None), memory(None, missing_since=NOW), [], [], id="is missing for the first time"),
        pytest.param(
            GONE,
            look(None),
            replace(GONE, recreations=VANISHED),
            [Action.CREATE],
            [],
            id="is missing again",
        ),
        pytest.param(
            replace(GONE, recreations=Recreations(count=1, tried_at=NOW, vanished=(BEFORE,))),
            look(None),
            replace(GONE, recreations=Recreations(count=1, tried_at=NOW, vanished=(BEFORE,))),
            [],
            [],
            id="is missing during the pause after an attempt",
        ),
        pytest.param(
            memory(None, missing_since=NOW - timedelta(seconds=1)),
            look(None),
            memory(None, missing_since=NOW - timedelta(seconds=1)),
            [],
            [],
            id="is missing in two looks within a second",
        ),
        pytest.param(GONE, look(None, busy=True), GONE, [], [], id="is missing during an operation"),
        pytest.param(memory(), look(None, busy=True), memory(None), [], [], id="vanishes during an operation"),
        pytest.param(
            memory(recreations=replace(TRIED, seen_since=BEFORE)),
            look(None),
            memory(None, missing_since=NOW, recreations=replace(TRIED, seen_since=BEFORE)),
            [],
            [],
            id="is missing once more, for the first time",
        ),
        pytest.param(
            replace(GONE, recreations=TRIED),
            look(),
            memory(recreations=replace(TRIED, seen_since=NOW)),
            [],
            [],
            id="exists again",
        ),
        pytest.param(
            replace(GONE, recreations=TRIED, restarts=replace(NEEDS_RESTART, count=3)),
            look(None),
            replace(GONE, recreations=TRIED, restarts=replace(NEEDS_RESTART, count=3)),
            [Action.CREATE],
            ["CONNECTOR_RESTART_LOOP"],
            id="is missing after it had failed: is created, not restarted",
        ),
        pytest.param(
            memory(),
            look(STOPPED),
            memory(STOPPED, wrong_since=NOW, reverted_at=(NOW,)),
            [],
            [],
            id="was stopped by somebody",
        ),
        pytest.param(WRONG, look(STOPPED), WRONG, [Action.RESUME], [], id="is stopped again"),
        pytest.param(
            WRONG, look(STOPPED, busy=True), replace(WRONG, wrong_since=None), [], [], id="is stopped by an operation"
        ),
        pytest.param(
            memory(wanted=PAUSED, wrong_since=BEFORE),
            look(wanted=PAUSED),
            memory(wanted=PAUSED, wrong_since=BEFORE),
            [Action.PAUSE],
            [],
            id="runs again although it should be paused",
        ),
        pytest.param(
            memory(STOPPED, PAUSED),
            look(STOPPED, PAUSED),
            memory(STOPPED, PAUSED),
            [],
            [],
            id="is stopped by hand while it should be paused",
        ),
        pytest.param(
            memory(STOPPED, PAUSED, wrong_since=BEFORE, recreations=TRIED),
            look(STOPPED, PAUSED),
            memory(STOPPED, PAUSED, wrong_since=BEFORE, recreations=replace(TRIED, seen_since=NOW)),
            [Action.PAUSE],
            [],
            id="was just created, stopped, and should be paused",
        ),
        pytest.param(
            memory(),
            look(compared=True, config_hash="b", foreign=True),
            memory(conflict=True),
            [],
            ["CONNECTOR_NAME_CONFLICT"],
            id="is of another installation",
        ),
        pytest.param(
            memory(STOPPED, conflict=True),
            look(STOPPED),
            memory(STOPPED, conflict=True),
            [],
            ["CONNECTOR_NAME_CONFLICT"],
            id="is of another installation, and stopped there",
        ),
        pytest.param(
            memory(REFUSED),
            look(REFUSED),
            memory(REFUSED),
            [],
            ["SOURCE_AUTH_FAILED"],
            id="has failed, and a restart would not help",
        ),
        pytest.param(
            memory(),
            look(FAILED),
            memory(FAILED, restarts=replace(NEEDS_RESTART, since=NOW)),
            [],
            ["SOURCE_CONNECTION_FAILED"],
            id="has failed for the first time",
        ),
        pytest.param(
            memory(FAILED, restarts=NEEDS_RESTART),
            look(FAILED),
            memory(FAILED, restarts=NEEDS_RESTART),
            [Action.RESTART],
            ["SOURCE_CONNECTION_FAILED"],
            id="has failed again",
        ),
        pytest.param(
            memory(FAILED, NO_RESTART),
            look(FAILED, NO_RESTART),
            memory(FAILED, NO_RESTART),
            [],
            ["SOURCE_CONNECTION_FAILED"],
            id="has failed, and would read its whole source again",
        ),
        pytest.param(
            memory(FAILED, restarts=NEEDS_RESTART),
            look(FAILED, PAUSED),
            memory(FAILED, PAUSED, wrong_since=NOW),
            [],
            ["SOURCE_CONNECTION_FAILED"],
            id="has failed, and should be paused now",
        ),
        pytest.param(
            memory(FAILED, PAUSED, wrong_since=BEFORE),
            look(FAILED, PAUSED),
            memory(FAILED, PAUSED, wrong_since=BEFORE),
            [Action.PAUSE],
            ["SOURCE_CONNECTION_FAILED"],
            id="has failed again, and should be paused: is not restarted",
        ),
        pytest.param(
            memory(restarts=Restarts(count=3, tried_at=NOW - restarts.STEADY_AFTER, running_since=BEFORE)),
            look(),
            memory(restarts=Restarts(count=3, tried_at=NOW - restarts.STEADY_AFTER, running_since=BEFORE)),
            [],
            ["CONNECTOR_RESTART_LOOP"],
            id="runs again after restarts",
        ),
        pytest.param(
            memory(restarts=Restarts(count=3, tried_at=BEFORE, running_since=NOW - restarts.STEADY_AFTER)),
            look(),
            memory(),
            [],
            [],
            id="has run for a while after restarts",
        ),
        pytest.param(
            memory(), look(compared=True, config_hash="b"), memory(drift=Drift(expected="a")), [], [], id="differs once"
        ),
        pytest.param(
            memory(drift=Drift(expected="a")),
            look(compared=True, config_hash="b"),
            memory(drift=Drift(expected="a", confirmed=True)),
            [],
            ["CONFIG_DRIFT"],
            id="differs again",
        ),
        pytest.param(
            memory(recreations=TRIED, drift=Drift(expected="a"), reverted_at=(BEFORE,)),
            look(wanted=None),
            memory(wanted=None, orphan=Orphan(since=NOW)),
            [],
            [],
            id="is not desired any more",
        ),
        pytest.param(memory(wanted=None), look(None, None), NOTHING, [], [], id="is neither desired nor there"),
    ],
)
def test_a_step_follows_from_what_is_remembered_and_seen(
    before: ConnectorMemory, seen: ConnectorLook, after: ConnectorMemory, actions: list[Action], codes: list[str]
) -> None:
    taken = step(before, seen, NOW)
    assert replace(taken.memory, conditions=()) == after
    assert list(taken.actions) == actions
    assert [condition.code for condition in taken.conditions] == codes


YOUNG, DUE = Orphan(since=NOW - QUARANTINE_AFTER + TICK), Orphan(since=NOW - QUARANTINE_AFTER)
SEEN_STOPPED = look(status(ORPHAN, "STOPPED"), None)
EXPIRED = ConnectorMemory(foreign_until=NOW)


@pytest.mark.parametrize(
    ("before", "seen", "after", "actions"),
    [
        pytest.param(NOTHING, UNDESIRED, of_orphan(Orphan(since=NOW)), [], id="is new"),
        pytest.param(of_orphan(YOUNG), UNDESIRED, of_orphan(YOUNG), [], id="is young"),
        pytest.param(of_orphan(DUE), UNDESIRED, of_orphan(DUE), [Action.JUDGE, Action.STOP], id="is due"),
        pytest.param(of_orphan(OLD), UNDESIRED, of_orphan(OLD), [Action.STOP, Action.DELETE], id="is ours and old"),
        pytest.param(of_orphan(DUE), replace(UNDESIRED, busy=True), of_orphan(), [], id="has an open operation"),
        pytest.param(of_orphan(DUE), replace(UNDESIRED, desired=RUNS), None, [], id="is desired after all"),
        pytest.param(of_orphan(OLD), replace(UNDESIRED, status=None), NOTHING, [], id="is gone"),
        pytest.param(of_orphan(OLD), SEEN_STOPPED, None, [Action.DELETE], id="is ours, old and stopped"),
        pytest.param(FOREIGN, UNDESIRED, FOREIGN, [], id="belongs to another installation"),
        pytest.param(FOREIGN, replace(UNDESIRED, status=None), FOREIGN, [], id="belonged to another one, and is away"),
        pytest.param(EXPIRED, UNDESIRED, EXPIRED, [Action.JUDGE], id="belonged to another one six hours ago"),
        pytest.param(EXPIRED, replace(UNDESIRED, status=None), NOTHING, [], id="belonged to another one, and is gone"),
        pytest.param(FOREIGN, replace(UNDESIRED, desired=RUNS), None, [], id="is desired, and counted as foreign"),
    ],
)
def test_what_is_not_desired_is_looked_up_stopped_and_deleted_in_time(
    before: ConnectorMemory, seen: ConnectorLook, after: ConnectorMemory | None, actions: list[Action]
) -> None:
    taken = step(before, seen, NOW)
    assert list(taken.actions) == actions
    if after is not None:
        assert taken.memory == after
    if seen.desired is not None:
        assert (taken.memory.orphan, taken.memory.foreign_until) == (None, None)


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
@pytest.mark.parametrize(("diagnosis", "also"), [(AUTH, []), (CONNECTION, [Action.RESTART])])
def test_what_was_paused_by_hand_is_resumed_also_when_a_task_has_failed(
    state: str, diagnosis: Diagnosis, also: list[Action]
) -> None:
    seen = look(status(A, state, "FAILED", diagnosis=diagnosis))
    first = step(memory(), seen, NOW)
    assert list(step(first.memory, seen, NOW + TICK).actions) == [Action.RESUME, *also]


def test_an_attempt_is_remembered_with_what_it_makes_wrong() -> None:
    before = memory(FAILED, restarts=replace(NEEDS_RESTART, count=2))
    after = with_attempt(A, before, step(before, look(FAILED), NOW).memory, NOW)
    assert after.restarts == Restarts(cause=RestartCause.FAILED, since=BEFORE, count=3, tried_at=NOW)
    assert [condition.code for condition in after.conditions] == ["SOURCE_CONNECTION_FAILED", "CONNECTOR_RESTART_LOOP"]
    created = with_attempt(A, GONE, step(GONE, look(None), NOW).memory, NOW)
    assert created.recreations == replace(VANISHED, count=1, tried_at=NOW)


def test_the_notices_say_that_nothing_restarts_a_connector_that_would_read_everything_again() -> None:
    for seen, expected in ((FAILED, (NOT_RESTARTED,)), (RUNNING, ())):
        after = step(memory(FAILED, NO_RESTART), look(seen, NO_RESTART), NOW).memory
        assert after.observation
        assert after.reasons(after.observation) == expected
