"""Whether a deployed capture from a PostgreSQL server still works: its slot, its publication, and the server itself.

Facts: PostgreSQL documentation, 53.20 (pg_replication_slots) and 47.2 (logical decoding). Connect's stored offset is
that of Debezium 3.6. Debezium confirms to the slot what Kafka has acknowledged (BaseSourceTask.performCommit). That may
be more than Connect has stored, until the next flush or when a task did not end in time: a confirmed position after the
offset is no loss. At its start Debezium 2.6 and later compares the slot with the streamed position `lsn_proc` of the
offset (PostgresConnection.validateLogPosition); after nothing but a snapshot there is none.
A server that was promoted or restored may lack what was captured: see `server_log.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.diagnosis.new_snapshot import GO_ON_AFTER_THE_GAP, NEW_SNAPSHOT_AND_SLOT
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.source_state import CapturedLog, CaptureState, Finding, FindingCode
from chalicelib.domain.names import name_list
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.server_log import ServerLog
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot, log_at_risk, slot_log
from chalicelib.domain.table import TableName

PAUSED_NOTICE = (
    "Pausing stops what reaches Kafka, not the capture itself: a replication slot stays active, and the source keeps "
    "its log for it until it is resumed."
)
"""Measured with Debezium 3.6: the stream goes on below a paused connector."""

IN_USE = (
    "Something else reads from the pipeline's replication slot, another kind of slot has its name, or the slot was "
    "adopted and has lost its log, so that its owner has to make it again: the pipeline cannot go on while that is so. "
    "Its connector is stopped."
)

_SLOT_ERROR = ConditionCode.CDC_REPLICATION_SLOT_ERROR
_MAX_NAMED = 5
_POSITIONS = ("lsn_proc", "lsn_commit", "lsn")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLCaptureFacts:
    """What was read about the captures of one database. `published` has the captured tables of each publication.

    `system_identifier` is null where the role may not read it. `log` was read after the slots, so none of their
    positions is beyond its end.
    """

    system_identifier: str | None
    slots: Mapping[str, CaptureSlot]
    published: Mapping[str, frozenset[TableName]]
    log: ServerLog = field(default_factory=ServerLog)


def capture_state(
    facts: PostgreSQLCaptureFacts, pipeline: Pipeline, before: CaptureState | None, now: datetime
) -> CaptureState:
    """The capture as the server shows it, compared with the last look."""
    plan = PostgreSQLCapturePlan.of(pipeline, deployed=True)
    slot = facts.slots.get(plan.slot_name)
    # The first server is the one that the capture's position belongs to.
    server = before.server if before and before.server else facts.system_identifier
    if server and facts.system_identifier and server != facts.system_identifier:
        return CaptureState(server=server, findings=(_other_server(),))
    findings = (*_slot_findings(plan, slot, pipeline, before, facts.log), *_publication_findings(plan, facts, before))
    log = slot_log(slot, before.log if before else None, now) if slot else None
    at_risk = log_at_risk(log, slot, pipeline.desired_state) if log and slot else None
    return CaptureState(
        server=server,
        position=slot.position if slot else None,
        reader=slot.reader if slot else None,
        captured=_captured(facts.log, slot, _known(before)),
        log=log,
        findings=(*(() if _reads_once(pipeline) else findings), *([at_risk] if at_risk else [])),
    )


def _captured(log: ServerLog, slot: CaptureSlot | None, known: CapturedLog) -> CapturedLog:
    """How far the log is known to be captured now.

    While it is not known where the server has left the timeline that was captured from, that one stays: a later look
    compares again. A server that does not tell, as a standby does not, changes nothing.
    """
    if log.timeline is None or (log.has_left(known.timeline) and log.switches is None):
        return known
    position = slot.position if slot else None
    if log.timeline == known.timeline or known.timeline is None:
        position = _furthest(known.position, position)
    return CapturedLog(
        position=position, timeline=log.timeline, started=log.started, checkpoint=log.checkpoint or known.checkpoint
    )


def _furthest(*positions: int | None) -> int | None:
    return max((position for position in positions if position is not None), default=None)


def _known(before: CaptureState | None) -> CapturedLog:
    if before is None:
        return CapturedLog()
    if before.captured == CapturedLog() and isinstance(before.position, int):
        return CapturedLog(position=before.position)  # an earlier release has kept what was confirmed alone
    return before.captured


def lost_changes(
    facts: PostgreSQLCaptureFacts,
    pipeline: Pipeline,
    before: CaptureState | None,
    offset: StoredOffset,
    **_reading: bool,
) -> Finding | None:
    """Whether changes were lost between what Connect has stored (`offset`) and what the server has.

    It is the same for a session that reads on: a slot keeps what either needs.
    """
    if _reads_once(pipeline):
        return None
    name = PostgreSQLCapturePlan.of(pipeline, deployed=True).slot_name
    slot = facts.slots.get(name)
    if offset.values is None:
        return _lost_before_the_first_offset(name, slot, pipeline, before, offset)
    if slot is None:
        return _lost(name, "does not exist any more")
    if slot.wal_status == "lost":
        return _lost(name, "has lost the log that it needs")
    stored = max(_positions(offset), default=None)
    if stored is not None and _is_missing(stored, facts.log, slot, before):
        return _history_lost()
    return _lost_before_the_slot(slot, offset, stored)


def _lost_before_the_slot(slot: CaptureSlot, offset: StoredOffset, stored: int | None) -> Finding | None:
    """An offset has up to three positions; everything before the furthest (`stored`) was captured.

    The kept log of a slot that was made again begins where it was made; a slot that the connector moved still keeps the
    log before its offset.
    """
    if stored is None or slot.start is None or slot.start <= stored:
        return None
    # Debezium does not start to read from a slot that begins after the streamed position that is stored. So while
    # somebody reads, such a position is only late: what Kafka acknowledges meanwhile is confirmed before it is stored.
    streamed = isinstance((offset.values or {}).get("lsn_proc"), int)
    if slot.reader is not None and streamed:
        return None
    lost = _lost(slot.name, "begins after the last change that was captured: it was made again, or moved by hand")
    # Without a reader, too, a streamed position may only be late, until Connect stores the next one.
    return replace(lost, certain=not streamed)


def _lost_before_the_first_offset(
    name: str, slot: CaptureSlot | None, pipeline: Pipeline, before: CaptureState | None, offset: StoredOffset
) -> Finding | None:
    """A slot that nobody has moved begins where it began, and Debezium moves it only once an offset is stored.

    With an initial snapshot Debezium takes it again when it starts without an offset, so nothing is missing then.
    """
    beginning = _known(before).position
    if not offset.supported or slot is None or slot.start is None or beginning is None:
        return None
    if pipeline.capture.snapshot_mode is not SnapshotMode.NO_DATA or slot.start <= beginning:
        return None
    return _lost(name, "was made again before the first change was captured")


def _is_missing(position: int, log: ServerLog, slot: CaptureSlot | None, before: CaptureState | None) -> bool:
    """Whether the server does not have what Connect has stored as captured.

    After a promotion or a restart Connect may have stored a position of the new log. Debezium confirms that to the slot
    at once: so a slot that still stands before that says that the position is of the old log.
    """
    known, confirmed = _known(before), slot.position if slot else None
    return log.ends_before(position) or (log.lacks(position, known) and not log.lacks(confirmed, known))


def _positions(offset: StoredOffset) -> list[int]:
    values = offset.values or {}
    return [value for key in _POSITIONS if isinstance(value := values.get(key), int)]


def must_read_again(
    facts: PostgreSQLCaptureFacts, pipeline: Pipeline, before: CaptureState | None, offset: StoredOffset
) -> bool:
    """Whether the server seems not to have what Connect has stored: the facts are older than the offset."""
    slot = facts.slots.get(PostgreSQLCapturePlan.of(pipeline, deployed=True).slot_name)
    return any(_is_missing(position, facts.log, slot, before) for position in _positions(offset))


def read_again(facts: PostgreSQLCaptureFacts, later: PostgreSQLCaptureFacts) -> PostgreSQLCaptureFacts:
    """The facts with the later log, and with what was confirmed until then. Where slots begin stays: an offset that was
    read in between is compared with that.
    """
    slots = {
        name: replace(slot, position=later.slots[name].position) if name in later.slots else slot
        for name, slot in facts.slots.items()
    }
    return replace(facts, slots=slots, log=later.log)


def offset_after_gap(pipeline: Pipeline, position: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The partition and the offset with which Debezium goes on to read at the position of its slot, without a snapshot.

    These are the keys of a streamed offset, in every version of Debezium since 1.x (PostgresOffsetContext). Those of a
    snapshot differ between versions.
    """
    return {"server": pipeline.capture.topic_prefix}, dict.fromkeys(_POSITIONS, position)


