"""The write-ahead log that a server keeps for the slot of a deployed capture, and when changes are going to be lost.

Facts: PostgreSQL documentation, 53.20 (pg_replication_slots) and 19.6.1 (max_slot_wal_keep_size).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.source_log import LogGrowth, LogState, grown, seconds_until_lost
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.providers.postgresql.readiness.log import LITTLE_LEFT, MUCH_RETAINED_BYTES
from chalicelib.kit.readable import readable_duration, readable_size

ALMOST_NOTHING_LEFT = 0.05
"""The share of `max_slot_wal_keep_size` below which there is no time to wait for a second look."""

SOON, VERY_SOON = timedelta(hours=6), timedelta(hours=1)

MUCH_LEFT = 0.5
"""With this share left a slot that is read is not at risk at any rate: what is kept rises and falls with each commit
of the reader's offset, and at random times such a rise looks like a trend.
"""

_STATUSES = frozenset({"reserved", "extended", "unreserved", "lost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSlot:
    """A logical slot of the database: `start` is its restart_lsn and `position` its confirmed_flush_lsn, both in bytes,
    `reader` the server's process.

    `log_end` is the end of the server's log in bytes, of which `retained_bytes` are kept for the slot; both null on a
    standby. `safe_bytes` may be written before the slot is lost, negative when the next checkpoint may do that;
    `max_kept_bytes` is max_slot_wal_keep_size. Both are null where nothing bounds what is kept. In
    `idle_seconds_left` it is lost to idle_replication_slot_timeout (PostgreSQL 18); null without, and while it is read.
    """

    name: str
    start: int | None
    position: int | None
    reader: str | None
    wal_status: str | None
    log_end: int | None = None
    retained_bytes: int | None = None
    safe_bytes: int | None = None
    max_kept_bytes: int | None = None
    idle_seconds_left: int | None = None


def slot_log(slot: CaptureSlot, before: LogState | None, now: datetime) -> LogState:
    """The log behind the slot; `before` is what the last look found."""
    growth, active = None, slot.reader is not None
    if slot.log_end is not None and slot.retained_bytes is not None:
        current = LogGrowth(at=now, end=slot.log_end, retained_bytes=slot.retained_bytes, active=active)
        growth = grown(before.growth if before else None, current)
    return LogState(
        kind="slot",
        name=slot.name,
        active=active,
        retained_bytes=slot.retained_bytes,
        safe_bytes=None if slot.safe_bytes is None else max(0, slot.safe_bytes),
        status=slot.wal_status if slot.wal_status in _STATUSES else None,
        seconds_to_loss=_seconds_to_loss(slot, growth),
        observed_at=now,
        growth=growth,
    )


def _seconds_to_loss(slot: CaptureSlot, growth: LogGrowth | None) -> int | None:
    if slot.wal_status == "lost":
        return 0
    ends = (seconds_until_lost(slot.safe_bytes, growth.rate if growth else None), slot.idle_seconds_left)
    return min((max(0, seconds) for seconds in ends if seconds is not None), default=None)


def log_at_risk(log: LogState, slot: CaptureSlot, desired: DesiredState) -> Finding | None:
    """What may be lost soon, or fill the server's disk; nothing once it is lost, which another finding says.

    It is certain where the server says that the loss is near. A rate may change: a second look has to find it again.
    """
    share = log.safe_bytes / slot.max_kept_bytes if log.safe_bytes is not None and slot.max_kept_bytes else 1.0
    nears = log.seconds_to_loss is not None and (not log.active or share < MUCH_LEFT)
    left = timedelta(seconds=log.seconds_to_loss or 0) if nears else timedelta.max
    # `extended` is no fault: more than max_wal_size (1 GB by default) is kept, as often on a server that writes much.
    certain = log.status == "unreserved" or share < ALMOST_NOTHING_LEFT
    much = (log.retained_bytes or 0) > MUCH_RETAINED_BYTES
    if log.status == "lost" or not (certain or much or share < LITTLE_LEFT or left < SOON):
        return None
    severity = Severity.ERROR if certain or left < VERY_SOON else Severity.WARNING
    message = f"{_what_is_kept(log)} {_how_fast(log)}{_how_long_idle(slot)}{_what_to_do(log, desired)}"
    return Finding(code=FindingCode.LOG_AT_RISK, message=message, severity=severity, certain=certain)


def _what_is_kept(log: LogState) -> str:
    unread = "" if log.active else ", from which nobody reads"
    size = readable_size(log.retained_bytes or 0)
    kept = f'The server keeps {size} of its log for the replication slot "{log.name}"{unread}'
    if log.status == "unreserved":
        return f"{kept}. That is more than it may: its next checkpoint can remove what the slot needs."
    if log.safe_bytes is None:
        return f"{kept}. Nothing limits that: the log can fill the server's disk."
    return f"{kept}. When {readable_size(log.safe_bytes)} more are written, changes are lost."


def _how_fast(log: LogState) -> str:
    rate = log.growth.rate if log.growth else None
    if rate is None or rate <= 0:
        return ""
    seconds = seconds_until_lost(log.safe_bytes, rate)
    until = f": at this rate that is in about {readable_duration(seconds)}" if seconds else ""
    return f"The log grows by {readable_size(rate * 60)} a minute{until}. "


def _how_long_idle(slot: CaptureSlot) -> str:
    if slot.idle_seconds_left is None:
        return ""
    left = readable_duration(max(0, slot.idle_seconds_left))
    return f"If nobody reads for {left} more, the slot is lost to idle_replication_slot_timeout. "


def _what_to_do(log: LogState, desired: DesiredState) -> str:
    more_time = "" if log.safe_bytes is None else " A larger max_slot_wal_keep_size gives more time."
    if desired is DesiredState.PAUSED:
        return (
            "Resume the pipeline, or delete it with its slot when nobody needs it any more "
            f"(DELETE /pipelines/ID?drop_slot=true).{more_time}"
        )
    if not log.active:
        return f"Look at the log of the Connect worker; a restart of the pipeline may help.{more_time}"
    return (
        "Its reader is too slow, or a long transaction in the source keeps it where it is: end that transaction, or "
        "give the Connect worker more memory and CPU. Where the captured tables rarely change, nothing moves it on: "
        f"options.heartbeat_table of a pipeline does.{more_time}"
    )
