"""What a tick concludes from what it has read: a function of its arguments, without I/O, clock or random numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from chalicelib.domain.lease import expired
from chalicelib.domain.monitoring.incident import LATER, Signal, signals_between
from chalicelib.domain.monitoring.source_state import Finding
from chalicelib.domain.observation import ConnectorStatus, Observation, observe_again
from chalicelib.domain.operation import Operation
from chalicelib.domain.reconcile.conditions import (
    cluster_condition,
    connector_conditions,
    is_unassigned,
)
from chalicelib.domain.reconcile.drift import SUSPECT_EVERY, suspicious
from chalicelib.domain.reconcile.orphans import FOREIGN_FOR, MAX_FOREIGN, Verdict
from chalicelib.domain.reconcile.plan import Plan, annotated, changed, decide
from chalicelib.domain.reconcile.snapshot import (
    ClusterSnapshot,
    ClusterView,
    ConnectSnapshot,
    DesiredConnector,
    TickInput,
)
from chalicelib.domain.reconcile.transitions import (
    MAX_TRANSITIONS,
    Transition,
    cluster_transition,
    connector_transitions,
)

MAX_TAKEOVERS = 10
"""Open operations that one tick takes over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TickResult:
    """What is to be stored, published and done.

    `view` holds the new snapshot and all transitions that are to be published, those of earlier ticks first. `changed`
    says that the snapshot is not the one before. `overdue` are open operations whose lease has ended.
    """

    plan: Plan
    view: ClusterView
    changed: bool
    overdue: tuple[Operation, ...] = ()


def digest(cluster_id: str, view: ClusterView, read: TickInput, *, now: datetime) -> TickResult:
    """Compare what was read of a Connect cluster with what the last tick stored (`view`)."""
    noted = _cluster_view(cluster_id, view, read.connect, now)
    if read.connect.unreadable is not None:
        return TickResult(plan=Plan(), view=noted, changed=False)
    before, statuses = view.snapshot, read.connect.statuses
    desired = before.desired if read.desired is None else read.desired
    foreign = _foreign(before, desired, statuses, now)
    seen = {
        name: observe_again(
            before.observed.get(name), status, now=now, tasks=desired[name].tasks if name in desired else 1
        )
        for name, status in statuses.items()
        if name not in foreign
    }
    busy = {operation.connector_name for operation in read.open_operations}
    unsure = [name for name, until in foreign.items() if until <= now]
    hashes = read.connect.config_hashes
    plan = decide(view, desired, seen, busy=busy, expired=unsure, now=now, config_hashes=hashes)
    observed, transitions = _report(noted, desired, seen, plan, now)
    after = ClusterSnapshot(
        epoch=view.epoch,
        # The index that `desired` is read from may lag behind the epoch: it is read until two reads in a row agree.
        unsettled=bool(read.open_operations) or view.epoch != before.epoch or desired != before.desired,
        desired=desired,
        observed=observed,
        missing=plan.missing,
        wrong_state=plan.wrong_state,
        reverted=plan.reverted,
        orphans=plan.orphans,
        foreign=foreign,
        recreations=plan.recreations,
        restarts=plan.restarts,
        drifted=plan.drifted,
        unassigned=_unassigned_since(before.unassigned, observed, desired, now),
        progress=_wrong(before.progress if read.progress is None else read.progress, desired),
    )
    at, room = _signal_time(view, now), MAX_TRANSITIONS - len(noted.signals)
    after, signals = _with_conditions(before, after, room=room, now=now, at=at)
    moved = changed(before.observed, observed)
    suspect = moved and view.settled and suspicious(before.observed, seen)
    repaired = bool(plan.drifted) and not view.settled
    compare_soon = repaired or view.torn or _compare_soon(read.connect, plan, now, suspect=suspect)
    compared_at = None if compare_soon else read.connect.compared_at
    return TickResult(
        plan=plan,
        view=replace(
            noted,
            compared_at=compared_at,
            pending=plan.pending,
            snapshot=after,
            transitions=transitions,
            signals=(*noted.signals, *signals),
            signalled_at=at if signals else noted.signalled_at,
        ),
        changed=moved or plan.pending != view.pending or replace(after, observed=before.observed) != before,
        overdue=tuple(expired(read.open_operations, now, limit=MAX_TAKEOVERS)),
    )


def _cluster_view(cluster_id: str, view: ClusterView, connect: ConnectSnapshot, now: datetime) -> ClusterView:
    """The view with what was read about the cluster itself. The first readable answer is no transition."""
    found = cluster_transition(view.unreadable, connect.unreadable, now)
    since = (view.unreadable_since or now) if connect.unreadable else None
    earlier = cluster_condition(cluster_id, view.unreadable, view.unreadable_since, view.observed_at)
    condition = cluster_condition(cluster_id, connect.unreadable, since, now)
    at = _signal_time(view, now)
    signals = signals_between([earlier] if earlier else [], [condition] if condition else [], at)
    return replace(
        view,
        unreadable=connect.unreadable,
        unreadable_since=since,
        observed_at=now,
        compared_at=connect.compared_at or view.compared_at,
        transitions=(*view.transitions, *found)[: 2 * MAX_TRANSITIONS],
        signals=(*view.signals, *signals),
        signalled_at=at if signals else view.signalled_at,
    )


