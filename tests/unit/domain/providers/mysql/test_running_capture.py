"""What a look at a MySQL server, and the offset that Connect has stored, say about a deployed capture."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.source_state import CaptureState, FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.providers.mysql.binlog import ServerBinlog
from chalicelib.domain.providers.mysql.capture_provider import MySQLCapture
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import (
    MySQLCaptureFacts,
    begins_anew,
    lost_by_failure,
    lost_changes,
    must_read_again,
    offset_after_gap,
    read_again,
)
from tests.unit.domain.providers.mysql.captures import (
    BEFORE,
    LOG,
    NOW,
    OFFSET,
    ORDERS,
    PLAIN,
    RUNNING,
    WELL,
    WITHOUT,
    A,
    codes,
    look,
    lost,
    pipeline,
)


def test_a_capture_that_works_has_no_findings() -> None:
    for facts, offset in ((WELL, OFFSET), (PLAIN, WITHOUT)):
        state = look(facts, offset)
        assert codes(state) == []
        assert (state.server, state.position, state.reader) == ("one", "bin.000005:400", "16")
        assert state.log_end == "bin.000005:500"
        assert state.log is not None
        assert (state.log.name, state.log.active, state.log.retained_bytes) == ("bin.000005", True, 100)
        assert lost(facts, offset) is None


def test_the_first_look_remembers_the_server() -> None:
    assert look(before=None).server == "one"


# what was lost

PURGED = replace(WELL, binlog=replace(LOG, purged=GtidSet.parse(f"{A}:1-99")))
UNREAD = frozenset[str]()


def test_a_purged_log_has_lost_changes_where_nobody_reads() -> None:
    facts = replace(PURGED, readers=UNREAD)
    finding = lost(facts)
    assert finding is not None
    assert (finding.code, finding.certain) == (FindingCode.LOG_POSITION_LOST, True)
    assert "purged" in finding.message
    for call in ("POST /pipelines/ID/restart?accept_data_loss=true", "DELETE /pipelines/ID)"):
        assert call in finding.message
    assert "slot" not in finding.message
    state = look(facts)
    assert codes(state) == ["LOG_POSITION_LOST", "NOT_READ"]
    assert state.log is not None
    assert (state.log.status, state.log.seconds_to_loss) == ("purged", 0)


def test_a_session_that_reads_on_has_lost_nothing_until_it_ends() -> None:
    state = look(PURGED)
    assert codes(state) == ["LOG_AT_RISK"]
    assert not state.findings[0].certain
    assert "Resume" not in state.findings[0].message
    assert lost(PURGED) is not None
    assert lost(PURGED, reads_on=True) is None
    assert lost(replace(PURGED, readers=frozenset({"99"})), reads_on=True) is not None
    paused = pipeline(desired_state=DesiredState.PAUSED)
    assert "Resume the pipeline" in look(PURGED, of=paused).findings[0].message


def test_without_gtids_the_purged_file_is_missed() -> None:
    facts = replace(PLAIN, readers=UNREAD)
    assert codes(look(facts, {**WITHOUT, "file": "bin.000002"})) == ["LOG_POSITION_LOST", "NOT_READ"]


def test_a_failover_to_a_replica_that_has_all_goes_on() -> None:
    other = replace(WELL, server_uuid="two", binlog=replace(LOG, files={"replica.000001": 4000}))
    assert lost(other) is None
    until_stored = look(other, before=replace(BEFORE, position="bin.000005:400"))
    assert (codes(until_stored), until_stored.server, until_stored.log) == ([], "one", None)
    stored = look(other, {**OFFSET, "file": "replica.000001"}, before=replace(until_stored, log_end="bin.000005:500"))
    assert (codes(stored), stored.server) == ([], "two")
    assert stored.log is not None
    assert stored.log.retained_bytes == 3600


def test_a_position_that_was_stored_after_the_last_look_may_be_one_of_the_earlier_server() -> None:
    other = replace(WELL, server_uuid="two", binlog=replace(LOG, files={"replica.000001": 4000}))
    assert (codes(look(other)), look(other).log) == ([], None)


@pytest.mark.parametrize(
    ("facts", "offset", "code"),
    [
        (replace(PLAIN, server_uuid="two"), WITHOUT, "OTHER_SERVER"),
        (replace(WELL, server_uuid="two", binlog=replace(LOG, executed=GtidSet())), OFFSET, "OTHER_SERVER"),
        (replace(WELL, server_uuid="two", binlog=replace(LOG, executed=GtidSet.parse(f"{A}:1-9"))), OFFSET,
         "LOG_POSITION_LOST"),
        (replace(WELL, binlog=replace(LOG, executed=GtidSet.parse(f"{A}:1-97"))), OFFSET, "LOG_POSITION_LOST"),
        (replace(PLAIN, binlog=ServerBinlog(files={"bin.000001": 155})), WITHOUT, "LOG_POSITION_LOST"),
    ],
    ids=["another server", "a stranger with GTIDs", "a replica without the last", "put back", "begun anew"],
)  # fmt: skip
def test_a_server_without_what_was_captured_is_reported_at_once(
    facts: MySQLCaptureFacts, offset: Mapping[str, Any], code: str
) -> None:
    state = look(facts, offset)
    assert codes(state) == [code]
    assert state.findings[0].certain
    assert state.server == "one"
    finding = lost(facts, offset, reads_on=True)
    assert finding is not None
    assert finding.code == code


def test_a_log_that_was_begun_anew_and_is_as_long_again_is_found_by_where_it_ended() -> None:
    facts = replace(PLAIN, binlog=ServerBinlog(files={"bin.000001": 900_000}))
    offset = {**WITHOUT, "file": "bin.000001", "pos": 700}
    before = replace(BEFORE, position="bin.000001:700", log_end="bin.000005:500")
    assert codes(look(facts, offset, before=before)) == ["LOG_POSITION_LOST"]
    assert codes(look(facts, offset, before=replace(before, log_end="bin.000001:899999"))) == []


def test_facts_that_are_older_than_the_offset_are_read_again() -> None:
    newer = {**OFFSET, "gtids": f"{A}:1-100"}
    assert must_read_again(WELL, RUNNING, BEFORE, StoredOffset(newer))
    assert not must_read_again(WELL, RUNNING, BEFORE, StoredOffset(OFFSET))
    assert not must_read_again(WELL, RUNNING, BEFORE, StoredOffset())
    later = replace(WELL, binlog=replace(LOG, executed=GtidSet.parse(f"{A}:1-100")), dropped=frozenset({ORDERS}))
    again = read_again(WELL, later)
    assert codes(look(again, newer)) == []


def test_a_capture_that_takes_its_snapshot_when_needed_says_that_it_will() -> None:
    facts, needed = replace(PURGED, readers=UNREAD), pipeline(SnapshotMode.WHEN_NEEDED)
    assert lost(facts, of=needed) is None
    first, *_ = look(facts, of=needed).findings
    assert first.code is FindingCode.LOG_AT_RISK
    assert "takes its snapshot again when it starts next" in first.message


def test_a_snapshot_that_lasts_longer_than_the_log_is_kept_is_named() -> None:
    state = look(PURGED, {**OFFSET, "snapshot": "INITIAL"})
    assert codes(state) == ["LOG_AT_RISK"]
    assert "longer than the snapshot takes" in state.findings[0].message
    assert lost(PURGED, {**OFFSET, "snapshot": "INITIAL"}) is None


def test_gtids_that_were_turned_on_later_are_named_before_the_next_start_fails() -> None:
    (finding,) = look(WELL, WITHOUT).findings
    assert (finding.code, finding.severity) == (FindingCode.LOG_AT_RISK, Severity.WARNING)
    assert "gtid.ignore.on.recovery" in finding.message
    ignoring = pipeline(properties={"gtid.ignore.on.recovery": "true"})
    assert codes(look(WELL, WITHOUT, of=ignoring)) == []
    assert codes(look(PLAIN, WITHOUT)) == []


@pytest.mark.parametrize(
    ("of", "before", "is_lost"),
    [
        (pipeline(SnapshotMode.NO_DATA), BEFORE, True),
        (pipeline(gaps_passed=1), BEFORE, True),
        (RUNNING, BEFORE, False),
        (pipeline(SnapshotMode.NO_DATA), CaptureState(server="one"), False),
        (pipeline(SnapshotMode.ALWAYS, gaps_passed=1), BEFORE, False),
    ],
)
def test_without_an_offset_only_who_takes_no_snapshot_loses_changes(
    of: Pipeline, before: CaptureState, *, is_lost: bool
) -> None:
    assert (lost(WELL, None, of=of, before=before) is not None) is is_lost
    assert codes(look(WELL, None, of=of, before=before)) == ["LOG_POSITION_LOST"] * is_lost


def test_a_capture_that_reads_once_is_not_looked_at() -> None:
    once = pipeline(SnapshotMode.INITIAL_ONLY)
    assert codes(look(replace(PURGED, readers=UNREAD), of=once)) == []
    assert lost(PURGED, of=once) is None


def test_a_connect_that_cannot_tell_changes_nothing() -> None:
    state = look(PURGED, None, supported=False)
    assert (codes(state), state.log) == ([], None)


def test_the_position_of_a_missing_connector_is_the_one_that_was_seen_last() -> None:
    unread = StoredOffset(supported=False)
    for position, is_lost in (("bin.000005:300", False), ("bin.000001:4", True), (None, False)):
        before = replace(BEFORE, position=position)
        assert (lost_changes(WELL, RUNNING, before, unread) is not None) is is_lost
    purged = replace(BEFORE, position="bin.000001:4")
    assert lost_changes(replace(WELL, server_uuid="two"), RUNNING, purged, unread) is None


def test_a_log_that_is_purged_soon_is_at_risk() -> None:
    long_ago = {**OFFSET, "file": "bin.000004", "ts_sec": int((NOW - timedelta(days=6, hours=23.5)).timestamp())}
    state = look(replace(WELL, readers=UNREAD), long_ago)
    assert codes(state) == ["LOG_AT_RISK", "NOT_READ"]
    assert state.findings[0].severity is Severity.ERROR


# going on


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(None, True), ({**OFFSET, "snapshot": "INITIAL"}, True), ({**OFFSET, "snapshot": True}, True),
     (OFFSET, False), ({**OFFSET, "snapshot": "BLOCKING"}, False)],
)  # fmt: skip
def test_a_connector_begins_anew_until_its_snapshot_is_complete(
    offset: Mapping[str, Any] | None, *, expected: bool
) -> None:
    assert begins_anew(StoredOffset(offset)) is expected


def test_after_a_gap_the_offset_goes_and_the_next_schema_history_begins() -> None:
    assert offset_after_gap(RUNNING, "anything") == ({"server": "p"}, None)
    provider = MySQLCapture()
    after = provider.going_on(RUNNING)
    assert after.gaps_passed == 1
    (first,), (_, second) = provider.internal_topics(RUNNING), provider.internal_topics(after)
    assert second == f"{first}-1"
    assert [topic.name for topic in provider.required_topics(after)] == [second]


@pytest.mark.parametrize(
    ("diagnosis", "is_lost"),
    [
        (Diagnosis.BINLOG_HISTORY, True),
        (Diagnosis.BINLOG_SCHEMA, True),
        (Diagnosis.BINLOG_GONE, True),
        (Diagnosis.BINLOG_SERVER_ID, False),
        (Diagnosis.AUTH, False),
        (Diagnosis.GENERAL, False),
    ],
)
def test_a_failure_at_the_stored_position_is_passed_by_going_on(diagnosis: Diagnosis, *, is_lost: bool) -> None:
    assert (lost_by_failure(diagnosis) is not None) is is_lost
