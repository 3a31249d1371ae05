"""What a tick has to do about a Connect cluster: wanted against seen, decided without touching anything."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.domain.reconcile.drift import DRIFTED, Drift, drifted
from chalicelib.domain.reconcile.restarts import Restarts, chosen, look_again, told, tried
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, Wanted

QUARANTINE_AFTER = timedelta(seconds=90)
"""How long a connector of our name that nobody wants is only watched. Longer than any lease of an operation."""

DELETE_AFTER = timedelta(minutes=10)
"""How long it then stays stopped before it is deleted."""

_WRONG_STATE: Mapping[DesiredState, frozenset[ObservedState]] = {
    DesiredState.RUNNING: frozenset({ObservedState.STOPPED, ObservedState.PAUSED}),
    DesiredState.PAUSED: frozenset(
        {ObservedState.RUNNING, ObservedState.DEGRADED, ObservedState.FAILED, ObservedState.STOPPED}
    ),
    DesiredState.DRAFT: frozenset(),
}
"""Observed states that are not what is desired and that a resume or a pause can mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Connector names by what is to be done with them, and what the next tick has to know."""

    create: tuple[str, ...]
    resume: tuple[str, ...]
    pause: tuple[str, ...]
    restart: tuple[str, ...]
    stop: tuple[str, ...]
    delete: tuple[str, ...]
    missing: Mapping[str, datetime]
    wrong_state: Mapping[str, datetime]
    orphans: Mapping[str, datetime]
    restarts: Mapping[str, Restarts]
    drifted: Mapping[str, Drift]

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done."""
        return not (self.create or self.resume or self.pause or self.restart or self.stop or self.delete)


def most_deletions(connectors: int) -> int:
    """At most so many connectors of a cluster may one tick delete."""
    return max(1, connectors * 2 // 100)


def decide(
    wanted: Mapping[str, Wanted],
    seen: Mapping[str, Observation],
    before: ClusterSnapshot,
    *,
    busy: Set[str],
    now: datetime,
    held: Mapping[str, str] | None = None,
) -> Plan:
    """Compare what is wanted with what was just seen.

    `busy` are the connectors of open operations: they are left alone. `held` are the hashes of the configs that Connect
    holds, when it was asked for them. Nothing is done about a thing that looked wrong
    for the first time: the listing is one worker's view and may lag.
    """
    idle = {name: one for name, one in wanted.items() if name not in busy}
    missing = _since(before.missing, (name for name in idle if name not in seen), now)
    wrong_state = _since(
        before.wrong_state,
        (name for name, one in idle.items() if name in seen and seen[name].state in _WRONG_STATE[one.desired_state]),
        now,
    )
    orphans = _since(
        before.orphans,
        (name for name in seen if name not in wanted and name not in busy and parse_connector_name(name)),
        now,
    )
    restarts = _restarts(idle, seen, before.restarts, now)
    restart = chosen(before.restarts, restarts, now)
    again = [name for name in wrong_state if name in before.wrong_state]
    return Plan(
        create=tuple(name for name in missing if name in before.missing),
        resume=tuple(name for name in again if wanted[name].desired_state is DesiredState.RUNNING),
        pause=tuple(name for name in again if wanted[name].desired_state is DesiredState.PAUSED),
        restart=restart,
        stop=tuple(
            name
            for name, since in orphans.items()
            if now - since >= QUARANTINE_AFTER and seen[name].state is not ObservedState.STOPPED
        ),
        delete=tuple(name for name, since in orphans.items() if now - since >= DELETE_AFTER)[
            : most_deletions(len(seen))
        ],
        missing=missing,
        wrong_state=wrong_state,
        orphans=orphans,
        restarts={name: tried(one, now) if name in restart else one for name, one in restarts.items()},
        drifted=drifted(before.drifted, wanted, held),
    )


def annotated(seen: Mapping[str, Observation], plan: Plan) -> Mapping[str, Observation]:
    """What was seen, with what people have to know beside it: what was tried, and what has drifted."""
    notes: dict[str, list[str]] = {}
    for name, one in plan.restarts.items():
        if sentence := told(one):
            notes.setdefault(name, []).append(sentence)
    for name, drift in plan.drifted.items():
        if drift.confirmed:
            notes.setdefault(name, []).append(DRIFTED)
    noted = {
        name: replace(seen[name], reasons=(*seen[name].reasons, *said)) for name, said in notes.items() if name in seen
    }
    return {**seen, **noted} if noted else seen


def changed(before: Mapping[str, Observation], now: Mapping[str, Observation]) -> bool:
    """Whether anything but the time of looking is different."""
    return before.keys() != now.keys() or any(_differs(before[name], seen) for name, seen in now.items())


def _differs(one: Observation, other: Observation) -> bool:
    if one is other:
        return False
    return (one.state, one.reasons, one.connector) != (other.state, other.reasons, other.connector)


def _restarts(
    idle: Mapping[str, Wanted], seen: Mapping[str, Observation], before: Mapping[str, Restarts], now: datetime
) -> dict[str, Restarts]:
    after = {}
    for name, one in idle.items():
        if one.desired_state is not DesiredState.RUNNING:
            continue
        known, look = before.get(name), seen.get(name)
        if known is None and (look is None or look.state is ObservedState.RUNNING):
            continue
        if restarts := look_again(known, look, now) if look else known:
            after[name] = restarts
    return after


def _since(before: Mapping[str, datetime], names: Iterable[str], now: datetime) -> dict[str, datetime]:
    return {name: before.get(name, now) for name in names}