def begins_anew(offset: StoredOffset) -> bool:
    """Whether Debezium takes its snapshot when it starts with this offset, as it does until one is complete."""
    return _in_snapshot(offset.values)


def needs_offset(before: CaptureState | None, state: CaptureState) -> bool:
    """Connect's offset decides only where nobody reads from the slot, or another process of the server than before."""
    return state.reader is None or (before is not None and before.reader != state.reader)


def with_offset(
    facts: PostgreSQLCaptureFacts,
    pipeline: Pipeline,
    before: CaptureState | None,
    state: CaptureState,
    offset: StoredOffset,
    _now: datetime,
) -> CaptureState:
    """The capture with what Connect's stored `offset` adds."""
    known = any(finding.code is FindingCode.LOG_POSITION_LOST and finding.certain for finding in state.findings)
    lost = None if known else lost_changes(facts, pipeline, before, offset)
    replaced = {lost.code} if lost else set()
    if _in_snapshot(offset.values):
        replaced.add(FindingCode.NOT_READ)
    kept = tuple(finding for finding in state.findings if finding.code not in replaced)
    if lost:
        return replace(state, findings=(*kept, lost))
    # Where it is not known yet what the server has of the earlier timeline, the offset may belong to either.
    stored = [] if facts.log.has_left(state.captured.timeline) else _positions(offset)
    furthest = replace(state.captured, position=_furthest(state.captured.position, *stored))
    return replace(state, captured=furthest, findings=kept)


