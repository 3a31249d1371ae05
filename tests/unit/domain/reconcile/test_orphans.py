"""What is done about connectors that nothing needs, and when a person has to agree."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.cluster import PendingDeletions
from chalicelib.domain.reconcile.orphans import (
    DELETE_AFTER,
    JUDGED_PER_TICK,
    QUARANTINE_AFTER,
    SHOWN_NAMES,
    Confirmation,
    Orphan,
    OrphanPlan,
    max_deletions,
    plan_orphans,
    too_many,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD = NOW - DELETE_AFTER
SECOND = timedelta(seconds=1)


def plan(
    *orphans: Orphan,
    connectors: int = 1_000,
    expired: tuple[str, ...] = (),
    pending: PendingDeletions | None = None,
    confirmation: Confirmation | None = None,
) -> OrphanPlan:
    named = {f"c{number:04}": one for number, one in enumerate(orphans)}
    return plan_orphans(named, expired, connectors=connectors, pending=pending, confirmation=confirmation, now=NOW)


def ours(count: int, since: datetime = OLD) -> list[Orphan]:
    return [Orphan(since=since, ours=True)] * count


@pytest.mark.parametrize(("connectors", "deletions"), [(0, 1), (1, 1), (99, 1), (100, 2), (10_000, 200)])
def test_one_tick_deletes_two_percent_or_one(connectors: int, deletions: int) -> None:
    assert max_deletions(connectors) == deletions


@pytest.mark.parametrize(
    ("removed", "connectors", "many"), [(3, 3, False), (4, 39, True), (4, 40, False), (100, 1_000, False), (5, 5, True)]
)
def test_many_is_more_than_a_tenth_and_more_than_three(removed: int, connectors: int, many: bool) -> None:
    assert too_many(removed, connectors) is many


def test_nothing_is_done_about_a_new_orphan() -> None:
    assert plan(Orphan(since=NOW - QUARANTINE_AFTER + SECOND)) == OrphanPlan()


def test_an_orphan_is_looked_up_and_stopped_and_later_deleted() -> None:
    assert plan(Orphan(since=NOW - QUARANTINE_AFTER)) == OrphanPlan(judge=("c0000",), stop=("c0000",))
    assert plan(*ours(1, OLD + SECOND)) == OrphanPlan(stop=("c0000",))
    assert plan(*ours(1)) == OrphanPlan(stop=("c0000",), delete=("c0000",))


def test_a_bounded_number_is_looked_up() -> None:
    orphans = [Orphan(since=OLD)] * (JUDGED_PER_TICK + 1)
    assert len(plan(*orphans, expired=("foreign",), connectors=10**6).judge) == JUDGED_PER_TICK


def test_what_was_foreign_is_looked_up_again() -> None:
    assert plan(expired=("foreign",)) == OrphanPlan(judge=("foreign",))


def test_many_of_which_it_is_not_known_whose_they_are_are_left_alone_and_do_not_wait_for_people() -> None:
    result = plan(*[Orphan(since=OLD)] * 20, *ours(2), connectors=100)
    assert (len(result.judge), result.stop, result.delete, result.pending) == (20, (), (), None)


def test_many_of_ours_wait_for_people() -> None:
    result = plan(*ours(30), connectors=100)
    names = tuple(f"c{number:04}" for number in range(SHOWN_NAMES))
    assert result == OrphanPlan(pending=PendingDeletions(count=30, since=NOW, names=names, newest=OLD))


def test_they_wait_since_they_were_found() -> None:
    before = PendingDeletions(count=30, since=OLD, names=(), newest=OLD)
    result = plan(*ours(31), connectors=100, pending=before)
    assert result.pending
    assert (result.pending.count, result.pending.since) == (31, OLD)


def test_what_is_confirmed_is_deleted_at_the_usual_pace() -> None:
    confirmed = Confirmation(newest=OLD, until=NOW + SECOND)
    result = plan(*ours(30), connectors=100, confirmation=confirmed)
    assert (len(result.stop), result.delete, result.pending) == (30, ("c0000", "c0001"), None)


@pytest.mark.parametrize(
    "confirmation", [Confirmation(newest=OLD, until=NOW), Confirmation(newest=OLD - SECOND, until=NOW + SECOND)]
)
def test_a_confirmation_that_has_ended_or_is_for_others_does_not_count(confirmation: Confirmation) -> None:
    result = plan(*ours(30), connectors=100, confirmation=confirmation)
    assert (result.delete, result.stop) == ((), ())
    assert result.pending


def test_the_confirmed_ones_are_deleted_while_others_wait() -> None:
    confirmed = Confirmation(newest=OLD, until=NOW + SECOND)
    result = plan(*ours(1), *ours(30, OLD + SECOND), connectors=100, confirmation=confirmed)
    assert (result.stop, result.delete) == (("c0000",), ("c0000",))
    assert result.pending
    assert result.pending.count == 30
