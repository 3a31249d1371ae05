"""When so many orphans are removed that a person has to agree."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.cluster import PendingChanges
from chalicelib.domain.connectors.confirmations import SHOWN_NAMES, Confirmation, LimitedChanges, too_many
from chalicelib.domain.connectors.orphans import DELETE_AFTER, Orphan, limit_removals, max_deletions

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD = NOW - DELETE_AFTER
SECOND = timedelta(seconds=1)


def removals(*orphans: Orphan, confirmation: Confirmation | None = None) -> LimitedChanges:
    """What a cluster of a hundred connectors allows for these orphans: c0000 and so on."""
    due = {f"c{number:04}": orphan for number, orphan in enumerate(orphans)}
    return limit_removals(due, connectors=100, pending=None, confirmation=confirmation, now=NOW)


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


def test_a_few_orphans_are_removed() -> None:
    assert removals(*ours(10)) == LimitedChanges(allowed={f"c{number:04}" for number in range(10)})


def test_many_orphans_whose_owner_is_unknown_are_left_alone_and_do_not_wait_for_people() -> None:
    assert removals(*[Orphan(since=OLD)] * 20, *ours(2)) == LimitedChanges(allowed=set())


def test_many_of_ours_wait_for_people() -> None:
    names = tuple(f"c{number:04}" for number in range(SHOWN_NAMES))
    pending = PendingChanges(count=30, since=NOW, names=names, newest=OLD)
    assert removals(*ours(30)) == LimitedChanges(allowed=set(), pending=pending)


@pytest.mark.parametrize(
    "confirmation", [Confirmation(newest=OLD, until=NOW), Confirmation(newest=OLD - SECOND, until=NOW + SECOND)]
)
def test_a_confirmation_that_has_ended_or_is_for_others_does_not_count(confirmation: Confirmation) -> None:
    result = removals(*ours(30), confirmation=confirmation)
    assert (result.allowed, result.pending is not None) == (set(), True)


def test_the_confirmed_ones_are_removed_while_others_wait() -> None:
    confirmed = Confirmation(newest=OLD, until=NOW + SECOND)
    result = removals(*ours(1), *ours(30, OLD + SECOND), confirmation=confirmed)
    assert result.allowed == {"c0000"}
    assert result.pending.count == 30