def _in_snapshot(offset: Mapping[str, Any] | None) -> bool:
    """Whether the connector is still taking its snapshot: until that is complete nothing reads from the slot."""
    return offset is None or ("snapshot" in offset and offset.get("snapshot_completed") is not True)


def _slot_findings(
    plan: PostgreSQLCapturePlan,
    slot: CaptureSlot | None,
    pipeline: Pipeline,
    before: CaptureState | None,
    log: ServerLog,
) -> Iterator[Finding]:
    had_slot = before is not None and before.position is not None
    if slot is None and had_slot:
        yield _lost(plan.slot_name, "does not exist any more")
    elif slot is None:
        message = f'The replication slot "{plan.slot_name}" does not exist: the connector has not made it.'
        yield Finding(code=FindingCode.LOG_POSITION_MISSING, message=message, condition=_SLOT_ERROR)
    elif slot.wal_status == "lost":
        yield _lost(plan.slot_name, "has lost the log that it needs")
    elif _lacks_captured(log, slot, before):
        yield _history_lost()
    elif slot.reader is None and pipeline.desired_state is DesiredState.RUNNING:
        message = f'Nobody reads from the replication slot "{plan.slot_name}": changes are not captured, and the server'
        message += " keeps its log for them. Look at the log of the Connect worker; a restart of the pipeline may help."
        yield Finding(code=FindingCode.NOT_READ, message=message, condition=_SLOT_ERROR)


def _lacks_captured(log: ServerLog, slot: CaptureSlot, before: CaptureState | None) -> bool:
    known = _known(before)
    return log.lacks(known.position, known) or (slot.position is not None and log.ends_before(slot.position))


def _reads_once(pipeline: Pipeline) -> bool:
    # Debezium then makes neither slot nor publication.
    return pipeline.capture.snapshot_mode is SnapshotMode.INITIAL_ONLY


def _publication_findings(
    plan: PostgreSQLCapturePlan, facts: PostgreSQLCaptureFacts, before: CaptureState | None
) -> Iterator[Finding]:
    published, name = facts.published.get(plan.publication_name), plan.publication_name
    # The connector makes its publication before its slot: once there was a slot, what is missing was taken away.
    certain = before is not None and before.position is not None
    if published is None:
        message = f'The publication "{name}" does not exist: changes are not captured. Make it again for the'
        message += " pipeline's tables; changes made until then are lost."
        yield Finding(code=FindingCode.TABLES_NOT_PUBLISHED, message=message, certain=certain)
        return
    if lacking := [table for table in plan.published_tables if table not in published]:
        message = f'The publication "{name}" does not contain {name_list(lacking, _MAX_NAMED)}: their changes are not'
        message += " captured."
        message += " Add them to it; changes made until then are lost."
        yield Finding(code=FindingCode.TABLES_NOT_PUBLISHED, message=message, certain=certain)


def _other_server() -> Finding:
    message = "Another server answers than the one that was captured from (its system identifier is another one): the"
    message += f" stored position in the log means nothing there. {NEW_SNAPSHOT_AND_SLOT} {GO_ON_AFTER_THE_GAP}"
    return Finding(code=FindingCode.OTHER_SERVER, message=message, certain=True)


def _history_lost() -> Finding:
    message = "The server's log does not have the last changes that were captured: a standby without them was promoted,"
    message += " or an older copy was restored. So changes were lost: Kafka has rows that the source has not, and what"
    message += (
        f" the source writes until its log is as long again is skipped. {NEW_SNAPSHOT_AND_SLOT} {GO_ON_AFTER_THE_GAP}"
    )
    return Finding(code=FindingCode.LOG_POSITION_LOST, message=message, certain=True)


def _lost(slot: str, fate: str) -> Finding:
    message = f'The replication slot "{slot}" {fate}: changes were lost. {NEW_SNAPSHOT_AND_SLOT} {GO_ON_AFTER_THE_GAP}'
    return Finding(code=FindingCode.LOG_POSITION_LOST, message=message, certain=True)
