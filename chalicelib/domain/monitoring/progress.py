"""Whether a connector moves, whatever Kafka Connect says about it.

A connector may read RUNNING while nothing passes through it: Debezium that waits for its database, a sink whose task
was put out of its consumer group, or one that tries the same record again and again. What proves that it moves are
offsets in Kafka.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.domain.monitoring.catch_up import CatchUp, after_interval, lag_finding
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.monitoring.seconds_behind import WaitingPartition, seconds_behind, waiting_partitions
from chalicelib.domain.monitoring.source_state import VALID_FOR, Finding, FindingCode
from chalicelib.domain.monitoring.watched_connector import ProgressFacts, WatchedConnector
from chalicelib.domain.timing import TICK
from chalicelib.kit.clock import rfc3339

MEASURE_EVERY = 3 * TICK

MAX_GAP = 4 * MEASURE_EVERY
"""After a longer time without measurements (Kafka could not be read) the time of quiet begins anew: a connector could
not move meanwhile, and needs time to begin again.
"""

START_WITHIN = timedelta(seconds=60)
"""What a connector may take from RUNNING to its first record or commit, beside the time for which it may be quiet."""

LOOKS_WITHOUT_MOVE = 2
NO_MEMBERS_FOR = 2 * MEASURE_EVERY
FIRST_HEARTBEAT_WITHIN = timedelta(minutes=10)
"""There is none during the initial snapshot, which may wait for a lock or for its first row."""

LONGEST_REBALANCE = timedelta(minutes=10)
"""Nothing is committed while a group rebalances: at most `max.poll.interval.ms`, by default 5 minutes."""

NOT_MEASURED = f"Throughput and lag have not been measured yet: they are every {MEASURE_EVERY.seconds} seconds."
_UNREADABLE = (
    "Throughput and lag are not known: the user of the stream cluster may not describe and read all of its topics and "
    "its consumer group."
)
_NO_MEMBERS_HINT = (
    "Restart the delivery. If that happens again, look for a destination that takes longer than five minutes to write "
    "one batch, and lower batch_size."
)
_QUIET_SINK_HINT = "Check whether the destination can be reached and accepts writes, then restart the delivery."
_QUIET_CAPTURE_HINT = "Check whether the source can be reached and its log position is read, then restart the pipeline."
_LAST_LOOK = "Throughput and lag are not known: Kafka was last asked for them at {at}."
_NO_PIPELINE_LAG = "A pipeline has no lag of its own: its deliveries have."
_ONE_MEASUREMENT = "Throughput is known after a second measurement, 30 seconds after the first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A connector's movement, as of `measured_at`.

    `moved_at` is the measurement that last found it moved, null when none has yet. `throughput` is in records a second
    since the measurement before, `lag` in records. `quiet_since` (in the future while it starts) and `looks` (without
    movement, counted up to `LOOKS_WITHOUT_MOVE`) say for how long it has not moved although it should. `starting`: it
    did not run, or was not measured before, so it is given time. `basis` says which topics the numbers are of. `notice`
    says why nothing is known. `catch_up` is that of a delivery while it runs, and `waiting` are its partitions with
    records to deliver, null for captures.

    Where nothing has changed two measurements differ in `measured_at` alone, and only that is stored.
    """

    measured_at: datetime
    moved_at: datetime | None = None
    throughput: float | None = None
    lag: int | None = None
    findings: tuple[Finding, ...] = ()
    notice: str | None = None
    basis: int = 0
    position: int = 0
    records: int = 0
    end: int = 0
    end_moved_at: datetime | None = None
    quiet_since: datetime | None = None
    looks: int = 0
    starting: bool = False
    no_members_since: datetime | None = None
    rebalancing_since: datetime | None = None
    catch_up: CatchUp | None = None
    waiting: tuple[WaitingPartition, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressLook:
    """The last attempt to measure a Connect cluster. `failure` is a sentence of ours, null when it succeeded.

    `throughput` is that of all pipelines, `lag` that of all deliveries; null when none is known. `left_out` are
    connectors that could not be measured.
    """

    at: datetime
    failure: str | None = None
    throughput: float | None = None
    lag: int | None = None
    left_out: int = 0


def measure_due(last_look: datetime | None, now: datetime) -> bool:
    """Whether a tick is the first one in a period of `MEASURE_EVERY`; `last_look` is when the tick before began."""
    return last_look is None or _period(now) > _period(last_look)


def after_measurement(
    before: Progress | None, watched: WatchedConnector, facts: ProgressFacts | None, running: bool | None, now: datetime
) -> Progress:
    """The progress after a measurement; `facts` None when the connector could not be measured, which changes nothing
    until what is known is too old.

    `running` is what Connect says, None when Connect could not be read.
    """
    if facts is None:
        unreadable = Progress(measured_at=now, notice=_UNREADABLE, basis=watched.basis)
        return before if before and is_known(before, now) else unreadable
    if before and (before.basis != watched.basis or before.notice == _UNREADABLE):
        before = None
    # Messages of ticks may arrive out of order: an older measurement says nothing new.
    if before and before.measured_at >= now:
        return before
    former = before or Progress(measured_at=now, position=facts.position, end=facts.end)
    moved = facts.position != former.position
    after = Progress(
        measured_at=now,
        moved_at=now if moved else former.moved_at,
        throughput=_throughput(before, facts, now),
        lag=facts.lag,
        notice=watched.notice,
        basis=watched.basis,
        position=facts.position,
        records=facts.records,
        end=facts.end,
        end_moved_at=now if facts.end != former.end else former.end_moved_at,
        rebalancing_since=(former.rebalancing_since or now) if facts.rebalancing else None,
        catch_up=_catch_up(before, facts, running, now),
    )
    after = replace(after, waiting=_waiting(after, before, facts))
    after = _with_quiet(after, before, watched, facts, running, moved=moved)
    return replace(after, findings=_findings(after, before, watched, facts, running))


def is_known(progress: Progress, now: datetime) -> bool:
    """Whether it was measured lately. If not, its findings have neither begun nor ended."""
    return progress.notice != _UNREADABLE and now - progress.measured_at <= VALID_FOR


def is_stalled(progress: Progress | None) -> bool:
    return progress is not None and any(finding.code is FindingCode.STALLED for finding in progress.findings)


def findings(progress: Progress | None, now: datetime) -> tuple[Finding, ...]:
    """What is wrong with a connector: nothing when it was measured too long ago."""
    return progress.findings if progress and now - progress.measured_at <= VALID_FOR else ()


def metrics(progress: Progress | None, look: ProgressLook | None, now: datetime, *, is_sink: bool) -> Metrics:
    """What is shown. `look` is the cluster's last one, None where nothing was measured."""
    if look is None:
        return Metrics()
    if now - look.at > VALID_FOR:
        return Metrics(notice=_LAST_LOOK.format(at=rfc3339(look.at)))
    if progress is None:
        return Metrics(notice=f"{NOT_MEASURED} {look.failure or ''}".strip())
    if now - progress.measured_at > VALID_FOR:
        old = f"Throughput and lag are not known: they were last measured at {rfc3339(progress.measured_at)}."
        return Metrics(notice=f"{old} {look.failure or ''}".strip())
    if not is_known(progress, now):
        return Metrics(notice=_UNREADABLE)
    parts = (
        progress.notice,
        None if is_sink else _NO_PIPELINE_LAG,
        _ONE_MEASUREMENT if progress.throughput is None else None,
    )
    return Metrics(
        throughput=progress.throughput,
        lag=progress.lag,
        notice=" ".join(part.strip() for part in parts if part) or None,
        seconds_behind=seconds_behind(progress.waiting, progress.measured_at),
        measured=True,
        moved_at=progress.moved_at,
        not_watched=progress.notice,
        findings=progress.findings,
    )


def total_metrics(looks: Sequence[ProgressLook], now: datetime, *, clusters: int) -> Metrics:
    """The sums over all Connect `clusters` (their number) that were measured lately; `looks` are their last ones.

    The notice says what is not included.
    """
    fresh = [look for look in looks if now - look.at <= VALID_FOR]
    failed = next((look.failure for look in fresh if look.failure), None)
    if not fresh:
        newest = max((look.at for look in looks), default=None)
        return Metrics(notice=_LAST_LOOK.format(at=rfc3339(newest))) if newest else Metrics()
    throughput = [look.throughput for look in fresh if look.throughput is not None]
    lag = [look.lag for look in fresh if look.lag is not None]
    return Metrics(
        throughput=round(sum(throughput), 3) if throughput else None,
        lag=sum(lag) if lag else None,
        notice=" ".join(_left_out(fresh, failed, clusters)) or (None if throughput or lag else NOT_MEASURED),
        measured=True,
    )


def _left_out(fresh: Sequence[ProgressLook], failed: str | None, clusters: int) -> Iterator[str]:
    """What sums over these looks do not include."""
    measured, connectors = sum(not look.failure for look in fresh), sum(look.left_out for look in fresh)
    if failed:
        yield failed
    if 0 < measured < clusters:
        yield f"Not included are {clusters - measured} of {clusters} Connect clusters, which could not be measured."
    if connectors:
        yield f"Not included are {connectors} connectors that could not be measured."


def _period(at: datetime) -> int:
    return int(at.timestamp() // MEASURE_EVERY.total_seconds())


def _throughput(before: Progress | None, facts: ProgressFacts, now: datetime) -> float | None:
    if before is None:
        return None
    return round(max(0, facts.records - before.records) / (now - before.measured_at).total_seconds(), 3)


def _catch_up(before: Progress | None, facts: ProgressFacts, running: bool | None, now: datetime) -> CatchUp | None:
    """None for a capture, and as long as nothing can be compared: it begins anew then."""
    if before is None or facts.lag is None or running is False or now - before.measured_at > MAX_GAP:
        return None
    delivered = max(0, facts.records - before.records)
    return after_interval(
        before.catch_up, before.measured_at, now, delivered=delivered, lag=facts.lag, behind=facts.behind
    )


def _waiting(after: Progress, before: Progress | None, facts: ProgressFacts) -> tuple[WaitingPartition, ...] | None:
    """None for a capture. The last record of a partition waits only when it came after the last commit."""
    if facts.lag is None:
        return None
    fewest = 1 if before is None or _has_newer(after) else 2
    backlogs = {key: backlog for key, backlog in facts.backlogs.items() if backlog.records >= fewest}
    former, last_at = (before.waiting, before.measured_at) if before else (None, after.measured_at)
    return waiting_partitions(former, backlogs, last_at, after.measured_at)


def _with_quiet(
    after: Progress,
    before: Progress | None,
    watched: WatchedConnector,
    facts: ProgressFacts,
    running: bool | None,
    *,
    moved: bool,
) -> Progress:
    """How long the connector has not moved although it should, and for how long its group has had no members."""
    now = after.measured_at
    if before is None:
        return replace(after, starting=True)
    # An outage of Kafka is no recovery: who stood still before it is not given time again.
    missed = now - before.measured_at > MAX_GAP and not is_stalled(before)
    excused = after.rebalancing_since is not None and now - after.rebalancing_since <= LONGEST_REBALANCE
    starting = missed or running is False
    after = replace(
        after,
        starting=starting,
        no_members_since=_no_members_since(None if missed else before.no_members_since, facts, running, now),
    )
    if starting or moved or excused or not _has_work(after, watched, facts):
        return after
    return replace(
        after,
        quiet_since=before.quiet_since or before.measured_at + START_WITHIN * before.starting,
        looks=min(before.looks + bool(running), LOOKS_WITHOUT_MOVE),
    )


def _no_members_since(
    before: datetime | None, facts: ProgressFacts, running: bool | None, now: datetime
) -> datetime | None:
    if facts.members != 0 or running is False:
        return None
    return before or (now if running else None)


def _has_work(after: Progress, watched: WatchedConnector, facts: ProgressFacts) -> bool:
    """A capture always has heartbeats to send; a sink has records, or one that came after its last commit."""
    if not watched.is_sink:
        return watched.notice is None
    return facts.behind or (bool(facts.lag) and _has_newer(after))


def _has_newer(after: Progress) -> bool:
    """Whether a record came after the last commit."""
    return after.end_moved_at is not None and (after.moved_at is None or after.end_moved_at > after.moved_at)


def _findings(
    after: Progress, before: Progress | None, watched: WatchedConnector, facts: ProgressFacts, running: bool | None
) -> tuple[Finding, ...]:
    """While Connect cannot be read no standstill begins, and none ends but by a move."""
    findings, now = list[Finding](), after.measured_at
    since = {finding.code: finding.since for finding in before.findings} if before else {}
    stalled = _no_members(after) or _quiet(after, watched, facts)
    if stalled and (running or is_stalled(before)):
        findings.append(stalled)
    elif after.catch_up and (late := lag_finding(after.catch_up, facts.lag or 0, now)):
        findings.append(late)
    if facts.lost:
        message = (
            f"Kafka has removed up to {facts.lost} records before they were delivered: the retention of its topics is "
            "shorter than the time for which the delivery was paused or behind. Give the topics a longer retention, "
            "and copy the tables again with a new pipeline and delivery."
        )
        first = since.get(FindingCode.CHANGES_LOST) or now
        findings.append(Finding(code=FindingCode.CHANGES_LOST, message=message, certain=True, since=first))
    return tuple(findings)


def _no_members(after: Progress) -> Finding | None:
    since = after.no_members_since
    if since is None or after.measured_at - since < NO_MEMBERS_FOR:
        return None
    message = (
        f"Kafka Connect says that it is running, but its consumer group has had no member since {rfc3339(since)}, so "
        "nothing is delivered."
    )
    return Finding(code=FindingCode.STALLED, message=message, certain=True, since=since, hint=_NO_MEMBERS_HINT)


def _quiet(after: Progress, watched: WatchedConnector, facts: ProgressFacts) -> Finding | None:
    since, limit = after.quiet_since, watched.quiet if facts.begun else max(watched.quiet, FIRST_HEARTBEAT_WITHIN)
    if since is None or after.looks < LOOKS_WITHOUT_MOVE or after.measured_at - since <= limit:
        return None
    if watched.is_sink:
        message = (
            f"Kafka Connect says that it is running, but it has committed nothing since {rfc3339(since)}, and "
            f"{facts.lag} records wait to be delivered."
        )
    else:
        message = (
            f"Kafka Connect says that it is running, but it has written nothing to Kafka since {rfc3339(since)}, not "
            "even a heartbeat."
        )
    hint = _QUIET_SINK_HINT if watched.is_sink else _QUIET_CAPTURE_HINT
    return Finding(code=FindingCode.STALLED, message=message, certain=True, since=since, hint=hint)
