"""Target tables compared with the look before. What a real server shows is in tests/integration/databases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.target_losses import MAX_LOSSES, TargetLosses, after_looks, loss_conditions
from chalicelib.domain.monitoring.target_tables import (
    MAX_COUNTED,
    Deletes,
    LossKind,
    TableLoss,
    TargetMemory,
    WatchedTable,
    after_look,
    judged_by_records,
    losses,
    rows_to_count,
    suspicions,
    undecided,
)
from chalicelib.domain.table import TableName

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
NAME = TableName("shop", "orders")
BEFORE = WatchedTable(
    name=NAME, identity="1", storage="1", partitions=2, rows=1000, live=1000, deleted=5, countable=True
)
ALL_OURS = Deletes(enabled=True, records=10_000)
NONE_OF_OURS = Deletes(enabled=True, records=0)
MILLION = 1_000_000


def kinds(
    before: WatchedTable = BEFORE, *, counted: int | None = None, deletes: Deletes = NONE_OF_OURS, **changes: Any
) -> list[LossKind]:
    """What the look after finds, when so many rows are counted (None: they cannot be)."""
    known, seen = {NAME: before}, {NAME: replace(before, **changes)}
    suspected = suspicions(known, seen, deletes)
    rows = (
        {}
        if counted is None
        else {name: min(counted, bound) for name, bound in rows_to_count(known, seen, suspected).items()}
    )
    return [loss.kind for loss in losses(known, seen, suspected, rows, deletes, NOW)]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"identity": "2", "storage": "2"}, LossKind.RECREATED),
        ({"storage": "2"}, LossKind.TRUNCATED),
        ({"storage": "2", "partitions": 1}, LossKind.PARTITIONS_REMOVED),
        ({"live": 0, "deleted": 1005}, LossKind.ROWS_DELETED),
    ],
)
def test_fewer_rows_are_a_loss_of_its_kind_and_as_many_are_none(changes: dict[str, Any], kind: LossKind) -> None:
    assert kinds(counted=1, **changes) == [kind]
    assert kinds(counted=1000, **changes) == ([LossKind.SWAPPED] if kind is LossKind.RECREATED else [])


def test_a_table_that_is_gone_is_a_loss_whatever_it_had() -> None:
    for rows in (0, 1000):
        known = {NAME: replace(BEFORE, rows=rows)}
        (loss,) = losses(known, {}, suspicions(known, {}, ALL_OURS), {}, ALL_OURS, NOW)
        assert (loss.kind, loss.rows_before, loss.rows_after) == (LossKind.DROPPED, rows, None)


@pytest.mark.parametrize(
    ("deletes", "is_lost"),
    [
        (Deletes(enabled=True, records=0), True),
        (Deletes(enabled=True, records=99), True),
        (Deletes(enabled=True, records=1000), False),
        (Deletes(enabled=True, records=None), False),
        (Deletes(enabled=False, records=None), True),
        (Deletes(enabled=False, records=1000), True),
    ],
)
def test_deleted_rows_are_lost_when_the_delivery_cannot_have_deleted_them(deletes: Deletes, is_lost: bool) -> None:
    assert kinds(counted=0, deletes=deletes, live=0, deleted=1005) == [LossKind.ROWS_DELETED] * is_lost
    # VACUUM may come before the report of the session that has deleted them.
    assert kinds(counted=0, deletes=deletes, live=0) == [LossKind.ROWS_DELETED] * is_lost


def test_rows_that_the_delivery_has_deleted_are_missing_in_no_rewritten_table() -> None:
    assert kinds(counted=500, deletes=ALL_OURS, storage="2", deleted=505) == []
    assert kinds(counted=400, deletes=ALL_OURS, storage="2", deleted=505) == [LossKind.TRUNCATED]
    assert kinds(counted=500, deletes=NONE_OF_OURS, storage="2", deleted=505) == [LossKind.TRUNCATED]


UNCOUNTED = replace(BEFORE, identity="", deleted=None)
"""Of a server that does not count what was deleted."""


@pytest.mark.parametrize("change", [{"storage": "2"}, {"storage": "2", "partitions": 1}, {"live": 400}])
def test_where_the_server_counts_no_deleted_rows_only_the_records_say_what_the_delivery_may_have_deleted(
    change: dict[str, Any],
) -> None:
    known = {NAME: UNCOUNTED}
    suspected = suspicions(known, {NAME: replace(UNCOUNTED, **change)}, NONE_OF_OURS)
    assert judged_by_records(known, suspected) == {NAME}
    assert kinds(UNCOUNTED, counted=500, deletes=Deletes(enabled=True, records=500), **change) == []
    assert kinds(UNCOUNTED, counted=500, deletes=Deletes(enabled=True), **change) == []
    assert len(kinds(UNCOUNTED, counted=500, deletes=Deletes(enabled=True, records=300), **change)) == 1
    assert len(kinds(UNCOUNTED, counted=500, deletes=Deletes(enabled=False), **change)) == 1
    assert kinds(UNCOUNTED, counted=1000, **change) == []


def test_where_the_server_counts_deleted_rows_records_decide_only_about_rows_that_seem_deleted() -> None:
    known = {NAME: BEFORE}
    for change, expected in (({"storage": "2"}, set()), ({"live": 0}, {NAME})):
        suspected = suspicions(known, {NAME: replace(BEFORE, **change)}, NONE_OF_OURS)
        assert judged_by_records(known, suspected) == expected
    for table in (BEFORE, UNCOUNTED):
        assert judged_by_records({NAME: table}, suspicions({NAME: table}, {}, NONE_OF_OURS)) == set()


@pytest.mark.parametrize(("rows", "counted", "is_lost"), [(1000, 990, False), (1000, 989, True), (99, 98, True)])
def test_one_percent_may_be_missing_where_rows_are_counted(rows: int, counted: int, is_lost: bool) -> None:
    before = replace(BEFORE, rows=rows, live=rows)
    assert kinds(before, counted=counted, storage="2") == [LossKind.TRUNCATED] * is_lost


def test_fewer_rows_by_less_than_a_tenth_raise_no_suspicion() -> None:
    assert kinds(counted=0, live=900, deleted=105) == []
    assert kinds(counted=899, live=899, deleted=106) == [LossKind.ROWS_DELETED]


def test_statistics_that_are_wrong_are_no_loss() -> None:
    assert kinds(counted=1000, live=0, deleted=0) == []
    assert kinds(replace(BEFORE, live=2000), counted=1000, live=1000) == []


@pytest.mark.parametrize(("rows", "is_lost"), [(MILLION, False), (950_000, False), (500_000, True)])
def test_a_large_table_is_counted_to_a_bound_and_estimated_beyond(rows: int, is_lost: bool) -> None:
    before = replace(BEFORE, rows=MILLION, live=MILLION)
    assert rows_to_count({NAME: before}, {NAME: before}, {NAME: LossKind.TRUNCATED}) == {NAME: MAX_COUNTED}
    assert kinds(before, counted=rows, storage="2", rows=rows, live=rows) == [LossKind.TRUNCATED] * is_lost


def test_a_table_that_could_not_be_counted_is_undecided_and_kept_for_the_next_look() -> None:
    known, seen = {NAME: BEFORE}, {NAME: replace(BEFORE, storage="2", rows=0)}
    suspected = suspicions(known, seen, NONE_OF_OURS)
    assert losses(known, seen, suspected, {}, NONE_OF_OURS, NOW) == ()
    kept = undecided(known, seen, suspected, {})
    assert kept == {NAME}
    memory = TargetMemory(id="d", tables=(BEFORE,), checked_at=NOW, created_at=NOW)
    assert after_look(memory, "d", seen.values(), kept, None, NOW, basis=1).tables == (BEFORE,)
    assert after_look(memory, "d", seen.values(), frozenset(), None, NOW, basis=1).tables == tuple(seen.values())


def test_a_table_whose_rows_the_role_does_not_see_is_estimated() -> None:
    before = replace(BEFORE, countable=False)
    assert kinds(before, storage="2", rows=0) == [LossKind.TRUNCATED]
    assert kinds(before, storage="2") == []


def test_the_records_before_the_last_two_looks_are_remembered_for_the_same_topics() -> None:
    memory = None
    for minute, delivered in enumerate((10, 20, 30)):
        memory = after_look(memory, "d", (), frozenset(), delivered, NOW + minute * timedelta(minutes=1), basis=1)
    assert memory is not None
    assert memory.delivered == (20, 30)
    soon = memory.checked_at + timedelta(seconds=5)
    assert after_look(memory, "d", (), frozenset(), 40, soon, basis=1).delivered == (20, 30)
    assert after_look(memory, "d", (), frozenset(), 5, NOW, basis=2).delivered == (5,)
    assert after_look(memory, "d", (), frozenset(), None, NOW, basis=1).delivered == ()


def loss(kind: LossKind, table: int = 1, at: datetime = NOW) -> TableLoss:
    return TableLoss(table=TableName("shop", f"t{table}"), kind=kind, rows_before=9, rows_after=1, at=at)


def known(*found: TableLoss, before: TargetLosses | None = None, accepted: tuple[str, ...] = ()) -> TargetLosses:
    return after_looks(before, "destination", {"d": found}, ["d"], accepted, NOW)


def test_the_first_loss_of_a_table_is_kept_and_a_swap_never_hides_it() -> None:
    first, again = loss(LossKind.TRUNCATED, at=NOW - timedelta(days=9)), loss(LossKind.DROPPED)
    state = known(again, loss(LossKind.SWAPPED), before=known(first))
    assert state.losses == {"d": (first,)}
    assert known(again, before=known(loss(LossKind.SWAPPED))).losses == {"d": (again,)}


def test_a_person_accepts_losses_and_deleted_deliveries_have_none() -> None:
    state = known(loss(LossKind.DROPPED))
    assert known(before=state, accepted=("d",)).losses == {}
    assert after_looks(state, "destination", {}, ["another"], (), NOW).losses == {}


def test_a_swap_alone_is_worth_knowing_and_a_loss_is_an_error() -> None:
    swapped, lost = known(loss(LossKind.SWAPPED)), known(loss(LossKind.SWAPPED), loss(LossKind.DROPPED, 2))
    (notice,), (error,) = (list(loss_conditions(state, ["d", "another"])) for state in (swapped, lost))
    assert (notice.severity, error.severity) == (Severity.INFO, Severity.ERROR)
    assert "shop.t2" in error.message
    assert "shop.t1" not in error.message
    assert notice.hint != error.hint
    assert list(loss_conditions(None, ["d"])) == []


def test_losses_of_a_delivery_are_bounded_and_swaps_go_first() -> None:
    many = [loss(LossKind.SWAPPED, 0), *(loss(LossKind.DROPPED, number) for number in range(1, 3 * MAX_LOSSES))]
    kept = known(*many).losses["d"]
    assert len(kept) == MAX_LOSSES
    assert not any(one.is_harmless for one in kept)
