"""What a look at a PostgreSQL server says about a deployed capture."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.source_state import CaptureState, FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Capture, Pipeline, SnapshotMode
from chalicelib.domain.providers.postgresql.running_capture import (
    CaptureFacts,
    capture_state,
    lost_changes,
    needs_offset,
    with_offset,
)
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot
from chalicelib.domain.table import TableName
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 31, tzinfo=UTC)
ORDERS, BEATS = TableName("shop", "orders"), TableName("shop", "beats")
PIPELINE = make_pipeline(
    desired_state=DesiredState.RUNNING,
    capture=Capture(
        topic_prefix="p", tables=(ORDERS,), provider_options={"slot_name": "slot", "publication_name": "pub"}
    ),
)
READ = CaptureSlot(name="slot", position=100, reader="7", wal_status="reserved")
WELL = CaptureFacts(system_identifier="1", slots={"slot": READ}, published={"pub": frozenset({ORDERS})})
BEFORE = CaptureState(server="1", position=90, reader="7")


def with_slot(**changes: Any) -> CaptureFacts:
    return replace(WELL, slots={"slot": replace(READ, **changes)})


def codes(facts: CaptureFacts, before: CaptureState | None = BEFORE, pipeline: Pipeline = PIPELINE) -> list[str]:
    return [finding.code.value for finding in capture_state(facts, pipeline, before, NOW).findings]


def with_options(**options: Any) -> Pipeline:
    capture = PIPELINE.capture
    return replace(PIPELINE, capture=replace(capture, options=replace(capture.options, **options)))


def test_a_capture_that_works_has_no_findings() -> None:
    seen = capture_state(WELL, PIPELINE, BEFORE, NOW)
    assert replace(seen, log=None) == CaptureState(server="1", position=100, reader="7")


def test_a_slot_that_was_there_and_is_gone_has_lost_changes() -> None:
    (finding,) = capture_state(replace(WELL, slots={}), PIPELINE, BEFORE, NOW).findings
    assert (finding.code, finding.certain) == (FindingCode.LOG_POSITION_LOST, True)
    assert '"slot" does not exist any more' in finding.message


def test_a_slot_that_was_never_seen_may_still_be_made() -> None:
    (finding,) = capture_state(replace(WELL, slots={}), PIPELINE, None, NOW).findings
    assert (finding.code, finding.certain) == (FindingCode.LOG_POSITION_MISSING, False)


@pytest.mark.parametrize("facts", [replace(WELL, slots={}), with_slot(reader=None)])
def test_what_is_wrong_with_a_slot_is_a_slot_error(facts: CaptureFacts) -> None:
    (finding,) = capture_state(facts, PIPELINE, None, NOW).findings
    assert finding.condition is ConditionCode.CDC_REPLICATION_SLOT_ERROR


def test_an_invalidated_slot_has_lost_changes() -> None:
    assert codes(with_slot(wal_status="lost", reader=None)) == ["LOG_POSITION_LOST"]


def test_a_slot_that_moved_between_two_looks_without_a_reader_is_not_lost() -> None:
    """The connector may have read in between, and stopped again."""
    assert codes(with_slot(reader=None), replace(BEFORE, reader=None)) == ["NOT_READ"]


def test_a_slot_that_moved_before_its_reader_left_is_only_not_read() -> None:
    assert codes(with_slot(reader=None)) == ["NOT_READ"]


def test_nobody_has_to_read_for_a_paused_pipeline() -> None:
    assert codes(with_slot(reader=None), pipeline=replace(PIPELINE, desired_state=DesiredState.PAUSED)) == []


def test_nobody_has_to_read_after_a_snapshot_that_is_all_that_was_asked_for() -> None:
    capture = replace(PIPELINE.capture, snapshot_mode=SnapshotMode.INITIAL_ONLY)
    assert codes(with_slot(reader=None), pipeline=replace(PIPELINE, capture=capture)) == []


def test_another_server_is_all_that_is_said() -> None:
    assert codes(replace(WELL, system_identifier="2", slots={}, published={})) == ["OTHER_SERVER"]


@pytest.mark.parametrize("identifier", [None, "1"])
def test_a_server_that_does_not_tell_who_it_is_is_not_another_one(identifier: str | None) -> None:
    assert codes(replace(WELL, system_identifier=identifier)) == []


def test_a_publication_that_is_gone_is_found() -> None:
    (finding,) = capture_state(replace(WELL, published={}), PIPELINE, BEFORE, NOW).findings
    assert finding.code is FindingCode.TABLES_NOT_PUBLISHED
    assert 'publication "pub" does not exist' in finding.message
    assert finding.certain


def test_a_publication_may_still_be_made_while_there_was_no_slot() -> None:
    (finding,) = capture_state(replace(WELL, published={}), PIPELINE, None, NOW).findings
    assert not finding.certain


def test_tables_that_left_the_publication_are_named() -> None:
    (finding,) = capture_state(replace(WELL, published={"pub": frozenset()}), PIPELINE, BEFORE, NOW).findings
    assert "does not contain shop.orders" in finding.message


def test_the_heartbeat_table_has_to_be_published_as_well() -> None:
    (finding,) = capture_state(WELL, with_options(heartbeat_table=BEATS), BEFORE, NOW).findings
    assert "does not contain shop.beats" in finding.message


def test_only_a_few_of_many_tables_are_named() -> None:
    tables = tuple(TableName("shop", f"t{number}") for number in range(9))
    pipeline = replace(PIPELINE, capture=replace(PIPELINE.capture, tables=tables))
    (finding,) = capture_state(WELL, pipeline, BEFORE, NOW).findings
    assert "shop.t4 and 4 more" in finding.message
    assert "shop.t5" not in finding.message


OFFSETS: Mapping[str, Mapping[str, Any] | None] = {
    "nothing stored": None,
    "a snapshot at the slot": {"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": True},
    "a change after the slot": {"lsn_proc": 120, "lsn_commit": 90, "lsn": 120},
    "no position": {"txId": 5},
}


@pytest.mark.parametrize("offset", OFFSETS.values(), ids=OFFSETS)
def test_nothing_was_lost_when_connect_is_not_behind_the_slot(offset: Mapping[str, Any] | None) -> None:
    assert lost_changes(WELL, PIPELINE, offset) is None


def test_changes_were_lost_when_the_slot_begins_after_what_connect_has() -> None:
    finding = lost_changes(WELL, PIPELINE, {"lsn": 99, "snapshot": "INITIAL", "snapshot_completed": True})
    assert finding is not None
    assert "begins after the last change that was captured" in finding.message


def test_changes_were_lost_when_connect_has_a_position_and_there_is_no_slot() -> None:
    assert lost_changes(replace(WELL, slots={}), PIPELINE, {"lsn": 99}) is not None


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (None, []),
        ({"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": False}, []),
        ({"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": True}, ["NOT_READ"]),
        ({"lsn": 100, "lsn_proc": 100}, ["NOT_READ"]),
        ({"lsn": 99}, ["NOT_READ", "LOG_POSITION_LOST"]),
    ],
)
def test_nobody_has_to_read_from_the_slot_until_the_snapshot_is_complete(
    offset: Mapping[str, Any] | None, expected: list[str]
) -> None:
    facts = with_slot(reader=None)
    seen = with_offset(facts, PIPELINE, capture_state(facts, PIPELINE, BEFORE, NOW), offset)
    assert [finding.code.value for finding in seen.findings] == expected


def test_a_finding_that_the_offset_repeats_is_reported_once() -> None:
    facts = replace(WELL, slots={})
    seen = with_offset(facts, PIPELINE, capture_state(facts, PIPELINE, BEFORE, NOW), {"lsn": 99})
    assert [finding.code for finding in seen.findings] == [FindingCode.LOG_POSITION_LOST]


@pytest.mark.parametrize(
    ("before", "reader", "needed"),
    [(BEFORE, "7", False), (BEFORE, "8", True), (None, "7", False), (BEFORE, None, True)],
)
def test_the_offset_is_needed_where_nobody_reads_or_another_reader_than_before(
    before: CaptureState | None, reader: str | None, needed: bool
) -> None:
    assert needs_offset(before, CaptureState(reader=reader)) is needed


def test_a_capture_that_only_takes_a_snapshot_needs_no_slot_and_no_publication() -> None:
    once = replace(PIPELINE, capture=replace(PIPELINE.capture, snapshot_mode=SnapshotMode.INITIAL_ONLY))
    nothing = replace(WELL, slots={}, published={})
    assert codes(nothing, pipeline=once) == []
    assert lost_changes(nothing, once, {"lsn": 100}) is None
