"""What a look at a PostgreSQL server says about a deployed capture."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.source_state import CapturedLog, CaptureState, Finding, FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Capture, CaptureOptions, Pipeline, SnapshotMode
from chalicelib.domain.providers.postgresql.running_capture import (
    PostgreSQLCaptureFacts,
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
READ = CaptureSlot(name="slot", start=100, position=110, reader="7", wal_status="reserved")
WELL = PostgreSQLCaptureFacts(system_identifier="1", slots={"slot": READ}, published={"pub": frozenset({ORDERS})})
BEFORE = CaptureState(server="1", position=90, reader="7")


def with_slot(**changes: Any) -> PostgreSQLCaptureFacts:
    return replace(WELL, slots={"slot": replace(READ, **changes)})


def lost(
    facts: PostgreSQLCaptureFacts, offset: Mapping[str, Any] | None, *, pipeline: Pipeline = PIPELINE
) -> Finding | None:
    """What is lost by the offset that Connect has stored."""
    return lost_changes(facts, pipeline, BEFORE, StoredOffset(offset))


def look(facts: PostgreSQLCaptureFacts, offset: Mapping[str, Any] | None) -> CaptureState:
    """A look that asks for the offset."""
    return with_offset(facts, PIPELINE, BEFORE, capture_state(facts, PIPELINE, BEFORE, NOW), StoredOffset(offset), NOW)


def codes(state: CaptureState) -> list[str]:
    return [finding.code.value for finding in state.findings]


def test_a_capture_that_works_has_no_findings() -> None:
    seen = capture_state(WELL, PIPELINE, BEFORE, NOW)
    assert replace(seen, log=None) == CaptureState(
        server="1", position=110, reader="7", captured=CapturedLog(position=90)
    )


def test_a_slot_that_was_there_and_is_gone_has_lost_changes() -> None:
    (finding,) = capture_state(replace(WELL, slots={}), PIPELINE, BEFORE, NOW).findings
    assert (finding.code, finding.certain) == (FindingCode.LOG_POSITION_LOST, True)
    assert '"slot" does not exist any more' in finding.message


def test_a_slot_that_was_never_seen_may_still_be_made() -> None:
    (finding,) = capture_state(replace(WELL, slots={}), PIPELINE, None, NOW).findings
    assert (finding.code, finding.certain) == (FindingCode.LOG_POSITION_MISSING, False)


@pytest.mark.parametrize("facts", [replace(WELL, slots={}), with_slot(reader=None)])
def test_what_is_wrong_with_a_slot_is_a_slot_error(facts: PostgreSQLCaptureFacts) -> None:
    (finding,) = capture_state(facts, PIPELINE, None, NOW).findings
    assert finding.condition is ConditionCode.CDC_REPLICATION_SLOT_ERROR


ONCE = replace(PIPELINE, capture=replace(PIPELINE.capture, snapshot_mode=SnapshotMode.INITIAL_ONLY))
PAUSED = replace(PIPELINE, desired_state=DesiredState.PAUSED)
NOTHING = replace(WELL, slots={}, published={})


@pytest.mark.parametrize(
    ("facts", "before", "pipeline", "expected"),
    [
        pytest.param(
            with_slot(wal_status="lost", reader=None), BEFORE, PIPELINE, ["LOG_POSITION_LOST"], id="invalidated slot"
        ),
        # The connector may have read in between, and stopped again.
        pytest.param(
            with_slot(reader=None), replace(BEFORE, reader=None), PIPELINE, ["NOT_READ"], id="moved between two looks"
        ),
        pytest.param(with_slot(reader=None), BEFORE, PIPELINE, ["NOT_READ"], id="moved before its reader left"),
        pytest.param(with_slot(reader=None), BEFORE, PAUSED, [], id="nobody has to read for a paused pipeline"),
        pytest.param(with_slot(reader=None), BEFORE, ONCE, [], id="nobody has to read after the only snapshot"),
        pytest.param(NOTHING, BEFORE, ONCE, [], id="the only snapshot needs no slot and no publication"),
        pytest.param(replace(NOTHING, system_identifier="2"), BEFORE, PIPELINE, ["OTHER_SERVER"], id="another server"),
        pytest.param(replace(WELL, system_identifier=None), BEFORE, PIPELINE, [], id="server that does not tell"),
    ],
)
def test_a_capture_has_these_findings(
    facts: PostgreSQLCaptureFacts, before: CaptureState | None, pipeline: Pipeline, expected: list[str]
) -> None:
    assert codes(capture_state(facts, pipeline, before, NOW)) == expected


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
    options = CaptureOptions(heartbeat_table=BEATS)
    pipeline = replace(PIPELINE, capture=replace(PIPELINE.capture, options=options))
    (finding,) = capture_state(WELL, pipeline, BEFORE, NOW).findings
    assert "does not contain shop.beats" in finding.message


def test_only_a_few_of_many_tables_are_named() -> None:
    tables = tuple(TableName("shop", f"t{number}") for number in range(9))
    pipeline = replace(PIPELINE, capture=replace(PIPELINE.capture, tables=tables))
    (finding,) = capture_state(WELL, pipeline, BEFORE, NOW).findings
    assert "shop.t4 and 4 more" in finding.message
    assert "shop.t5" not in finding.message


@pytest.mark.parametrize(
    "offset",
    [
        pytest.param(None, id="nothing stored"),
        pytest.param({"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": True}, id="a snapshot at the slot"),
        pytest.param({"lsn_proc": 120, "lsn_commit": 90, "lsn": 120}, id="a change after the slot"),
        pytest.param({"lsn_proc": 105, "lsn_commit": 90}, id="Kafka has acknowledged more than Connect has stored"),
        pytest.param({"txId": 5}, id="no position"),
    ],
)
def test_nothing_was_lost_when_connect_is_not_behind_the_slot(offset: Mapping[str, Any] | None) -> None:
    assert lost(WELL, offset) is None


def test_changes_were_lost_when_the_slot_begins_after_what_connect_has() -> None:
    finding = lost(WELL, {"lsn": 99, "snapshot": "INITIAL", "snapshot_completed": True})
    assert finding is not None
    assert "begins after the last change that was captured" in finding.message


@pytest.mark.parametrize(
    ("reader", "offset", "certain"),
    [
        pytest.param("8", {"lsn_proc": 99, "lsn": 99}, None, id="read since then: the offset is only late"),
        pytest.param(None, {"lsn_proc": 99, "lsn": 99}, False, id="nobody reads: late, or Debezium does not start"),
        pytest.param("8", {"lsn": 99, "snapshot_completed": True}, True, id="Debezium compares no snapshot"),
        pytest.param("8", {"lsn_proc": None, "lsn": 99}, True, id="no streamed position"),
    ],
)
def test_a_streamed_position_before_the_slot_is_a_loss_only_where_nobody_reads(
    reader: str | None, offset: Mapping[str, Any], certain: bool | None
) -> None:
    finding = lost(with_slot(reader=reader), offset)
    assert (finding.certain if finding else None) is certain


def test_changes_were_lost_when_connect_has_a_position_and_there_is_no_slot() -> None:
    assert lost(NOTHING, {"lsn": 99}) is not None
    assert lost(NOTHING, {"lsn": 99}, pipeline=ONCE) is None


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
    assert codes(look(facts, offset)) == expected


def test_a_finding_that_the_offset_repeats_is_reported_once() -> None:
    facts = replace(WELL, slots={})
    assert codes(look(facts, {"lsn": 99})) == ["LOG_POSITION_LOST"]


@pytest.mark.parametrize(
    ("before", "reader", "needed"),
    [(BEFORE, "7", False), (BEFORE, "8", True), (None, "7", False), (BEFORE, None, True)],
)
def test_the_offset_is_needed_where_nobody_reads_or_another_reader_than_before(
    before: CaptureState | None, reader: str | None, needed: bool
) -> None:
    assert needs_offset(before, CaptureState(reader=reader)) is needed