def _signal_time(view: ClusterView, now: datetime) -> datetime:
    """The time of new signals: later than that of the last ones, also when the clock was set back."""
    return max(now, view.signalled_at + LATER) if view.signalled_at else now


def _unassigned_since(
    before: Mapping[str, datetime],
    observed: Mapping[str, Observation],
    desired: Mapping[str, DesiredConnector],
    now: datetime,
) -> dict[str, datetime]:
    """Since when each connector has not been taken up completely. One that runs as it did is not looked at."""
    return {
        name: before.get(name, now)
        for name, seen in observed.items()
        if seen.reasons and name in desired and is_unassigned(seen, desired[name].tasks)
    }


def _wrong(
    progress: Mapping[str, tuple[Finding, ...]], desired: Mapping[str, DesiredConnector]
) -> dict[str, tuple[Finding, ...]]:
    """Of the connectors that are desired those with which something is wrong."""
    return {name: findings for name, findings in progress.items() if findings and name in desired}


def _with_conditions(
    before: ClusterSnapshot, after: ClusterSnapshot, *, room: int, now: datetime, at: datetime
) -> tuple[ClusterSnapshot, tuple[Signal, ...]]:
    """The snapshot with what is wrong, and what has begun or ended since the one before.

    A connector whose signals have no room any more keeps its old conditions: the next tick sees them change.
    """
    names = _to_judge(before, after)
    conditions = connector_conditions(after, names, now, before.conditions)
    signals: list[Signal] = []
    for name in sorted(before.conditions.keys() | conditions.keys()):
        earlier, found = before.conditions.get(name, ()), conditions.get(name, ())
        changes = signals_between(earlier, found, at, deployed=after.desired) if earlier != found else ()
        if len(signals) + len(changes) <= room:
            signals += changes
        elif earlier:
            conditions[name] = earlier
        else:
            del conditions[name]
    return replace(after, conditions=conditions), tuple(signals)


def _to_judge(before: ClusterSnapshot, after: ClusterSnapshot) -> list[str]:
    """The connectors that may have conditions: most run as they did, and had none."""
    repairs = (after.missing, after.wrong_state, after.reverted, after.restarts, after.recreations)
    remembered = (before.conditions, *repairs, after.drifted, after.progress)
    names = {name for known in remembered for name in known}
    return sorted(names | {name for name, seen in after.observed.items() if seen.reasons})


def _foreign(
    before: ClusterSnapshot,
    desired: Mapping[str, DesiredConnector],
    statuses: Mapping[str, ConnectorStatus],
    now: datetime,
) -> Mapping[str, datetime]:
    """Those of another installation, without the ones that are gone for a while, or that are ours after all."""
    return {
        name: until
        for name, until in before.foreign.items()
        if name not in desired and (name in statuses or now < until)
    }


def with_verdicts(snapshot: ClusterSnapshot, verdicts: Mapping[str, Verdict], now: datetime) -> ClusterSnapshot:
    """The snapshot with what was found out about orphans. What is not ours is not observed any more."""
    orphans, observed = dict(snapshot.orphans), dict(snapshot.observed)
    foreign = {name: until for name, until in snapshot.foreign.items() if name not in verdicts}
    for name, verdict in verdicts.items():
        if verdict is Verdict.FOREIGN and len(foreign) < MAX_FOREIGN:
            foreign[name] = now + FOREIGN_FOR
            orphans.pop(name, None)
            observed.pop(name, None)
        elif verdict is Verdict.OURS and name in orphans:
            orphans[name] = replace(orphans[name], ours=True)
    unsettled = snapshot.unsettled or Verdict.DESIRED in verdicts.values()
    return replace(snapshot, unsettled=unsettled, orphans=orphans, foreign=foreign, observed=observed)


def _report(
    view: ClusterView,
    desired: Mapping[str, DesiredConnector],
    seen: Mapping[str, Observation],
    plan: Plan,
    now: datetime,
) -> tuple[Mapping[str, Observation], tuple[Transition, ...]]:
    """The observations to store, and the transitions to publish.

    A connector whose transition has no room any more keeps its old observation: the next tick sees it change.
    """
    before = view.snapshot
    names, desired_before = desired.keys(), before.desired.keys()
    found = connector_transitions(before.observed, seen, desired_before=desired_before, desired=names, now=now)
    published = tuple(islice(found, max(0, MAX_TRANSITIONS - len(view.transitions))))
    observed = dict(annotated(seen, plan))
    for postponed in found:
        name = str(postponed.connector)
        observed.pop(name, None)
        if name in before.observed:
            observed[name] = before.observed[name]
    return observed, (*view.transitions, *published)


def _compare_soon(connect: ConnectSnapshot, plan: Plan, now: datetime, *, suspect: bool) -> bool:
    """Whether the next tick is to compare configs: to confirm what was found, or because a config may have changed."""
    if connect.config_hashes is not None and not all(drift.confirmed for drift in plan.drifted.values()):
        return True
    return suspect and connect.compared_at is not None and now - connect.compared_at >= SUSPECT_EVERY
