"""The binary log from where a connector goes on, and when changes are going to be lost.

A server keeps its binary log for nobody: it purges a file once the last write to it is `binlog_expire_logs_seconds` ago
(MySQL 8.0 manual), when it begins the next one. The newest file is never purged. SQL does not tell how old a file is:
it is written to until it is seen not to be the newest any more, and at least until the last captured change before the
stored position. That change may be long ago where other tables are written, as its time moves with captured tables
only, while the position moves with every heartbeat (measured with Debezium 3.6).
"""

from datetime import datetime, timedelta

from chalicelib.domain.monitoring.condition import ConditionCode, Severity
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog
from chalicelib.kit.readable import readable_duration, readable_size

SOON, VERY_SOON = timedelta(hours=6), timedelta(hours=1)

LITTLE_LEFT, ALMOST_NOTHING_LEFT = 0.2, 0.05
"""Shares of the space that all files may have."""

KEPT, PURGED = "kept", "purged"


def binlog_log(
    binlog: ServerBinlog,
    position: BinlogPosition,
    changed_at: datetime | None,
    *,
    active: bool | None,
    before: LogState | None,
    now: datetime,
) -> LogState | None:
    """The log from `position` on; None where it cannot be read. `changed_at` is when the last captured change before
    the position was made. `before` is what the last look found.
    """
    if binlog.end is None:
        return None
    retained = binlog.bytes_from(position)
    until = _written_until(binlog, position, changed_at, before, now)
    safe = None if binlog.space_limit is None or retained is None else max(0, binlog.space_limit - retained)
    return LogState(
        kind="binlog",
        name=position.file,
        active=active,
        retained_bytes=retained,
        safe_bytes=safe,
        status=PURGED if retained is None else KEPT,
        seconds_to_loss=0 if retained is None else _seconds_to_loss(binlog, position, until, now),
        observed_at=now,
        written_until=until,
    )


def log_at_risk(log: LogState, binlog: ServerBinlog, desired: DesiredState) -> Finding | None:
    """What is going to be lost soon; nothing once it is, which other findings say."""
    share = log.safe_bytes / binlog.space_limit if log.safe_bytes is not None and binlog.space_limit else 1.0
    left = timedelta.max if log.seconds_to_loss is None else timedelta(seconds=log.seconds_to_loss)
    kept_for = timedelta(seconds=binlog.retention_seconds or 0)
    if log.status == PURGED or (share >= LITTLE_LEFT and left > _bounded(SOON, 0.5, kept_for)):
        return None
    is_soon = share < ALMOST_NOTHING_LEFT or left <= _bounded(VERY_SOON, 0.25, kept_for)
    message = f"{_what_is_needed(log)} {_when_it_goes(log, binlog)} {_what_to_do(log, desired)}"
    severity = Severity.ERROR if is_soon else Severity.WARNING
    # The position of one who reads may only be stored late: then the next look finds it moved.
    return at_risk(message, severity, certain=is_soon and log.active is not True)


def at_risk(message: str, severity: Severity, *, certain: bool) -> Finding:
    """Changes may be lost soon. Of several such findings the first is shown as the incident."""
    return Finding(
        code=FindingCode.LOG_AT_RISK,
        message=message,
        condition=ConditionCode.CDC_BINLOG_ERROR,
        severity=severity,
        certain=certain,
    )


def _bounded(most: timedelta, share: float, retention: timedelta) -> timedelta:
    """Where files are kept for a short time, a part of it: one that is only a little older than the newest is safe."""
    return min(most, retention * share) if retention else most


def _written_until(
    binlog: ServerBinlog,
    position: BinlogPosition,
    changed_at: datetime | None,
    before: LogState | None,
    now: datetime,
) -> datetime | None:
    """Since when the file is at most complete: a later time is not known."""
    if binlog.end is not None and binlog.end.file == position.file:
        return now
    seen = before.written_until if before and before.name == position.file else None
    return max((time for time in (changed_at, seen) if time is not None), default=None)


def _seconds_to_loss(
    binlog: ServerBinlog, position: BinlogPosition, until: datetime | None, now: datetime
) -> int | None:
    is_newest = binlog.end is not None and binlog.end.file == position.file
    if is_newest or until is None or binlog.retention_seconds is None:
        return None
    return max(0, int((until - now).total_seconds()) + binlog.retention_seconds)


def _what_is_needed(log: LogState) -> str:
    unread = "" if log.active else ", which nobody reads now"
    size = readable_size(log.retained_bytes or 0)
    return f'The connector goes on in the binary log from "{log.name}" on: {size}{unread}.'


def _when_it_goes(log: LogState, binlog: ServerBinlog) -> str:
    if log.seconds_to_loss is None:
        space = readable_size(log.safe_bytes or 0)
        return f"When {space} more are written, the server purges that (binlog_space_limit): then changes are lost."
    if log.seconds_to_loss == 0:
        return "The server purges that when it begins its next file: then changes are lost."
    kept = readable_duration(binlog.retention_seconds or 0)
    when = readable_duration(log.seconds_to_loss)
    return f"In about {when} the server may purge that, as it keeps a file for {kept}: then changes are lost."


def _what_to_do(log: LogState, desired: DesiredState) -> str:
    more_time = (
        "A longer retention gives more time (SET PERSIST binlog_expire_logs_seconds = 604800; on Amazon RDS and Aurora "
        "CALL mysql.rds_set_configuration('binlog retention hours', 168);)."
    )
    if desired is DesiredState.PAUSED:
        return f"Resume the pipeline, or delete it when nobody needs it any more. {more_time}"
    if log.active:
        return (
            "The connector is behind, or its position is not stored: give the Connect worker more memory and CPU, and "
            f"leave heartbeat_interval_ms at its default. {more_time}"
        )
    return f"Look at the pipeline's status and at the log of the Connect worker. {more_time}"
