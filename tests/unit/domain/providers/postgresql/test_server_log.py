"""Another server at the address of a source: whether its log has what was captured."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.monitoring.source_state import CapturedLog, CaptureState, Finding
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Capture, SnapshotMode
from chalicelib.domain.providers.postgresql.running_capture import (
    PostgreSQLCaptureFacts,
    capture_state,
    lost_changes,
    must_read_again,
    read_again,
    with_offset,
)
from chalicelib.domain.providers.postgresql.server_log import ServerLog
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot
from chalicelib.domain.table import TableName
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 31, tzinfo=UTC)
ORDERS = TableName("shop", "orders")
OWN = {"slot_name": "slot", "publication_name": "pub"}
PIPELINE = make_pipeline(
    desired_state=DesiredState.RUNNING, capture=Capture(topic_prefix="p", tables=(ORDERS,), provider_options=OWN)
)
KNOWN = CapturedLog(position=1000, timeline=1, started=50, checkpoint=700)
BEFORE = CaptureState(server="1", position=1000, reader="7", captured=KNOWN)
"""What the last look saw: captured up to 1000 on the first timeline."""


def server(
    log: ServerLog, *, position: int = 900, start: int = 800, reader: str | None = "8"
) -> PostgreSQLCaptureFacts:
    slot = CaptureSlot(name="slot", start=start, position=position, reader=reader, wal_status="reserved")
    return PostgreSQLCaptureFacts(
        system_identifier="1", slots={"slot": slot}, published={"pub": frozenset({ORDERS})}, log=log
    )


def promoted(left_at: int | None, end: int = 9000) -> ServerLog:
    """A standby that took over where the first timeline ended; None: that could not be read."""
    return ServerLog(end=end, timeline=2, switches=None if left_at is None else {1: left_at})


def restarted(checkpoint: int | None) -> ServerLog:
    """A server that was started again since then, with a checkpoint."""
    return ServerLog(end=9000, timeline=1, started=60, checkpoint=checkpoint)


def look(facts: PostgreSQLCaptureFacts, before: CaptureState | None = BEFORE) -> CaptureState:
    return capture_state(facts, PIPELINE, before, NOW)


def look_with(facts: PostgreSQLCaptureFacts, offset: Mapping[str, Any]) -> CaptureState:
    """A look that asks for the offset."""
    return with_offset(facts, PIPELINE, BEFORE, look(facts), StoredOffset(offset), NOW)


def codes(state: CaptureState) -> list[str]:
    return [finding.code.value for finding in state.findings]


@pytest.mark.parametrize(
    ("log", "lost"),
    [
        pytest.param(ServerLog(end=1000, timeline=1), False, id="the same server"),
        pytest.param(ServerLog(end=999, timeline=1), True, id="a restored copy that ends earlier"),
        pytest.param(promoted(1000), False, id="a standby that had all"),
        pytest.param(promoted(999), True, id="a standby that lacked something, and has written more since"),
        pytest.param(promoted(None), False, id="a standby, and nobody tells where it took over"),
        pytest.param(promoted(None, end=999), True, id="the same, and its log ends earlier"),
        pytest.param(ServerLog(end=9000, timeline=3, switches={1: 1000, 2: 1500}), False, id="two failovers"),
        pytest.param(ServerLog(end=9000, timeline=3, switches={2: 1500}), True, id="a branch that does not lead here"),
        pytest.param(restarted(1000), False, id="a restart"),
        pytest.param(restarted(999), True, id="a restored copy that has written more since"),
        pytest.param(restarted(700), False, id="storage of a provider, which makes no checkpoints"),
        pytest.param(restarted(None), False, id="a restart, and nobody tells where the log ended"),
        pytest.param(replace(restarted(999), started=50), False, id="no restart"),
        pytest.param(ServerLog(), False, id="a server that does not tell, or a standby that may get more"),
    ],
)
def test_what_was_captured_has_to_be_in_the_log(log: ServerLog, lost: bool) -> None:
    findings = look(server(log)).findings
    assert [(finding.code.value, finding.certain) for finding in findings] == [("LOG_POSITION_LOST", True)] * lost


def test_the_finding_names_the_cause_and_both_ways_on() -> None:
    (finding,) = look(server(promoted(999))).findings
    assert "a standby without them was promoted, or an older copy was restored" in finding.message
    assert "DELETE /pipelines/ID?drop_slot=true" in finding.message
    assert "POST /pipelines/ID/restart?accept_data_loss=true" in finding.message


def test_what_the_slot_has_confirmed_counts_where_the_last_look_is_of_an_earlier_release() -> None:
    before = CaptureState(server="1", position=1000, reader="7")
    assert codes(look(server(ServerLog(end=999, timeline=1)), before)) == ["LOG_POSITION_LOST"]
    assert codes(look(server(ServerLog(end=1000, timeline=1)), before)) == []


def test_a_slot_beyond_the_end_of_the_log_has_lost_changes() -> None:
    assert codes(look(server(ServerLog(end=1999, timeline=1), position=2000), None)) == ["LOG_POSITION_LOST"]


@pytest.mark.parametrize(
    ("log", "reader", "position", "lost"),
    [
        pytest.param(promoted(1000, end=1499), "8", 900, True, id="beyond the end"),
        pytest.param(promoted(1000), None, 900, True, id="captured on the old timeline, and nobody reads"),
        pytest.param(promoted(1600), None, 900, False, id="captured on the old timeline, and the server has it"),
        pytest.param(promoted(1000), None, 1400, False, id="read on the new timeline before"),
        pytest.param(promoted(1000), "8", 900, True, id="captured on the old timeline, and read again"),
        pytest.param(promoted(1000), "8", 1001, False, id="it may be read on the new timeline now"),
        pytest.param(promoted(None), None, 900, False, id="nobody tells where the standby took over"),
        pytest.param(ServerLog(end=1499, timeline=1), None, 900, True, id="beyond the end of a restored copy"),
        pytest.param(restarted(1400), "8", 900, True, id="captured before the restart from a copy"),
        pytest.param(restarted(1500), "8", 900, False, id="captured before an ordinary restart"),
        pytest.param(restarted(1400), "8", 1450, False, id="it may be read since the restart"),
    ],
)
def test_what_connect_has_stored_has_to_be_in_the_log(
    log: ServerLog, reader: str | None, position: int, lost: bool
) -> None:
    seen = look_with(server(log, reader=reader, position=position), {"lsn_proc": 1500, "lsn": 1500})
    assert ("LOG_POSITION_LOST" in codes(seen)) is lost


@pytest.mark.parametrize(
    ("facts", "later"),
    [
        pytest.param(ServerLog(end=1000, timeline=1), ServerLog(end=1002, timeline=1), id="the log has grown"),
        pytest.param(promoted(1000), promoted(1000), id="the position was confirmed"),
        pytest.param(restarted(1000), restarted(1000), id="the position was confirmed after a restart"),
    ],
)
def test_an_offset_that_was_stored_after_the_facts_were_read_is_compared_with_later_facts(
    facts: ServerLog, later: ServerLog
) -> None:
    offset = StoredOffset({"lsn_proc": 1001})
    read = server(facts)
    assert must_read_again(read, PIPELINE, BEFORE, offset)
    again = read_again(read, server(later, position=1001, start=1000))
    assert not must_read_again(again, PIPELINE, BEFORE, offset)
    assert again.slots["slot"].start == read.slots["slot"].start
    assert not must_read_again(read, PIPELINE, BEFORE, StoredOffset(None))


# what is remembered


def captured(state: CaptureState) -> tuple[int | None, int | None]:
    return state.captured.timeline, state.captured.position


def test_the_furthest_position_of_the_timeline_is_remembered() -> None:
    same = ServerLog(end=9000, timeline=1)
    assert captured(look(server(same, position=1200))) == (1, 1200)
    assert captured(look(server(same, position=900))) == (1, 1000)
    assert captured(look_with(server(same, position=900, reader=None), {"lsn_proc": 1300})) == (1, 1300)


def test_a_promoted_standby_that_has_all_is_what_is_captured_from() -> None:
    seen = look(server(promoted(1000), position=1100))
    assert captured(seen) == (2, 1100)
    assert codes(look(server(promoted(1000), position=1100), seen)) == []


def test_a_timeline_stays_until_it_is_known_where_it_was_left() -> None:
    seen = look_with(server(promoted(None), position=1100), {"lsn_proc": 1200})
    assert captured(seen) == (1, 1000)
    assert codes(look(server(promoted(999)), seen)) == ["LOG_POSITION_LOST"]


def test_a_server_that_was_restarted_is_compared_with_that_start_from_now_on() -> None:
    seen = look(server(restarted(1000), position=1100))
    assert seen.captured == CapturedLog(position=1100, timeline=1, started=60, checkpoint=1000)
    assert codes(look(server(restarted(1000), position=1100), seen)) == []


def test_a_server_that_does_not_tell_changes_nothing() -> None:
    assert look(server(ServerLog())).captured == KNOWN


# before the first offset


def lost_without_offset(mode: SnapshotMode, start: int, offset: StoredOffset) -> Finding | None:
    pipeline = replace(PIPELINE, capture=replace(PIPELINE.capture, snapshot_mode=mode))
    facts = server(ServerLog(end=9000, timeline=1), position=start, start=start, reader=None)
    return lost_changes(facts, pipeline, BEFORE, offset)


@pytest.mark.parametrize(
    ("mode", "start", "offset", "lost"),
    [
        pytest.param(SnapshotMode.NO_DATA, 1001, StoredOffset(None), True, id="made again"),
        pytest.param(SnapshotMode.NO_DATA, 1000, StoredOffset(None), False, id="where it was at the first look"),
        pytest.param(SnapshotMode.INITIAL, 1001, StoredOffset(None), False, id="its snapshot is taken again"),
        pytest.param(SnapshotMode.NO_DATA, 1001, StoredOffset(None, supported=False), False, id="Connect cannot tell"),
    ],
)
def test_a_slot_that_was_made_again_before_the_first_offset_has_lost_changes(
    mode: SnapshotMode, start: int, offset: StoredOffset, lost: bool
) -> None:
    assert (lost_without_offset(mode, start, offset) is not None) is lost
