"""Whether a deployed capture from a PostgreSQL server still works: its slot, its publication, and the server itself.

Facts: PostgreSQL documentation, 53.20 (pg_replication_slots) and 47.2 (logical decoding). Connect's stored offset is
that of Debezium 3.6. Debezium confirms to the slot what Kafka has acknowledged (BaseSourceTask.performCommit). That may
be more than Connect has stored, until the next flush or when a task did not end in time: a confirmed position after the
offset is no loss. At its start Debezium 2.6 and later compares the slot with the streamed position `lsn_proc` of the
offset (PostgresConnection.validateLogPosition); after nothing but a snapshot there is none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.diagnosis.new_snapshot import NEW_SNAPSHOT
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.source_state import CaptureState, Finding, FindingCode
from chalicelib.domain.names import name_list
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot, log_at_risk, slot_log
from chalicelib.domain.table import TableName

PAUSED_NOTICE = (
    "Pausing stops what reaches Kafka, not the capture itself: a replication slot stays active, and the source keeps "
    "its log for it until it is resumed."
)
"""Measured with Debezium 3.6: the stream goes on below a paused connector."""

_SLOT_ERROR = ConditionCode.CDC_REPLICATION_SLOT_ERROR
_MAX_NAMED = 5
_POSITIONS = ("lsn_proc", "lsn_commit", "lsn")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLCaptureFacts:
    """What was read about the captures of one database. `published` has the captured tables of each publication.

    `system_identifier` is null where the role may not read it.
    """

    system_identifier: str | None
    slots: Mapping[str, CaptureSlot]
    published: Mapping[str, frozenset[TableName]]


def capture_state(
    facts: PostgreSQLCaptureFacts, pipeline: Pipeline, before: CaptureState | None, now: datetime
) -> CaptureState:
    """The capture as the server shows it, compared with the last look."""
    plan, server = PostgreSQLCapturePlan.of(pipeline, deployed=True), facts.system_identifier
    slot = facts.slots.get(plan.slot_name)
    if before and before.server and server and before.server != server:
        return CaptureState(server=server, findings=(_other_server(),))
    findings = (*_slot_findings(plan, slot, pipeline, before), *_publication_findings(plan, facts, before))
    log = slot_log(slot, before.log if before else None, now) if slot else None
    at_risk = log_at_risk(log, slot, pipeline.desired_state) if log and slot else None
    return CaptureState(
        server=server,
        position=slot.position if slot else None,
        reader=slot.reader if slot else None,
        log=log,
        findings=(*(() if _reads_once(pipeline) else findings), *([at_risk] if at_risk else [])),
    )


def lost_changes(facts: PostgreSQLCaptureFacts, pipeline: Pipeline, offset: Mapping[str, Any] | None) -> Finding | None:
    """Whether changes were lost between what Connect has stored (`offset`, None: nothing) and where the slot begins."""
    if offset is None or _reads_once(pipeline):
        return None
    name = PostgreSQLCapturePlan.of(pipeline, deployed=True).slot_name
    slot = facts.slots.get(name)
    if slot is None:
        return _lost(name, "does not exist any more")
    if slot.wal_status == "lost":
        return _lost(name, "has lost the log that it needs")
    # Debezium does not start to read from a slot that begins after the streamed position that is stored. So while
    # somebody reads, such a position is only late: what Kafka acknowledges meanwhile is confirmed before it is stored.
    if slot.reader is not None and isinstance(offset.get("lsn_proc"), int):
        return None
    # An offset has up to three positions; everything before the furthest was captured. The kept log of a slot that was
    # made again begins where it was made; a slot that the connector moved still keeps the log before its offset.
    stored = [offset[key] for key in _POSITIONS if isinstance(offset.get(key), int)]
    if stored and slot.start is not None and slot.start > max(stored):
        return _lost(name, "begins after the last change that was captured: it was made again, or moved by hand")
    return None


def needs_offset(before: CaptureState | None, state: CaptureState) -> bool:
    """Connect's offset decides only where nobody reads from the slot, or another process of the server than before."""
    return state.reader is None or (before is not None and before.reader != state.reader)


def with_offset(
    facts: PostgreSQLCaptureFacts, pipeline: Pipeline, state: CaptureState, offset: Mapping[str, Any] | None
) -> CaptureState:
    """The capture with what Connect's stored `offset` adds (None: it has stored none)."""
    lost = lost_changes(facts, pipeline, offset)
    replaced = {lost.code} if lost else set()
    if _in_snapshot(offset):
        replaced.add(FindingCode.NOT_READ)
    kept = tuple(finding for finding in state.findings if finding.code not in replaced)
    return replace(state, findings=(*kept, lost) if lost else kept)


def _in_snapshot(offset: Mapping[str, Any] | None) -> bool:
    """Whether the connector is still taking its snapshot: until that is complete nothing reads from the slot."""
    return offset is None or ("snapshot" in offset and offset.get("snapshot_completed") is not True)


def _slot_findings(
    plan: PostgreSQLCapturePlan, slot: CaptureSlot | None, pipeline: Pipeline, before: CaptureState | None
) -> Iterator[Finding]:
    had_slot = before is not None and before.position is not None
    if slot is None and had_slot:
        yield _lost(plan.slot_name, "does not exist any more")
    elif slot is None:
        message = f'The replication slot "{plan.slot_name}" does not exist: the connector has not made it.'
        yield Finding(code=FindingCode.LOG_POSITION_MISSING, message=message, condition=_SLOT_ERROR)
    elif slot.wal_status == "lost":
        yield _lost(plan.slot_name, "has lost the log that it needs")
    elif slot.reader is None and pipeline.desired_state is DesiredState.RUNNING:
        message = f'Nobody reads from the replication slot "{plan.slot_name}": changes are not captured, and the server'
        message += " keeps its log for them. Look at the log of the Connect worker; a restart of the pipeline may help."
        yield Finding(code=FindingCode.NOT_READ, message=message, condition=_SLOT_ERROR)


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
    message += f" stored position in the log means nothing there. {NEW_SNAPSHOT}"
    return Finding(code=FindingCode.OTHER_SERVER, message=message, certain=True)


def _lost(slot: str, fate: str) -> Finding:
    message = f'The replication slot "{slot}" {fate}: changes were lost. {NEW_SNAPSHOT}'
    return Finding(code=FindingCode.LOG_POSITION_LOST, message=message, certain=True)
