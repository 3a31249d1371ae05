"""What can be wrong with a deployed capture from MySQL, but for what was lost: see `continuity.py`."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.diagnosis.new_snapshot import GO_ON_AFTER_THE_GAP, NEW_SNAPSHOT
from chalicelib.domain.monitoring.condition import ConditionCode, Severity
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import name_list
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.providers.mysql.binlog_log import at_risk
from chalicelib.domain.providers.mysql.continuity import Gap, reason_of
from chalicelib.domain.providers.mysql.facts import BinlogStatus
from chalicelib.domain.providers.mysql.properties import IGNORE_GTIDS_PROPERTY
from chalicelib.domain.table import TableName

_MAX_NAMED = 5
_LOST_MEANWHILE = "Changes made until then are lost."


@dataclass(frozen=True, slots=True)
class _Setting:
    """A variable of the server: the value that a capture needs, and what another one does. Each was measured."""

    right: str
    effect: str
    fix: str


SETTINGS: Mapping[str, _Setting] = {
    "log_bin": _Setting("ON", "The server writes no binary log: nothing is captured.", "Set log_bin and restart it."),
    "binlog_format": _Setting(
        "ROW",
        "binlog_format is not ROW: what sessions write with another format is not captured, and no error says so.",
        "SET PERSIST binlog_format = ROW; and let the applications connect again.",
    ),
    "binlog_row_image": _Setting(
        "FULL",
        "binlog_row_image is not FULL: the connector fails at the first change that is written so, and at each start "
        "after that.",
        "SET PERSIST binlog_row_image = FULL; and let the applications connect again. Once it has failed: "
        "POST /pipelines/ID/restart?accept_data_loss=true.",
    ),
    "binlog_row_value_options": _Setting(
        "",
        "binlog_row_value_options is PARTIAL_JSON: updates of tables with JSON columns are not captured, and no error "
        "says so.",
        "SET PERSIST binlog_row_value_options = ''; and let the applications connect again.",
    ),
}
"""Global variables: sessions that are open already keep the values that they began with."""

OFFSET_LOST = Finding(
    code=FindingCode.LOG_POSITION_LOST,
    message="Kafka Connect has no stored position of this capture any more, and its connector takes no snapshot: when "
    f"it starts, it goes on at the end of the binary log, and what was written before is lost. {NEW_SNAPSHOT} "
    f"{GO_ON_AFTER_THE_GAP}",
    certain=True,
)
SNAPSHOT_TOO_LONG = at_risk(
    "The server has purged its binary log from where the snapshot began: the connector fails when the snapshot is "
    "complete, and takes it again. Let the server keep its binary log for longer than the snapshot takes "
    "(binlog_expire_logs_seconds), then restart the pipeline.",
    Severity.ERROR,
    certain=True,
)
GTIDS_SINCE = at_risk(
    "The server uses GTIDs, and the stored position has none: they were turned on later, or there was no transaction "
    "yet. Debezium 3.6 cannot start at such a position: the next start fails. "
    f'With the property "{IGNORE_GTIDS_PROPERTY}": "true" it goes on by file and position, and does not survive a '
    f"failover to another server. {GO_ON_AFTER_THE_GAP}",
    Severity.WARNING,
    certain=True,
)


def reading_findings(readers: Collection[str] | None, desired: DesiredState, *, denied: bool) -> Iterator[Finding]:
    """Whether anybody reads the log. `denied`: the account may not see where it ends."""
    if denied:
        message = "The account may not see the server's binary log any more, so its next start fails, and it is not"
        message += " known when changes are going to be lost. GRANT REPLICATION CLIENT ON *.* TO the account."
        severity = Severity.WARNING if readers else Severity.ERROR
        yield Finding(
            code=FindingCode.NOT_READ, message=message, condition=ConditionCode.CDC_PERMISSION_ERROR, severity=severity
        )
    if desired is DesiredState.RUNNING and readers is not None and not readers:
        message = "Nobody reads the server's binary log with the account of this source: changes are not captured. Look"
        message += " at the log of the Connect worker; a restart of the pipeline may help."
        yield Finding(code=FindingCode.NOT_READ, message=message, condition=ConditionCode.CDC_BINLOG_ERROR)


def setting_findings(
    settings: Mapping[str, str], status: BinlogStatus, tables: Sequence[TableName]
) -> Iterator[Finding]:
    """What the server does not write to its binary log, or not as a capture needs it."""
    for name, setting in SETTINGS.items():
        if settings.get(name, setting.right).upper() != setting.right:
            message = f"{setting.effect} {setting.fix} {_LOST_MEANWHILE}"
            yield Finding(
                code=FindingCode.TABLES_NOT_PUBLISHED,
                message=message,
                condition=ConditionCode.CDC_BINLOG_ERROR,
                certain=True,
            )
    filtered = sorted({table.schema_name for table in tables if status.is_filtered(table.schema_name)})
    if filtered:
        message = f"The server leaves the databases {name_list(filtered, _MAX_NAMED)} out of its binary log"
        message += " (binlog_do_db, binlog_ignore_db): their changes are not captured. Remove that filter and restart"
        message += f" the server. {_LOST_MEANWHILE}"
        yield Finding(code=FindingCode.TABLES_NOT_PUBLISHED, message=message, certain=True)


def table_findings(
    dropped: Collection[TableName], hidden: Collection[TableName], tables: Sequence[TableName]
) -> Iterator[Finding]:
    """Captured tables that are gone. Without SELECT changes go on to arrive, also after a restart (measured)."""
    if gone := [table for table in tables if table in dropped]:
        message = (
            f"{name_list(gone, _MAX_NAMED)} do not exist any more in the source: nothing of them is captured. Make"
        )
        message += " them again, or create a pipeline without them."
        yield Finding(code=FindingCode.TABLES_NOT_PUBLISHED, message=message)
    if unseen := [table for table in tables if table in hidden]:
        message = f"The account may not read {name_list(unseen, _MAX_NAMED)}, if they still exist. Changes go on to"
        message += " arrive; a snapshot would be without them. GRANT SELECT on them to the account."
        yield Finding(code=FindingCode.TABLES_NOT_PUBLISHED, message=message, severity=Severity.WARNING)


def purged_behind_reader(file: str, desired: DesiredState) -> Finding:
    """What is needed to start again is purged, while a session still reads on: nothing is lost until it ends."""
    paused = " Resume the pipeline, so that its position moves on." if desired is DesiredState.PAUSED else ""
    message = (
        f'The server has purged its binary log from the stored position on ("{file}"). The connector still reads, so '
        "nothing is lost yet; but it cannot start again there: with a restart, or on another worker, changes would be "
        f"lost.{paused} Where it runs, a heartbeat moves the position within about a minute."
    )
    return at_risk(message, Severity.ERROR, certain=False)


def snapshot_at_next_start(gap: Gap) -> Finding:
    """The stored position is of no use, and the capture has chosen a snapshot for that case."""
    message = (
        f"{reason_of(gap)} As snapshot_mode says, the connector takes its snapshot again when it starts next: restart "
        "the pipeline. In the targets, rows stay that were deleted in the source meanwhile."
    )
    return at_risk(message, Severity.ERROR, certain=True)
