"""What a tick has to do about a Connect cluster: desired against observed, decided without touching anything."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from chalicelib.domain.cluster import PendingDeletions
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import LOOKS_APART, DesiredState, Observation, ObservedState
from chalicelib.domain.reconcile import recreations, reverts
from chalicelib.domain.reconcile.drift import DRIFTED, Drift, drifted
from chalicelib.domain.reconcile.orphans import Orphan, plan_orphans
from chalicelib.domain.reconcile.recreations import Recreations
from chalicelib.domain.reconcile.restarts import (
    NOT_RESTARTED,
    Restarts,
    after_observation,
    choose,
    notice,
    restart_cause,
    with_attempt,
)
from chalicelib.domain.reconcile.reverts import REVERTED, Reverted, is_contested
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView, DesiredConnector

A = TypeVar("A", Recreations, Restarts)

_NOT_PAUSED = frozenset({ObservedState.RUNNING, ObservedState.DEGRADED, ObservedState.FAILED, ObservedState.STOPPED})
"""Observed states that a pause can repair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Connector names by what is to be done with them, and what the next tick has to know (see `ClusterSnapshot`).

    `judge` are orphans of which it is not known whose they are; `pending` are deletions that wait for people.
    """

    create: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    pause: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    pending: PendingDeletions | None = None
    missing: Mapping[str, datetime] = field(default_factory=dict)
    wrong_state: Mapping[str, datetime] = field(default_factory=dict)
    reverted: Reverted = field(default_factory=dict)
    orphans: Mapping[str, Orphan] = field(default_factory=dict)
    recreations: Mapping[str, Recreations] = field(default_factory=dict)
    restarts: Mapping[str, Restarts] = field(default_factory=dict)
    not_restarted: tuple[str, ...] = ()
    drifted: Mapping[str, Drift] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        repairs = self.create or self.resume or self.pause or self.restart
        return not (repairs or self.judge or self.stop or self.delete)


def decide(
    view: ClusterView,
    desired: Mapping[str, DesiredConnector],
    seen: Mapping[str, Observation],
    *,
    busy: Set[str],
    expired: Iterable[str] = (),
    now: datetime,
    config_hashes: Mapping[str, str] | None = None,
) -> Plan:
    """Compare what is desired with what was just seen, and with what the last tick has remembered (`view`).

    `busy` are the connectors of open operations: nothing is done about them. `expired` are the names that were not
    ours, and have to be looked up again. `config_hashes` are those of the configs that Connect has, when it was asked
    for them. Nothing is done about what looked wrong for the first time: the list is one worker's view and may lag.
    """
    before = view.snapshot
    idle = {name: connector for name, connector in desired.items() if name not in busy}
    missing = _since(before.missing, (name for name in idle if name not in seen), now)
    wrong_state = _since(before.wrong_state, _wrong_states(idle, seen), now)
    again = [name for name in wrong_state if _seen_twice(before.wrong_state, name, now)]
    gone = [name for name in missing if _seen_twice(before.missing, name, now)]
    recreated = _recreations(before, desired, seen, gone, now)
    create = recreations.choose({name: recreated[name] for name in gone}, now)
    restarts = _restarts(idle, seen, before.restarts, now)
    restart = choose(before.restarts, restarts, now)
    orphans = _orphans(before, desired, busy, seen, now)
    removal = plan_orphans(
        orphans, expired, connectors=len(seen), pending=view.pending, confirmation=view.confirmation, now=now
    )
    return Plan(
        create=create,
        resume=tuple(name for name in again if desired[name].desired_state is DesiredState.RUNNING),
        pause=tuple(name for name in again if desired[name].desired_state is DesiredState.PAUSED),
        restart=restart,
        judge=removal.judge,
        stop=tuple(name for name in removal.stop if seen[name].state is not ObservedState.STOPPED),
        delete=removal.delete,
        pending=removal.pending,
        missing=missing,
        wrong_state=wrong_state,
        reverted=reverts.after_look(before.reverted, _paused_anew(before, desired, wrong_state), desired.keys(), now),
        orphans=orphans,
        recreations=_with_attempts(recreated, create, recreations.with_attempt, now),
        restarts=_with_attempts(restarts, restart, with_attempt, now),
        not_restarted=tuple(
            name
            for name, one in idle.items()
            if not one.restartable and _should_run(one) and name in seen and restart_cause(seen[name])
        ),
        drifted=drifted(before.drifted, desired, config_hashes),
    )


def annotated(seen: Mapping[str, Observation], plan: Plan) -> Mapping[str, Observation]:
    """What was seen, its reasons with what people have to know: what was tried, and what has drifted."""
    known = {*plan.restarts, *plan.not_restarted, *plan.reverted, *plan.drifted}
    notes = {name: notices(plan, name, not_restarted=name in plan.not_restarted) for name in known if name in seen}
    noted = {name: replace(seen[name], reasons=(*seen[name].reasons, *found)) for name, found in notes.items() if found}
    return {**seen, **noted} if noted else seen


def notices(known: Plan | ClusterSnapshot, name: str, *, not_restarted: bool) -> tuple[str, ...]:
    """What people have to know of a connector, whatever its state is."""
    restarts, drift = known.restarts.get(name), known.drifted.get(name)
    found = (
        notice(restarts) if restarts else None,
        NOT_RESTARTED if not_restarted else None,
        REVERTED if is_contested(known.reverted.get(name, ())) else None,
        DRIFTED if drift and drift.confirmed else None,
    )
    return tuple(sentence for sentence in found if sentence)


def notices_now(snapshot: ClusterSnapshot, name: str, seen: Observation) -> tuple[str, ...]:
    """The same for a connector that was just seen, from what the last tick remembers. Nothing is said about restarts of
    what needs none by now.
    """
    desired, needs_restart = snapshot.desired.get(name), restart_cause(seen) is not None
    known = snapshot if needs_restart else replace(snapshot, restarts={})
    left_alone = desired is not None and not desired.restartable and _should_run(desired)
    return notices(known, name, not_restarted=needs_restart and left_alone)


def changed(before: Mapping[str, Observation], now: Mapping[str, Observation]) -> bool:
    """Whether anything but the time of the observation is different."""
    return before.keys() != now.keys() or any(_differs(before[name], seen) for name, seen in now.items())


def _differs(one: Observation, other: Observation) -> bool:
    if one is other:
        return False
    return (one.state, one.reasons, one.connector) != (other.state, other.reasons, other.connector)


def _should_run(connector: DesiredConnector) -> bool:
    return connector.desired_state is DesiredState.RUNNING


def _restarts(
    idle: Mapping[str, DesiredConnector], seen: Mapping[str, Observation], before: Mapping[str, Restarts], now: datetime
) -> dict[str, Restarts]:
    after = {}
    for name, connector in idle.items():
        if not _should_run(connector) or not connector.restartable:
            continue
        earlier, observation = before.get(name), seen.get(name)
        if earlier is None and (observation is None or observation.state is ObservedState.RUNNING):
            continue
        if restarts := after_observation(earlier, observation, now) if observation else earlier:
            after[name] = restarts
    return after


def _wrong_states(idle: Mapping[str, DesiredConnector], seen: Mapping[str, Observation]) -> Iterator[str]:
    """The connectors that a resume or a pause can repair."""
    return (name for name, one in idle.items() if name in seen and _is_wrong(seen[name], one.desired_state))


def _is_wrong(seen: Observation, desired: DesiredState) -> bool:
    if desired is DesiredState.RUNNING:
        return seen.rests
    return desired is DesiredState.PAUSED and seen.state in _NOT_PAUSED


def _paused_anew(
    before: ClusterSnapshot, desired: Mapping[str, DesiredConnector], wrong_state: Mapping[str, datetime]
) -> set[str]:
    """Connectors that should run, were seen to run and are paused or stopped now."""
    return {name for name in wrong_state if name not in before.wrong_state and _should_run(desired[name])}


def _orphans(
    before: ClusterSnapshot,
    desired: Mapping[str, DesiredConnector],
    busy: Set[str],
    seen: Mapping[str, Observation],
    now: datetime,
) -> dict[str, Orphan]:
    return {
        name: before.orphans.get(name) or Orphan(since=now)
        for name in seen
        if name not in desired and name not in busy and parse_connector_name(name)
    }


def _recreations(
    before: ClusterSnapshot,
    desired: Mapping[str, DesiredConnector],
    seen: Mapping[str, Observation],
    gone: Iterable[str],
    now: datetime,
) -> dict[str, Recreations]:
    after = {name: known for name, known in before.recreations.items() if name in desired}
    for name in after.keys() & seen.keys():
        if (known := recreations.after_seen(after.pop(name), now)) is not None:
            after[name] = known
    return after | {name: recreations.after_missing(after.get(name), now) for name in gone}


def _with_attempts(
    known: Mapping[str, A], tried: tuple[str, ...], attempted: Callable[[A, datetime], A], now: datetime
) -> dict[str, A]:
    """An attempt is stored before it is made: a process that ends in between must not begin again from nothing."""
    return {name: attempted(one, now) if name in tried else one for name, one in known.items()}


def _seen_twice(before: Mapping[str, datetime], name: str, now: datetime) -> bool:
    return name in before and now - before[name] >= LOOKS_APART


def _since(before: Mapping[str, datetime], names: Iterable[str], now: datetime) -> dict[str, datetime]:
    return {name: before.get(name, now) for name in names}
