"""Whether a deployed capture from a MySQL server still works: its binary log, who reads it, and the server itself.

Facts were measured with Debezium 3.6 and MySQL 8.0. A session that reads the binary log is seen in the process list of
its own account, without the server id that it has given. It is seen for up to 48 s after its end, until the server
sends its next heartbeat. A server id that another reader takes, a missing right and a purged log end a capture at once
or at its next start; a wrong format of the log, a filter, or a log that is begun anew do not: the connector is RUNNING,
and changes are missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import CaptureState, Finding, FindingCode
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog, StoredPosition
from chalicelib.domain.providers.mysql.binlog_log import PURGED, binlog_log, log_at_risk
from chalicelib.domain.providers.mysql.capture_findings import (
    GTIDS_SINCE,
    OFFSET_LOST,
    SNAPSHOT_TOO_LONG,
    purged_behind_reader,
    reading_findings,
    setting_findings,
    snapshot_at_next_start,
    table_findings,
)
from chalicelib.domain.providers.mysql.capture_options import snapshot_mode
from chalicelib.domain.providers.mysql.continuity import Gap, find_gap, finding_of, is_newer
from chalicelib.domain.providers.mysql.facts import BinlogStatus
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.properties import IGNORE_GTIDS_PROPERTY
from chalicelib.domain.table import TableName

PAUSED_NOTICE = (
    "Pausing stops what reaches Kafka, not the capture itself: the connector keeps its session and goes on reading the "
    "binary log. A pause that is longer than the server keeps its binary log is safe only while the worker runs."
)
IN_USE = (
    "The server writes no binary log, or the account may not read where it ends, so the pipeline cannot go on there. "
    "Its connector is stopped."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLCaptureFacts:
    """What was read about the captures from one server. `captures` is how many of them the look is about.

    `settings` are those of `capture_findings.SETTINGS`, by name. `readers` are the sessions of the account that read
    the binary log; null where they cannot be seen. Captured tables are `dropped`, or `hidden` from the account: it may
    not read them, or they do not exist.
    """

    server_uuid: str | None = None
    captures: int = 1
    binlog: ServerBinlog = field(default_factory=ServerBinlog)
    status: BinlogStatus = field(default_factory=BinlogStatus)
    settings: Mapping[str, str] = field(default_factory=dict)
    readers: frozenset[str] | None = frozenset()
    dropped: frozenset[TableName] = frozenset()
    hidden: frozenset[TableName] = frozenset()


def capture_state(
    facts: MySQLCaptureFacts, pipeline: Pipeline, before: CaptureState | None, _now: datetime
) -> CaptureState:
    """The capture as the server shows it, without the offset, which alone says what of the log is needed."""
    if pipeline.snapshot_mode is SnapshotMode.INITIAL_ONLY:
        return CaptureState(server=facts.server_uuid)
    end = facts.binlog.end
    return CaptureState(
        server=before.server if before and before.server else facts.server_uuid,
        reader=_reader(facts, before),
        log_end=str(end) if end else None,
        findings=(
            *reading_findings(facts.readers, pipeline.desired_state, denied=facts.binlog.files is None),
            *setting_findings(facts.settings, facts.status, pipeline.capture.captured_tables),
            *table_findings(facts.dropped, facts.hidden, pipeline.capture.captured_tables),
        ),
    )


def needs_offset(_before: CaptureState | None, _state: CaptureState) -> bool:
    """Always: only what Connect has stored says which part of the binary log is still needed."""
    return True


def must_read_again(
    facts: MySQLCaptureFacts, _pipeline: Pipeline, _before: CaptureState | None, offset: StoredOffset
) -> bool:
    stored = StoredPosition.of(offset)
    return stored is not None and is_newer(facts.binlog, stored)


def read_again(facts: MySQLCaptureFacts, later: MySQLCaptureFacts) -> MySQLCaptureFacts:
    return replace(facts, server_uuid=later.server_uuid, binlog=later.binlog, readers=later.readers)


def with_offset(
    facts: MySQLCaptureFacts,
    pipeline: Pipeline,
    before: CaptureState | None,
    state: CaptureState,
    offset: StoredOffset,
    now: datetime,
) -> CaptureState:
    """The capture with the log from where the connector goes on, and with what was lost."""
    stored = StoredPosition.of(offset)
    if pipeline.snapshot_mode is SnapshotMode.INITIAL_ONLY or (stored is None and not offset.supported):
        return state
    gap = _gap(facts, before, stored)
    findings = list(state.findings)
    if begins_anew(offset):
        # Until the snapshot is complete nothing reads the log, which is needed from its beginning on.
        findings = [finding for finding in findings if finding.code is not FindingCode.NOT_READ]
    if found := _found_in_look(facts, pipeline, before, offset, gap):
        findings.insert(0, found)
    log = None
    if stored and stored.binlog and (gap is Gap.PURGED or (gap is None and _is_of_this_server(facts, before, stored))):
        log = _log(facts, before, stored, gap, state.reader, now)
        state = replace(state, server=facts.server_uuid or state.server)
    if at_risk := log_at_risk(log, facts.binlog, pipeline.desired_state) if log else None:
        findings.insert(0, at_risk)
    reached = None if begins_anew(offset) or stored is None or stored.binlog is None else str(stored.binlog)
    return replace(state, position=reached, log=log, findings=tuple(findings))


def lost_changes(
    facts: MySQLCaptureFacts,
    pipeline: Pipeline,
    before: CaptureState | None,
    offset: StoredOffset,
    *,
    reads_on: bool = False,
) -> Finding | None:
    """Whether changes were lost between what Connect has stored (`offset`) and what the server has."""
    if pipeline.snapshot_mode in (SnapshotMode.INITIAL_ONLY, SnapshotMode.WHEN_NEEDED):
        return None
    if not offset.supported:
        return _lost_since_the_last_look(facts, before)
    if offset.values is None:
        return _lost_offset(pipeline, before, offset)
    gap = None if begins_anew(offset) else _gap(facts, before, StoredPosition.of(offset))
    if gap is None or (gap is Gap.PURGED and reads_on and _is_read(facts, before)):
        return None
    return finding_of(gap)


_MOVABLE_FAILURES = frozenset(
    {
        *(Diagnosis.BINLOG_GONE, Diagnosis.BINLOG_REFUSED, Diagnosis.BINLOG_GTIDS),
        *(Diagnosis.BINLOG_HISTORY, Diagnosis.BINLOG_HISTORY_NAMES, Diagnosis.BINLOG_SCHEMA),
    }
)
"""Failures at the stored position, or at the schema history that was written until then: both are left behind."""


def lost_by_failure(diagnosis: Diagnosis) -> Finding | None:
    """What a failure of the connector says about where it stands: it ends only where the connector goes on later."""
    if diagnosis not in _MOVABLE_FAILURES:
        return None
    message = hint_of(diagnosis, ConnectorKind.SOURCE).message
    return Finding(code=FindingCode.LOG_POSITION_LOST, message=message, certain=True)


def begins_anew(offset: StoredOffset) -> bool:
    """Whether Debezium takes its snapshot when it starts with this offset, as it does until one is complete."""
    values = offset.values
    return values is None or str(values.get("snapshot", "")).lower() in ("initial", "true")


def offset_after_gap(pipeline: Pipeline, _position: Any) -> tuple[Mapping[str, Any], None]:
    """The partition of Debezium's offset, which is removed.

    With an offset at the present end of the log Debezium would read what is written from now on with the definitions
    that its schema history has of before: a row of other columns is then written wrongly, without an error (measured).
    Without an offset, and with snapshot.mode no_data, it reads position and definitions together, and no row.
    """
    return {"server": pipeline.capture.topic_prefix}, None


def _reader(facts: MySQLCaptureFacts, before: CaptureState | None) -> str | None:
    """The sessions that read for the captures; None where none does, or fewer than there are captures: whose they are
    cannot be seen. The same ones as before are still theirs.
    """
    if facts.readers and len(facts.readers) >= facts.captures:
        return ",".join(sorted(facts.readers))
    return before.reader if before and _is_read(facts, before) else None


def _is_read(facts: MySQLCaptureFacts, before: CaptureState | None) -> bool:
    """Whether the sessions that were seen at the last look are still there."""
    return bool(before and before.reader and facts.readers and facts.readers.issuperset(before.reader.split(",")))


def _gap(facts: MySQLCaptureFacts, before: CaptureState | None, stored: StoredPosition | None) -> Gap | None:
    if stored is None:
        return None
    other = _is_other_server(facts, before)
    last_end = BinlogPosition.parse(before.log_end) if before and before.log_end and not other else None
    return find_gap(facts.binlog, stored, is_other_server=other, last_end=last_end)


def _is_other_server(facts: MySQLCaptureFacts, before: CaptureState | None) -> bool:
    return bool(before and before.server and facts.server_uuid and before.server != facts.server_uuid)


def _is_of_this_server(facts: MySQLCaptureFacts, before: CaptureState | None, stored: StoredPosition) -> bool:
    """After a failover the position is one of the earlier server, until the connector has stored its next."""
    return not _is_other_server(facts, before) or before is None or str(stored.binlog) != before.position


def _found_in_look(
    facts: MySQLCaptureFacts,
    pipeline: Pipeline,
    before: CaptureState | None,
    offset: StoredOffset,
    gap: Gap | None,
) -> Finding | None:
    """What is wrong with where the connector goes on."""
    stored = StoredPosition.of(offset)
    if stored is None:
        return _lost_offset(pipeline, before, offset)
    if begins_anew(offset):
        return SNAPSHOT_TOO_LONG if gap is Gap.PURGED else None
    if gap is None:
        ignores = pipeline.capture.properties.get(IGNORE_GTIDS_PROPERTY) == "true"
        return GTIDS_SINCE if facts.binlog.uses_gtids and stored.gtids == GtidSet() and not ignores else None
    if pipeline.snapshot_mode is SnapshotMode.WHEN_NEEDED:
        return snapshot_at_next_start(gap)
    if gap is Gap.PURGED and facts.readers and stored.binlog:
        return purged_behind_reader(stored.binlog.file, pipeline.desired_state)
    return finding_of(gap)


def _log(
    facts: MySQLCaptureFacts,
    before: CaptureState | None,
    stored: StoredPosition,
    gap: Gap | None,
    reader: str | None,
    now: datetime,
) -> LogState | None:
    active = None if facts.readers is None or (facts.readers and reader is None) else reader is not None
    if stored.binlog is None or (gap is None and facts.binlog.bytes_from(stored.binlog) is None):
        return None  # a file of an earlier server: the transactions are here, in files of other names
    log = binlog_log(
        facts.binlog, stored.binlog, stored.at, active=active, before=before.log if before else None, now=now
    )
    return replace(log, status=PURGED, seconds_to_loss=0) if log and gap else log


def _lost_since_the_last_look(facts: MySQLCaptureFacts, before: CaptureState | None) -> Finding | None:
    """Of a connector that is missing in Connect, whose offset is there and cannot be read: whether the position that
    was seen last is purged.
    """
    seen = BinlogPosition.parse(before.position) if before else None
    if seen is None or _is_other_server(facts, before):
        return None
    gap = find_gap(
        replace(facts.binlog, uses_gtids=False), StoredPosition(binlog=seen, gtids=GtidSet()),
        is_other_server=False, last_end=None,
    )  # fmt: skip
    return finding_of(gap) if gap else None


def _lost_offset(pipeline: Pipeline, before: CaptureState | None, offset: StoredOffset) -> Finding | None:
    """Without an offset a capture without snapshots goes on at the end of the log, whatever was written before."""
    takes_none = snapshot_mode(pipeline) is SnapshotMode.NO_DATA
    was_read = before is not None and before.position is not None
    return OFFSET_LOST if takes_none and was_read and offset.supported and offset.values is None else None
