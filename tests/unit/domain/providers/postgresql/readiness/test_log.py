"""The log behind a slot, open transactions and time limits."""

from dataclasses import replace

import pytest

from chalicelib.domain.providers.postgresql.facts import OpenTransaction, SlotFacts
from chalicelib.domain.readiness import CheckOutcome
from tests.support.databases.postgresql_facts import PLAN, failing, judged, warning
from tests.support.databases.readiness import check_of


def test_lost_slot_fails_the_plan_that_names_it_and_only_warns_without() -> None:
    slots = (SlotFacts(name="slot", database="shop", wal_status="lost"),)
    assert failing(slots=slots) == {"slot_log"}
    assert failing(replace(PLAN, slot_name="other"), slots=slots) == set()
    assert warning(None, slots=slots) == {"slot_log"}


def test_a_slot_that_may_lose_its_log_is_a_warning() -> None:
    assert warning(slots=(SlotFacts(name="slot", database="shop", wal_status="unreserved"),)) == {"slot_log"}


def test_a_slot_is_judged_by_what_is_kept_for_it_and_by_what_is_left() -> None:
    slot = SlotFacts(name="slot", database="shop", retained_bytes=1024**3, safe_bytes=9 * 1024**3)
    assert warning(slots=(slot,)) == set()
    assert warning(slots=(replace(slot, safe_bytes=1024**3),)) == {"slot_log"}
    assert warning(slots=(replace(slot, retained_bytes=11 * 1024**3),)) == {"slot_log"}
    check = check_of(judged(slots=(replace(slot, safe_bytes=-5),)), "slot_log")
    assert check.current_value == "slot (reserved, 1.0 GB kept, lost after 0.0 GB more)"


def test_only_old_transactions_are_warned_of_and_only_before_the_slot_exists() -> None:
    young, old = OpenTransaction(seconds=599, process_id=4), OpenTransaction(seconds=3600, process_id=5)
    assert warning(open_transactions=(young,)) == set()
    assert warning(open_transactions=(young, old)) == {"open_transactions"}
    slots = (SlotFacts(name="slot", database="shop"),)
    assert warning(open_transactions=(young, old), slots=slots) == set()


def test_a_limit_of_zero_is_no_limit() -> None:
    assert warning(session_limits={"statement_timeout": 0}) == set()
    assert warning(session_limits={"statement_timeout": 1}) == {"session_limits"}


@pytest.mark.parametrize(
    ("megabytes", "current", "words"), [(-1, "unlimited", "disk is full"), (1023, "1023 MB", "is lost")]
)
def test_a_server_that_keeps_too_much_or_too_little_log_is_warned_of(megabytes: int, current: str, words: str) -> None:
    check = check_of(judged(None, max_slot_wal_keep_megabytes=megabytes), "log_retention")
    assert (check.status, check.current_value) == (CheckOutcome.WARN, current)
    assert words in (check.recommended_action or "")
