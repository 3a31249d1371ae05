"""What a tick concludes about a cluster: the view to store, what to do within its limits, and in which order."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from chalicelib.domain.cluster import PendingChanges
from chalicelib.domain.connectors.cluster import (
    MAX_TAKEOVERS,
    ConnectSnapshot,
    TickInput,
    TickResult,
    evaluate_tick,
    with_verdicts,
)
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.confirmations import Confirmation
from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory
from chalicelib.domain.connectors.orphans import (
    DELETE_AFTER,
    FOREIGN_FOR,
    JUDGED_PER_TICK,
    MAX_FOREIGN,
    Orphan,
    Verdict,
)
from chalicelib.domain.connectors.recreations import CREATED_PER_TICK
from chalicelib.domain.connectors.restarts import RESTARTED_PER_TICK
from chalicelib.domain.connectors.step import Action
from chalicelib.domain.connectors.transitions import ConnectState
from chalicelib.domain.connectors.workers import OTHER_KAFKA
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import ConnectorStatus
from chalicelib.domain.operation import Operation, OperationKind, OperationStep
from chalicelib.kit.ids import id_from
from tests.unit.domain.connectors.looks import NOW, ORPHAN, RUNNING, RUNS, TICK, A, B, memory, read, settled, status

DOWN = TickInput(connect=ConnectSnapshot(unreadable="Kafka Connect cannot be reached."))
FAILED = status(A, "RUNNING", "FAILED", diagnosis=Diagnosis.CONNECTION)
OLD = Orphan(since=NOW - DELETE_AFTER, ours=True)
NAMES = [connector_name(ConnectorKind.SOURCE, id_from("cluster", str(number))) for number in range(400)]


def operation(*, lease_until: datetime) -> Operation:
    return Operation(
        id="o", kind=OperationKind.DEPLOY, resource_type="pipeline", resource_id="r", connect_cluster_id="k",
        connector_name=A, config_hash=None, actor_id=None, actor_email=None, actor_via="session", correlation_id="c",
        step=OperationStep.REQUESTED, lease_until=lease_until, created_at=NOW,
    )  # fmt: skip


def of(connectors: dict[str, ConnectorMemory], **fields: object) -> ClusterView:
    """A view of these connectors that is settled."""
    view = ClusterView(compared_at=NOW, memory=ClusterMemory(epoch=0, connectors=connectors))
    return replace(view, **fields)


def statuses_in(view: ClusterView) -> list[ConnectorStatus]:
    """The connectors as they were last seen."""
    known = view.memory.connectors.values()
    return [one.observation.connector for one in known if one.observation and one.observation.connector]


def seen_again(view: ClusterView) -> TickResult:
    """The conclusions of a tick that sees all connectors as they were."""
    return evaluate_tick(view, read(*statuses_in(view)), now=NOW)


# quiet connectors


def test_a_quiet_tick_changes_only_when_it_was_seen() -> None:
    view = settled(RUNNING)
    result = evaluate_tick(view, read(status(A)), now=NOW)
    assert (result.changed, result.actions, result.transitions) == (False, {}, ())
    assert result.view == replace(view, observed_at=NOW)


def test_the_same_input_has_the_same_result() -> None:
    arguments = settled(RUNNING), read(FAILED, status(ORPHAN), status(B))
    assert evaluate_tick(*arguments, now=NOW) == evaluate_tick(*arguments, now=NOW)


STALLED = (Finding(code=FindingCode.STALLED, message="It stands still."),)


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(read(FAILED), id="its state"),
        pytest.param(read(), id="its absence"),
        pytest.param(read(RUNNING, hashes={A: "b"}), id="its config"),
        pytest.param(read(RUNNING, progress={A: STALLED}), id="its progress"),
        pytest.param(read(RUNNING, desired={A: replace(RUNS, tasks=2)}), id="what is desired"),
        pytest.param(read(RUNNING, desired={}), id="that nobody desires it"),
    ],
)
def test_a_quiet_connector_is_not_skipped_when_something_is_different(seen: TickInput) -> None:
    result = evaluate_tick(settled(RUNNING), seen, now=NOW)
    assert result.changed
    assert result.view.memory.of(A) != memory()


@pytest.mark.parametrize(
    "seen", [read(RUNNING, hashes={A: "a"}), read(RUNNING, progress={A: ()}), read(RUNNING, desired={A: RUNS})]
)
def test_a_comparison_or_measurement_that_finds_nothing_changes_nothing(seen: TickInput) -> None:
    assert not evaluate_tick(settled(RUNNING), seen, now=NOW).changed


# Connect unreadable


def test_an_unreadable_connect_is_the_only_transition_and_nothing_is_done() -> None:
    view = settled(FAILED)
    result = evaluate_tick(view, DOWN, now=NOW)
    (transition,) = result.transitions
    assert (transition.connector, transition.resource_on("k")) == (None, ("connect_cluster", "k"))
    assert (transition.before, transition.after) == (ConnectState.READABLE, ConnectState.UNREADABLE)
    assert transition.reasons == (DOWN.connect.unreadable,)
    expected = replace(view, unreadable=DOWN.connect.unreadable, unreadable_since=NOW, observed_at=NOW)
    assert result == TickResult(actions={}, view=expected, changed=False, transitions=(transition,))


def test_a_connect_that_stays_unreadable_is_no_further_transition() -> None:
    first = evaluate_tick(settled(RUNNING), DOWN, now=NOW).view
    second = evaluate_tick(first, DOWN, now=NOW + TICK)
    assert (second.transitions, second.view) == ((), replace(first, observed_at=NOW + TICK))


@pytest.mark.parametrize(("seen", "connectors"), [(RUNNING, 0), (FAILED, 1)])
def test_a_readable_connect_is_a_transition_and_so_is_each_change_since(seen: ConnectorStatus, connectors: int) -> None:
    away = evaluate_tick(settled(RUNNING), DOWN, now=NOW).view
    result = evaluate_tick(away, read(seen), now=NOW + TICK)
    first, *others = result.transitions
    assert (first.connector, first.before, first.after) == (None, ConnectState.UNREADABLE, ConnectState.READABLE)
    assert len(others) == connectors
    assert result.view.unreadable is None


def test_transitions_begin_with_the_connectors_that_are_absent_by_name() -> None:
    view = settled(RUNNING, *(status(name) for name in NAMES[:9]), names=(A, *NAMES[:9]))
    result = evaluate_tick(view, read(status(A, "PAUSED")), now=NOW)
    assert [change.connector for change in result.transitions] == [*sorted(NAMES[:9]), A]


# what is desired


def test_after_a_change_what_is_desired_is_read_once_more() -> None:
    changed = replace(settled(RUNNING), epoch=1)
    assert not changed.settled
    first = evaluate_tick(changed, read(RUNNING, desired={A: RUNS}), now=NOW)
    assert not first.view.settled
    assert evaluate_tick(first.view, read(RUNNING, desired={A: RUNS}), now=NOW + TICK).view.settled


def test_what_is_desired_is_read_until_two_reads_agree() -> None:
    view, settled_after = settled(RUNNING), []
    for number, names in enumerate(([], [A], [A])):
        view = evaluate_tick(view, read(RUNNING, desired=dict.fromkeys(names, RUNS)), now=NOW + number * TICK).view
        settled_after.append(view.settled)
    assert settled_after == [False, False, True]


def test_connectors_of_open_operations_are_left_alone_and_their_state_is_not_settled() -> None:
    view = of({A: memory(None, missing_since=NOW - TICK)})
    busy = operation(lease_until=NOW + TICK)
    result = evaluate_tick(view, read(desired={A: RUNS}, open_operations=(busy,)), now=NOW)
    assert (result.actions, result.overdue, result.view.settled) == ({}, (), False)


# configs are compared again


def test_a_config_that_differs_is_compared_again_by_the_next_tick() -> None:
    differs = read(RUNNING, hashes={A: "b"})
    first = evaluate_tick(settled(RUNNING), differs, now=NOW).view
    assert (first.compared_at, first.memory.of(A).drift) == (None, Drift(expected="a"))
    second = evaluate_tick(first, differs, now=NOW + TICK).view
    assert (second.compared_at, second.memory.of(A).drift) == (NOW, Drift(expected="a", confirmed=True))


@pytest.mark.parametrize(("minutes", "soon"), [(0, False), (1, True)])
def test_configs_are_compared_soon_after_an_unexpected_change(minutes: int, soon: bool) -> None:
    compared_at = NOW - timedelta(minutes=minutes)
    result = evaluate_tick(settled(RUNNING), read(status(A, "UNASSIGNED"), compared_at=compared_at), now=NOW)
    assert result.view.compared_at == (None if soon else compared_at)


def test_configs_are_compared_soon_when_a_connector_that_had_drifted_gets_its_config_again() -> None:
    drifted = memory(drift=Drift(expected="a", confirmed=True))
    result = evaluate_tick(of({A: drifted}, epoch=1), read(RUNNING, desired={A: RUNS}), now=NOW)
    assert result.view.compared_at is None


# limits


def test_operations_whose_lease_has_ended_are_taken_over_a_bounded_number_of_them() -> None:
    overdue = (operation(lease_until=NOW),) * (MAX_TAKEOVERS + 1)
    assert len(evaluate_tick(settled(), read(desired={}, open_operations=overdue), now=NOW).overdue) == MAX_TAKEOVERS


def test_one_tick_creates_and_restarts_a_bounded_number_and_remembers_these_attempts_only() -> None:
    failing, missing, others = NAMES[:30], NAMES[30:60], NAMES[60:]
    failed = [status(name, "RUNNING", "FAILED", diagnosis=Diagnosis.CONNECTION) for name in failing]
    seen = read(*failed, *map(status, others), desired=dict.fromkeys(NAMES, RUNS))
    first = evaluate_tick(ClusterView(), seen, now=NOW - TICK)
    second = evaluate_tick(first.view, seen, now=NOW)
    created, restarted = second.actions[Action.CREATE], second.actions[Action.RESTART]
    assert (first.actions, len(created), len(restarted)) == ({}, CREATED_PER_TICK, RESTARTED_PER_TICK)
    connectors = second.view.memory.connectors
    assert {name for name in missing if (tried := connectors[name].recreations) and tried.count} == set(created)
    assert {name for name in failing if (tried := connectors[name].restarts) and tried.count} == set(restarted)


# many are missing at once, or other workers answer


def missing(count: int, of_all: int) -> TickInput:
    """So many of so many connectors that should run are missing."""
    names = NAMES[:of_all]
    return read(*map(status, names[count:]), desired=dict.fromkeys(names, RUNS))


def two_ticks(seen: TickInput, **fields: object) -> tuple[TickResult, TickResult]:
    first = evaluate_tick(ClusterView(**fields), seen, now=NOW - TICK)
    return first, evaluate_tick(first.view, seen, now=NOW)


@pytest.mark.parametrize(
    ("absent", "of_all", "created"),
    [(3, 3, 3), (4, 4, 0), (4, 39, 0), (4, 40, 4), (40, 40, 0), (41, 400, 0), (40, 400, CREATED_PER_TICK)],
)
def test_many_that_are_missing_at_once_are_not_created_again(absent: int, of_all: int, created: int) -> None:
    _, second = two_ticks(missing(absent, of_all))
    assert len(second.actions.get(Action.CREATE, ())) == created
    assert (second.view.pending_creations is not None) is (created == 0)


def test_creations_that_wait_are_shown_when_two_looks_have_missed_the_connectors() -> None:
    first, second = two_ticks(missing(30, 40))
    assert (first.view.pending_creations, second.changed) == (None, True)
    names = tuple(sorted(NAMES[:30])[:20])
    assert second.view.pending_creations == PendingChanges(count=30, since=NOW, names=names, newest=NOW - TICK)


def test_connectors_that_vanish_while_a_few_are_missing_count_at_once() -> None:
    first = evaluate_tick(ClusterView(), missing(3, 40), now=NOW - TICK)
    assert Action.CREATE not in evaluate_tick(first.view, missing(40, 40), now=NOW).actions


def test_confirmed_creations_are_made_ten_in_a_tick_and_later_ones_wait() -> None:
    _, second = two_ticks(missing(20, 40))
    confirmation = Confirmation(newest=second.view.pending_creations.newest, until=NOW + timedelta(hours=1))
    confirmed = replace(second.view, pending_creations=None, creations_confirmation=confirmation)
    third = evaluate_tick(confirmed, missing(20, 40), now=NOW + TICK)
    assert (len(third.actions[Action.CREATE]), third.view.pending_creations) == (CREATED_PER_TICK, None)
    fourth = evaluate_tick(confirmed, missing(40, 40), now=NOW + TICK)
    assert set(fourth.actions[Action.CREATE]) <= set(NAMES[:20])
    late = evaluate_tick(confirmed, missing(20, 40), now=confirmation.until)
    assert (late.actions, late.view.pending_creations.count) == ({}, 20)


def test_an_attempt_that_is_open_for_a_while_needs_no_second_confirmation() -> None:
    _, second = two_ticks(missing(20, 40))
    confirmation = Confirmation(newest=second.view.pending_creations.newest, until=NOW + timedelta(hours=1))
    view = replace(second.view, pending_creations=None, creations_confirmation=confirmation)
    busy = tuple(
        replace(operation(lease_until=NOW + 9 * TICK), connector_name=name) for name in NAMES[:CREATED_PER_TICK]
    )
    view = evaluate_tick(view, replace(missing(20, 40), open_operations=busy), now=NOW + TICK).view
    assert len(evaluate_tick(view, missing(20, 40), now=NOW + 2 * TICK).actions[Action.CREATE]) == CREATED_PER_TICK


def test_on_other_workers_nothing_is_created_and_nothing_can_be_confirmed() -> None:
    seen = missing(2, 40)
    elsewhere = replace(seen, connect=replace(seen.connect, knows_workers=True, fault=OTHER_KAFKA))
    first, second = two_ticks(elsewhere)
    assert (first.changed, first.view.fault) == (True, OTHER_KAFKA)
    assert second.actions == {}
    assert evaluate_tick(second.view, replace(elsewhere, connect=missing(40, 40).connect), now=NOW).actions == {}
    back = replace(seen, connect=replace(seen.connect, knows_workers=True))
    third = evaluate_tick(second.view, back, now=NOW + TICK)
    assert (len(third.actions[Action.CREATE]), third.view.fault) == (2, None)


def test_while_nothing_is_created_other_repairs_go_on() -> None:
    seen = read(status(NAMES[9], "PAUSED"), desired=dict.fromkeys(NAMES[:10], RUNS))
    assert two_ticks(seen)[1].actions == {Action.RESUME: (NAMES[9],)}


@pytest.mark.parametrize(
    ("ticks", "creations"),
    [
        pytest.param(12, range(4, 8), id="every two minutes, as Strimzi does: less and less often"),
        pytest.param(99, range(7, 8), id="when it has existed for a while: each time at once"),
    ],
)
def test_a_connector_that_something_else_removes_is_created_again(ticks: int, creations: range) -> None:
    view, exists, created = settled(RUNNING), True, 0
    for number in range(1, 2 * 360):
        exists = exists and number % ticks != 0
        now = NOW + number * TICK
        result = evaluate_tick(view, read(*([RUNNING] if exists else [])), now=now)
        view = result.view
        if Action.CREATE in result.actions:
            exists, created = True, created + 1
    assert created in creations


def orphans(count: int, orphan: Orphan) -> dict[str, ConnectorMemory]:
    return {name: memory(status(name), None, orphan=orphan) for name in NAMES[:count]}


def quiet(count: int) -> dict[str, ConnectorMemory]:
    """So many other connectors that run as desired."""
    names = [f"c{number}" for number in range(count)]
    return {name: memory(status(name)) for name in names}


def test_at_most_two_percent_of_a_cluster_are_deleted_in_one_tick() -> None:
    result = seen_again(of(orphans(10, OLD) | quiet(190)))
    assert (len(result.actions[Action.STOP]), len(result.actions[Action.DELETE])) == (10, 4)
    assert Action.JUDGE not in result.actions


def test_many_orphans_wait_until_a_person_confirms_them() -> None:
    view = of(orphans(30, OLD) | quiet(70))
    first = seen_again(view)
    assert (first.actions, first.changed) == ({}, True)
    assert first.view.pending
    confirmed = replace(view, confirmation=Confirmation(newest=OLD.since, until=NOW + TICK))
    second = seen_again(replace(confirmed, pending=first.view.pending))
    assert (len(second.actions[Action.STOP]), len(second.actions[Action.DELETE])) == (30, 2)
    assert (second.view.pending, second.changed) == (None, True)


def test_deletions_wait_since_they_were_first_shown() -> None:
    before = PendingChanges(count=30, since=NOW - TICK, names=(), newest=OLD.since)
    pending = seen_again(of(orphans(31, OLD) | quiet(69), pending=before)).view.pending
    assert (pending.count, pending.since) == (31, NOW - TICK)


def test_the_owners_of_a_bounded_number_are_looked_up_those_of_orphans_first() -> None:
    expired = {name: ConnectorMemory(foreign_until=NOW) for name in NAMES[-150:]}
    unknown = orphans(200, replace(OLD, ours=False))
    result = evaluate_tick(of(expired | unknown), read(*map(status, [*expired, *unknown])), now=NOW)
    judged = result.actions[Action.JUDGE]
    assert (len(judged), set(unknown) <= set(judged)) == (JUDGED_PER_TICK, True)
    assert result.actions.keys() == {Action.JUDGE}  # so many orphans whose owner is unknown count as ours


# owners that were looked up


def test_what_belongs_to_another_installation_is_not_observed_for_six_hours() -> None:
    judged = with_verdicts(of(orphans(1, OLD)).memory, {NAMES[0]: Verdict.FOREIGN}, NOW)
    assert judged.connectors == {NAMES[0]: ConnectorMemory(foreign_until=NOW + FOREIGN_FOR)}


def test_what_is_ours_is_remembered_as_such() -> None:
    unknown = of(orphans(1, replace(OLD, ours=False))).memory
    assert with_verdicts(unknown, {NAMES[0]: Verdict.OURS}, NOW).of(NAMES[0]).orphan == OLD


@pytest.mark.parametrize("verdict", [Verdict.OURS, Verdict.DESIRED])
def test_what_is_not_foreign_any_more_is_observed_again(verdict: Verdict) -> None:
    foreign = of({A: ConnectorMemory(foreign_until=NOW)}).memory
    judged = with_verdicts(foreign, {A: verdict}, NOW)
    assert (judged.connectors, judged.unsettled) == ({}, verdict is Verdict.DESIRED)


def test_a_bounded_number_is_remembered_as_foreign() -> None:
    many = {f"c{number}": ConnectorMemory(foreign_until=NOW + TICK) for number in range(MAX_FOREIGN)}
    memory_of_many = ClusterMemory(connectors=many | orphans(1, OLD))
    assert with_verdicts(memory_of_many, {NAMES[0]: Verdict.FOREIGN}, NOW) == memory_of_many
