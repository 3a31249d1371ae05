"""What a tick concludes about a whole Connect cluster: a function of its arguments, without I/O, clock or random
numbers. It steps through the connectors, and limits how much is done in one tick.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from chalicelib.domain.connectors import orphans, recreations, restarts
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.confirmations import LimitedChanges, limit_changes
from chalicelib.domain.connectors.drift import SUSPECT_EVERY, is_suspicious
from chalicelib.domain.connectors.memory import NOTHING, ClusterMemory, ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.orphans import FOREIGN_FOR, JUDGED_PER_TICK, MAX_FOREIGN, Verdict
from chalicelib.domain.connectors.step import Action, ConnectorLook, StepResult, step, with_attempt
from chalicelib.domain.connectors.transitions import Transition, cluster_transition
from chalicelib.domain.connectors.workers import WorkersFault
from chalicelib.domain.lease import expired
from chalicelib.domain.monitoring.source_state import Finding
from chalicelib.domain.observation import LOOKS_APART, ConnectorStatus
from chalicelib.domain.operation import Operation

MAX_TAKEOVERS = 10
"""Open operations that one tick takes over."""

Actions = Mapping[Action, tuple[str, ...]]
"""Names of connectors by what is to be done with them. An action without connectors is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectSnapshot:
    """What Connect has just answered: the status of every connector with a name of ours, by name.

    `config_hashes` is None when configs were not asked for, and `foreign` are those whose config lacks our marker;
    `compared_at` is when they were last asked for. `fault` is why nothing may be created on these workers, if they were
    asked (`knows_workers`). `unreadable` is a sentence of ours that says why there was no answer; the rest is empty
    then.
    """

    statuses: Mapping[str, ConnectorStatus] = field(default_factory=dict)
    config_hashes: Mapping[str, str] | None = None
    foreign: Set[str] = frozenset()
    compared_at: datetime | None = None
    knows_workers: bool = False
    fault: WorkersFault | None = None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TickInput:
    """What a tick has read. `desired` is None when nothing has changed since the memory, which has it as well.

    `progress` is what a measurement has found wrong with each connector; None when none was due, or none could be made.
    `unreadable` are connectors whose resource or open operation cannot be read: they are left alone, whatever is seen.
    """

    connect: ConnectSnapshot
    desired: Mapping[str, DesiredConnector] | None = None
    open_operations: tuple[Operation, ...] = ()
    unreadable: frozenset[str] = frozenset()
    progress: Mapping[str, tuple[Finding, ...]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TickResult:
    """What is to be stored, published and done.

    `view` holds the new memory, `transitions` are what has changed since the one before. `changed` says that the
    memory is not the one before. `overdue` are open operations whose lease has ended.
    """

    actions: Actions
    view: ClusterView
    changed: bool
    transitions: tuple[Transition, ...] = ()
    overdue: tuple[Operation, ...] = ()


@dataclass(slots=True)
class _Steps:
    """What the pass over the connectors has collected: memories in the order of the pass, and the steps of those that
    are not quiet.
    """

    memories: dict[str, ConnectorMemory] = field(default_factory=dict)
    steps: dict[str, StepResult] = field(default_factory=dict)
    redesired: bool = False
    suspicious: bool = False

    def proposing(self, action: Action) -> list[str]:
        return [name for name, taken in self.steps.items() if action in taken.actions]


def evaluate_tick(view: ClusterView, read: TickInput, *, now: datetime) -> TickResult:
    """Compare what was read of a Connect cluster with what the last tick stored (`view`)."""
    noted = _cluster_view(view, read, now)
    of_cluster = cluster_transition(view.unreadable, read.connect.unreadable, now)
    if read.connect.unreadable is not None:
        return TickResult(actions={}, view=noted, changed=False, transitions=of_cluster)
    before, steps = view.memory, _steps(view.memory, read, now)
    connectors = steps.memories
    observed = ClusterMemory(connectors=connectors).observed
    removals, creations = _removals(view, steps, observed, now), _creations(view, noted.fault, steps, now)
    actions = _chosen(steps, removals, creations, observed, now)
    # Stored before the attempts are made: a process that ends in between must not begin again from nothing.
    for name in chain(actions.get(Action.CREATE, ()), actions.get(Action.RESTART, ())):
        connectors[name] = with_attempt(name, before.of(name), connectors[name], now)
    after = ClusterMemory(
        epoch=view.epoch,
        # The index that `desired` is read from may lag behind the epoch: it is read until two reads in a row agree.
        unsettled=bool(read.open_operations or read.unreadable) or view.epoch != before.epoch or steps.redesired,
        connectors={name: memory for name, memory in connectors.items() if memory is not NOTHING},
    )
    compare_soon = _compare_soon(view, read, after, now, suspicious=steps.suspicious)
    compared_at = None if compare_soon else read.connect.compared_at
    return TickResult(
        actions=actions,
        view=replace(
            noted,
            compared_at=compared_at,
            pending=removals.pending,
            pending_creations=creations.pending,
            memory=after,
        ),
        changed=after != before
        or (removals.pending, creations.pending, noted.fault) != (view.pending, view.pending_creations, view.fault),
        transitions=(*of_cluster, *_transitions(steps)),
        overdue=tuple(expired(read.open_operations, now, limit=MAX_TAKEOVERS)),
    )


def _cluster_view(view: ClusterView, read: TickInput, now: datetime) -> ClusterView:
    connect = read.connect
    return replace(
        view,
        unreadable=connect.unreadable,
        unreadable_since=(view.unreadable_since or now) if connect.unreadable else None,
        observed_at=now,
        compared_at=connect.compared_at or view.compared_at,
        fault=connect.fault if connect.knows_workers else view.fault,
    )


def _steps(before: ClusterMemory, read: TickInput, now: datetime) -> _Steps:
    statuses, known, result = read.connect.statuses, before.connectors, _Steps()
    busy = {operation.connector_name for operation in read.open_operations}
    for name in dict.fromkeys(chain(statuses, read.desired or (), known)):
        earlier = known.get(name, NOTHING)
        # Thousands of connectors are as they were: no step is made for them.
        if name in read.unreadable or _is_quiet(name, earlier, statuses.get(name), read, now):
            result.memories[name] = earlier
            continue
        look = _look(name, earlier, read, busy=name in busy)
        taken = step(earlier, look, now)
        result.memories[name], result.steps[name] = taken.memory, taken
        result.redesired |= look.desired != earlier.desired
        result.suspicious |= is_suspicious(earlier.observation, taken.memory.observation)
    return result


def _is_quiet(
    name: str, before: ConnectorMemory, status: ConnectorStatus | None, read: TickInput, now: datetime
) -> bool:
    """Whether a step would change nothing, and do nothing."""
    if read.desired is not None and read.desired.get(name) != before.desired:
        return False
    if before.foreign_until is not None:
        return now < before.foreign_until
    if not before.is_quiet or before.observation is None or before.observation.connector != status:
        return False
    if read.progress and read.progress.get(name):
        return False
    hashes = read.connect.config_hashes
    if name in read.connect.foreign:
        return False
    return hashes is None or before.desired is None or hashes.get(name) in (None, before.desired.config_hash)


def _look(name: str, before: ConnectorMemory, read: TickInput, *, busy: bool) -> ConnectorLook:
    hashes = read.connect.config_hashes
    return ConnectorLook(
        name=name,
        status=read.connect.statuses.get(name),
        desired=before.desired if read.desired is None else read.desired.get(name),
        busy=busy,
        compared=hashes is not None,
        config_hash=hashes.get(name) if hashes else None,
        foreign=name in read.connect.foreign,
        findings=None if read.progress is None else read.progress.get(name, ()),
    )


def _removals(view: ClusterView, steps: _Steps, observed: int, now: datetime) -> LimitedChanges:
    candidates = {name: taken.memory.orphan for name, taken in steps.steps.items()}
    due = {name: orphan for name, orphan in candidates.items() if orphan and orphans.is_due(orphan, now)}
    return orphans.limit_removals(
        due, connectors=observed, pending=view.pending, confirmation=view.confirmation, now=now
    )


def _creations(view: ClusterView, fault: WorkersFault | None, steps: _Steps, now: datetime) -> LimitedChanges:
    """Which of the missing connectors may be created again: none on workers that are not the right ones."""
    if fault:
        return LimitedChanges(allowed=frozenset())
    missing = {name: taken.memory.missing_since for name, taken in steps.steps.items()}
    since = {name: time for name, time in missing.items() if time is not None}
    if not since:
        return LimitedChanges(allowed=frozenset())
    return limit_changes(
        since,
        # What one look alone did not find is not shown to people yet.
        [name for name, time in since.items() if now - time >= LOOKS_APART],
        connectors=sum(memory.desired is not None for memory in steps.memories.values()),
        pending=view.pending_creations,
        confirmation=view.creations_confirmation,
        now=now,
    )


def _chosen(
    steps: _Steps, removals: LimitedChanges, creations: LimitedChanges, observed: int, now: datetime
) -> Actions:
    """Of the proposed actions those that one tick may do."""
    memories = steps.memories
    missing = {name: memories[name].recreations for name in steps.proposing(Action.CREATE) if name in creations.allowed}
    failed = {name: memories[name].restarts for name in steps.proposing(Action.RESTART)}
    removable = {
        action: tuple(name for name in steps.proposing(action) if name in removals.allowed)
        for action in (Action.STOP, Action.DELETE)
    }
    # Orphans first: what has counted as foreign for six hours can wait.
    judged = sorted(steps.proposing(Action.JUDGE), key=lambda name: memories[name].foreign_until is not None)
    chosen = {
        Action.CREATE: recreations.choose({name: tried for name, tried in missing.items() if tried}, now),
        Action.RESUME: tuple(steps.proposing(Action.RESUME)),
        Action.PAUSE: tuple(steps.proposing(Action.PAUSE)),
        Action.RESTART: restarts.choose({name: tried for name, tried in failed.items() if tried}, now),
        Action.JUDGE: tuple(judged[:JUDGED_PER_TICK]),
        Action.STOP: removable[Action.STOP],
        Action.DELETE: removable[Action.DELETE][: orphans.max_deletions(observed)],
    }
    return {action: names for action, names in chosen.items() if names}


def _transitions(steps: _Steps) -> Iterator[Transition]:
    """Those that are absent first, by name."""
    taken = steps.steps
    absent = sorted(name for name in taken if taken[name].memory.observation is None)
    present = (name for name in taken if taken[name].memory.observation is not None)
    changes = (taken[name].transition for name in chain(absent, present))
    return (change for change in changes if change is not None)


def _compare_soon(view: ClusterView, read: TickInput, after: ClusterMemory, now: datetime, *, suspicious: bool) -> bool:
    """Whether the next tick is to compare configs: to confirm what was found, or because a config may have changed."""
    drifts = [memory.drift for memory in after.connectors.values() if memory.drift]
    if view.torn or (drifts and not view.settled):
        return True
    if read.connect.config_hashes is not None and not all(drift.confirmed for drift in drifts):
        return True
    compared_at = read.connect.compared_at
    may_compare = compared_at is not None and now - compared_at >= SUSPECT_EVERY
    return suspicious and view.settled and may_compare


def with_verdicts(memory: ClusterMemory, verdicts: Mapping[str, Verdict], now: datetime) -> ClusterMemory:
    """The memory with the owners that were looked up. What is not ours is not observed any more."""
    connectors = dict(memory.connectors)
    for name in verdicts:
        if memory.of(name).foreign_until is not None:
            del connectors[name]
    foreign = sum(known.foreign_until is not None for known in connectors.values())
    for name, verdict in verdicts.items():
        orphan = memory.of(name).orphan
        if verdict is Verdict.FOREIGN and foreign < MAX_FOREIGN:
            connectors[name] = ConnectorMemory(foreign_until=now + FOREIGN_FOR)
            foreign += 1
        elif verdict is Verdict.OURS and orphan is not None:
            connectors[name] = replace(connectors[name], orphan=replace(orphan, ours=True))
    unsettled = memory.unsettled or Verdict.DESIRED in verdicts.values()
    return replace(memory, unsettled=unsettled, connectors=connectors)
