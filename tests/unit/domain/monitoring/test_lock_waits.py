"""When a target is asked who is in the way, and what is safe to show of the answer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.lock_waits import (
    Blocker,
    LockWait,
    may_wait,
    safe_name,
    wait_hint,
    wait_message,
    waits_of,
    with_lock_wait,
)
from chalicelib.domain.monitoring.progress import Progress
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.table import TableName

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ORDERS, LINES = TableName("lake", "orders"), TableName("lake", "lines")
STALLED = Progress(measured_at=NOW, findings=(Finding(code=FindingCode.STALLED, message="It stands."),))
WAIT = LockWait(seen_at=NOW, table=ORDERS, blockers=(Blocker(session=7, ending="KILL 7;"),))


@pytest.mark.parametrize(("seconds", "asked"), [(60, False), (90, False), (91, True)])
def test_a_delivery_is_asked_about_once_it_is_quiet_for_longer_than_a_commit_takes(seconds: int, asked: bool) -> None:
    quiet = Progress(measured_at=NOW, quiet_since=NOW - timedelta(seconds=seconds))
    assert may_wait(quiet, NOW) is asked
    assert not may_wait(quiet, NOW + timedelta(minutes=6))


def test_a_delivery_that_is_known_to_stand_is_asked_about_and_one_that_was_never_measured_is_not() -> None:
    assert may_wait(STALLED, NOW)
    assert not may_wait(None, NOW)


@pytest.mark.parametrize("name", ["psql", "dbt (prod): orders/lines", "svc@10.0.0.1:5432", "a" * 63])
def test_a_plain_name_is_shown(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "a" * 64,
        "a\nb",
        "password=x",
        "<!channel>",
        "\u202eevil",
        "Ωmega",
        "a*b*",
        "`x`",
        "[a]",
        "x;y",
        7,
        None,
    ],
)
def test_a_name_that_could_mislead_a_reader_or_a_chat_is_null(name: object) -> None:
    assert safe_name(name) is None


def test_a_secret_in_a_name_is_not_shown() -> None:
    assert safe_name("job hunter2 runs", ["hunter2"]) is None
    assert safe_name("job hunter2 runs", [""]) == "job hunter2 runs"


def test_each_delivery_gets_the_wait_on_its_own_tables_or_on_the_whole_server() -> None:
    targets = {"a": [ORDERS], "b": [LINES]}
    assert waits_of([WAIT], targets) == {"a": WAIT}
    everywhere = replace(WAIT, table=None)
    assert waits_of([everywhere], targets) == {"a": everywhere, "b": everywhere}


def test_an_old_look_says_nothing_about_a_delivery_that_stands() -> None:
    assert with_lock_wait(STALLED, WAIT, NOW + timedelta(minutes=6)) == STALLED
    (finding,) = with_lock_wait(STALLED, WAIT, NOW).findings
    assert "session 7" in finding.message
    assert "KILL 7;" in str(finding.hint)


def test_a_prepared_transaction_has_no_statement_that_ends_its_session() -> None:
    wait = replace(WAIT, blockers=(Blocker(),))
    assert "a session or prepared transaction" in wait_message(wait)
    assert wait_hint(wait).startswith("Find the session")


def test_several_sessions_are_told_in_the_order_in_which_they_are_to_end() -> None:
    wait = replace(WAIT, blockers=(Blocker(session=7, ending="KILL 7;"), Blocker(session=8, ending="KILL 8;")))
    assert "KILL 7; If it still waits, the next: KILL 8;" in wait_hint(wait)
