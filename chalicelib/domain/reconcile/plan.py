"""What a tick has to do about a Connect cluster: desired against observed, decided without touching anything."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.domain.reconcile.drift import DRIFTED, Drift, drifted
from chalicelib.domain.reconcile.restarts import (
    NOT_RESTARTED,
    Restarts,
    after_observation,
    choose,
    notice,
    restart_cause,
    with_attempt,
)
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, DesiredConnector

QUARANTINE_AFTER = timedelta(seconds=90)
"""How long nothing is done about an orphan (a connector of our name that is not desired): longer than any lease."""

DELETE_AFTER = timedelta(minutes=10)
"""How long after it was first seen it is deleted; until then it is stopped."""

_WRONG_STATE: Mapping[DesiredState, frozenset[ObservedState]] = {
    DesiredState.RUNNING: frozenset({ObservedState.STOPPED, ObservedState.PAUSED}),
    DesiredState.PAUSED: frozenset(
        {ObservedState.RUNNING, ObservedState.DEGRADED, ObservedState.FAILED, ObservedState.STOPPED}
    ),
    DesiredState.DRAFT: frozenset(),
}
"""Observed states that are not what is desired and that a resume or a pause can repair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Connector names by what is to be done with them, and what the next tick has to know (see `ClusterSnapshot`)."""

    create: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    pause: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    missing: Mapping[str, datetime] = field(default_factory=dict)
    wrong_state: Mapping[str, datetime] = field(default_factory=dict)
    orphans: Mapping[str, datetime] = field(default_factory=dict)
    restarts: Mapping[str, Restarts] = field(default_factory=dict)
    not_restarted: tuple[str, ...] = ()
    drifted: Mapping[str, Drift] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        return not (self.create or self.resume or self.pause or self.restart or self.stop or self.delete)


def max_deletions(connectors: int) -> int:
    """How many of a cluster's connectors one tick may delete: 2 %, or one."""
    return max(1, connectors * 2 // 100)


def decide(
    desired: Mapping[str, DesiredConnector],
    seen: Mapping[str, Observation],
    before: ClusterSnapshot,
    *,
    busy: Set[str],
    now: datetime,
    config_hashes: Mapping[str, str] | None = None,
) -> Plan:
    """Compare what is desired with what was just seen.

    `busy` are the connectors of open operations: nothing is done about them. `config_hashes` are those of the configs
    that Connect has, when it was asked for them. Nothing is done about what looked wrong for the first time: the list
    is one worker's view and may lag.
    """
    idle = {name: connector for name, connector in desired.items() if name not in busy}
    missing = _since(before.missing, (name for name in idle if name not in seen), now)
    wrong_state = _since(
        before.wrong_state,
        (name for name, one in idle.items() if name in seen and seen[name].state in _WRONG_STATE[one.desired_state]),
        now,
    )
    orphans = _since(
        before.orphans,
        (name for name in seen if name not in desired and name not in busy and parse_connector_name(name)),
        now,
    )
    restarts = _restarts(idle, seen, before.restarts, now)
    restart = choose(before.restarts, restarts, now)
    again = [name for name in wrong_state if name in before.wrong_state]
    return Plan(
        create=tuple(name for name in missing if name in before.missing),
        resume=tuple(name for name in again if desired[name].desired_state is DesiredState.RUNNING),
        pause=tuple(name for name in again if desired[name].desired_state is DesiredState.PAUSED),
        restart=restart,
        stop=tuple(
            name
            for name, since in orphans.items()
            if now - since >= QUARANTINE_AFTER and seen[name].state is not ObservedState.STOPPED
        ),
        delete=tuple(name for name, since in orphans.items() if now - since >= DELETE_AFTER)[
            : max_deletions(len(seen))
        ],
        missing=missing,
        wrong_state=wrong_state,
        orphans=orphans,
        restarts={name: with_attempt(one, now) if name in restart else one for name, one in restarts.items()},
        not_restarted=tuple(
            name
            for name, one in idle.items()
            if not one.restartable and _should_run(one) and name in seen and restart_cause(seen[name])
        ),
        drifted=drifted(before.drifted, desired, config_hashes),
    )


def annotated(seen: Mapping[str, Observation], plan: Plan) -> Mapping[str, Observation]:
    """What was seen, its reasons with what people have to know: what was tried, and what has drifted."""
    notes: dict[str, list[str]] = {}
    for name, restarts in plan.restarts.items():
        if sentence := notice(restarts):
            notes.setdefault(name, []).append(sentence)
    for name in plan.not_restarted:
        notes.setdefault(name, []).append(NOT_RESTARTED)
    for name, drift in plan.drifted.items():
        if drift.confirmed:
            notes.setdefault(name, []).append(DRIFTED)
    noted = {
        name: replace(seen[name], reasons=(*seen[name].reasons, *sentences))
        for name, sentences in notes.items()
        if name in seen
    }
    return {**seen, **noted} if noted else seen


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


def _since(before: Mapping[str, datetime], names: Iterable[str], now: datetime) -> dict[str, datetime]:
    return {name: before.get(name, now) for name in names}
