"""What a look at a MySQL server, and the offset that Connect has stored, say about a deployed capture."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.monitoring.condition import ConditionCode, Severity
from chalicelib.domain.monitoring.source_state import CaptureState, Finding, FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Capture, Pipeline, SnapshotMode
from chalicelib.domain.providers.mysql.binlog import ServerBinlog
from chalicelib.domain.providers.mysql.capture_provider import MySQLCapture
from chalicelib.domain.providers.mysql.facts import BinlogStatus
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import (
    MySQLCaptureFacts,
    begins_anew,
    capture_state,
    lost_by_failure,
    lost_changes,
    must_read_again,
    offset_after_gap,
    read_again,
    with_offset,
)
from chalicelib.domain.table import TableName
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ORDERS, CUSTOMERS = TableName("shop", "orders"), TableName("shop", "customers")
A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
FILES = {"bin.000003": 900, "bin.000004": 1000, "bin.000005": 500}
SETTINGS = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_value_options": "",
}


def pipeline(mode: SnapshotMode = SnapshotMode.INITIAL, **fields: Any) -> Pipeline:
    properties = fields.pop("properties", {})
    capture = Capture(topic_prefix="p", tables=(ORDERS, CUSTOMERS), snapshot_mode=mode, properties=properties)
    state = {"desired_state": DesiredState.RUNNING, "provider": DatabaseProvider.MYSQL, "capture": capture}
    return make_pipeline(**{**state, **fields})


RUNNING = pipeline()
LOG = ServerBinlog(
    files=FILES,
    executed=GtidSet.parse(f"{A}:1-99"),
    purged=GtidSet.parse(f"{A}:1-20"),
    uses_gtids=True,
    retention_seconds=7 * 86_400,
)
WELL = MySQLCaptureFacts(server_uuid="one", binlog=LOG, settings=SETTINGS, readers=frozenset({"16"}))
PLAIN = replace(WELL, binlog=ServerBinlog(files=FILES, executed=GtidSet(), retention_seconds=7 * 86_400))
"""A server without GTIDs."""

OFFSET = {"ts_sec": int(NOW.timestamp()), "file": "bin.000005", "pos": 400, "gtids": f"{A}:1-98", "server_id": 1}
WITHOUT = {key: value for key, value in OFFSET.items() if key != "gtids"}
BEFORE = CaptureState(server="one", position="bin.000005:300", reader="16", log_end="bin.000005:450")


def look(
    facts: MySQLCaptureFacts = WELL,
    offset: Mapping[str, Any] | None = OFFSET,
    *,
    of: Pipeline = RUNNING,
    before: CaptureState | None = BEFORE,
    supported: bool = True,
) -> CaptureState:
    state = capture_state(facts, of, before, NOW)
    return with_offset(facts, of, before, state, StoredOffset(offset, supported=supported), NOW)


def codes(state: CaptureState) -> list[str]:
    return [finding.code.value for finding in state.findings]


def lost(
    facts: MySQLCaptureFacts,
    offset: Mapping[str, Any] | None = OFFSET,
    *,
    of: Pipeline = RUNNING,
    before: CaptureState | None = BEFORE,
    reads_on: bool = False,
) -> Finding | None:
    return lost_changes(facts, of, before, StoredOffset(offset), reads_on=reads_on)


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


# who reads


def test_that_nobody_reads_is_said_of_a_capture_that_should_run() -> None:
    facts = replace(WELL, readers=frozenset())
    (finding,) = look(facts).findings
    assert (finding.code, finding.condition) == (FindingCode.NOT_READ, ConditionCode.CDC_BINLOG_ERROR)
    assert not finding.certain
    assert codes(look(facts, of=pipeline(desired_state=DesiredState.PAUSED))) == []


def test_until_the_snapshot_is_complete_nobody_reads() -> None:
    facts = replace(WELL, readers=frozenset())
    for offset in (None, {**OFFSET, "snapshot": "INITIAL"}):
        state = look(facts, offset)
        assert codes(state) == []
        assert state.position is None
    assert look(facts, {**OFFSET, "snapshot": "INITIAL"}).log is not None


def test_where_sessions_cannot_be_seen_it_is_not_known_who_reads() -> None:
    state = look(replace(WELL, readers=None))
    assert codes(state) == []
    assert state.log is not None
    assert state.log.active is None


@pytest.mark.parametrize(
    ("readers", "before", "active"),
    [
        ({"16", "17"}, None, True),
        ({"16"}, None, None),
        ({"16"}, "16,17", None),
        ({"16"}, "16", True),
        ({"18"}, "16", None),
        ((), "16", False),
    ],
)
def test_of_two_captures_with_one_session_it_is_not_known_which_is_read(
    readers: set[str], before: str | None, active: bool | None
) -> None:
    facts = replace(WELL, captures=2, readers=frozenset(readers))
    state = look(facts, before=replace(BEFORE, reader=before))
    assert state.log is not None
    assert state.log.active is active
    assert ("NOT_READ" in codes(state)) is (active is False)


def test_a_right_that_was_taken_away_is_said_before_the_next_start_fails() -> None:
    facts = replace(WELL, binlog=ServerBinlog(files=None))
    (finding,) = look(facts).findings
    assert (finding.condition, finding.severity) == (ConditionCode.CDC_PERMISSION_ERROR, Severity.WARNING)
    worse, _ = look(replace(facts, readers=frozenset())).findings
    assert worse.severity is Severity.ERROR


# what the server writes


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("log_bin", "OFF", "writes no binary log"),
        ("binlog_format", "STATEMENT", "is not ROW"),
        ("binlog_row_image", "MINIMAL", "at each start"),
        ("binlog_row_value_options", "PARTIAL_JSON", "JSON columns"),
    ],
)
def test_a_setting_that_was_changed_is_said_at_once(name: str, value: str, words: str) -> None:
    (finding,) = look(replace(WELL, settings={**SETTINGS, name: value})).findings
    assert words in finding.message
    assert (finding.code, finding.condition, finding.certain) == (
        *(FindingCode.TABLES_NOT_PUBLISHED, ConditionCode.CDC_BINLOG_ERROR),
        True,
    )


def test_a_filter_of_the_binary_log_names_the_databases() -> None:
    for status in (BinlogStatus(only_databases=frozenset({"other"})), BinlogStatus(ignored_databases={"shop"})):
        (finding,) = look(replace(WELL, status=status)).findings
        assert "leaves the databases shop out" in finding.message
        assert finding.condition is None
    assert codes(look(replace(WELL, status=BinlogStatus(only_databases=frozenset({"shop"}))))) == []


def test_a_table_that_is_gone_is_an_error_and_one_that_is_hidden_a_warning() -> None:
    gone, unseen = look(replace(WELL, dropped=frozenset({ORDERS}), hidden=frozenset({CUSTOMERS}))).findings
    assert ("shop.orders do not exist" in gone.message, gone.severity) == (True, Severity.ERROR)
    assert ("may not read shop.customers" in unseen.message, unseen.severity) == (True, Severity.WARNING)
    assert not gone.certain


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
