"""What a tick concludes about one connector, from what it remembers and what it has just seen.

Nothing is done about what looked wrong for the first time: the list of connectors is one worker's view and may lag.
Only a sink that Headgate has just created is started at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.connectors import orphans, recreations, restarts, reverts
from chalicelib.domain.connectors.conditions import connector_conditions, is_unassigned
from chalicelib.domain.connectors.drift import Drift, after_comparison, still_drifted
from chalicelib.domain.connectors.memory import NOTHING, ConnectorMemory, DesiredConnector, is_left_stopped
from chalicelib.domain.connectors.orphans import Orphan
from chalicelib.domain.connectors.recreations import Recreations
from chalicelib.domain.connectors.restarts import Restarts
from chalicelib.domain.connectors.transitions import Transition, connector_transition
from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.monitoring.source_state import Finding
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import (
    LOOKS_APART,
    ConnectorStatus,
    DesiredState,
    Observation,
    ObservedState,
    observe,
)

_NOT_PAUSED = frozenset({ObservedState.RUNNING, ObservedState.DEGRADED, ObservedState.FAILED, ObservedState.STOPPED})
"""Observed states that a pause can repair. One that somebody has stopped is left alone."""


class Action(StrEnum):
    """What a tick does with a connector. JUDGE: look up who has created it."""

    CREATE = "CREATE"
    RESUME = "RESUME"
    PAUSE = "PAUSE"
    RESTART = "RESTART"
    JUDGE = "JUDGE"
    STOP = "STOP"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorLook:
    """What one look saw of a connector. `status` is None when Connect did not list it.

    `busy` says that an operation on it is open: then nothing is done with it. `config_hash` is that of the config that
    Connect has, if configs were `compared`, and `foreign` says that it lacks our marker. `findings` are those of a
    measurement, None when there was none.
    """

    name: str
    status: ConnectorStatus | None = None
    desired: DesiredConnector | None = None
    busy: bool = False
    compared: bool = False
    config_hash: str | None = None
    foreign: bool = False
    findings: tuple[Finding, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The new memory of a connector, what it proposes to do, and how the connector has changed."""

    memory: ConnectorMemory
    actions: tuple[Action, ...] = ()
    transition: Transition | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self.memory.conditions


def step(before: ConnectorMemory, look: ConnectorLook, now: datetime) -> StepResult:
    """Compare what was seen of a connector with what is desired and with what the last tick has remembered."""
    if look.desired is None and before.foreign_until is not None:
        return _step_of_foreign(before.foreign_until, look, now)
    if look.desired is None:
        memory = _undesired(before, look, now)
        actions = tuple(_removal(memory, now))
    else:
        memory = _desired(before, look, look.desired, now)
        memory = replace(memory, conditions=connector_conditions(look.name, memory, now, before.conditions))
        # While an operation changes it, and when it is somebody else's, nothing is done.
        untouched = look.busy or memory.conflict
        actions = () if untouched else tuple(_repairs(before, memory, look.desired, now))
    return StepResult(memory=memory, actions=actions, transition=connector_transition(look.name, before, memory, now))


def with_attempt(name: str, before: ConnectorMemory, after: ConnectorMemory, now: datetime) -> ConnectorMemory:
    """The memory after this step, with the attempt to create or restart the connector that follows."""
    if after.missing_since is not None and after.recreations is not None:
        tried = replace(after, recreations=recreations.with_attempt(after.recreations, now))
    elif after.restarts is not None:
        tried = replace(after, restarts=restarts.with_attempt(after.restarts, now))
    else:
        return after
    return replace(tried, conditions=connector_conditions(name, tried, now, before.conditions))


def _step_of_foreign(until: datetime, look: ConnectorLook, now: datetime) -> StepResult:
    """One of another installation is not observed, but looked up again from time to time while it exists."""
    if look.status is None and until <= now:
        return StepResult(memory=NOTHING)
    return StepResult(memory=ConnectorMemory(foreign_until=until), actions=(Action.JUDGE,) if until <= now else ())


def _undesired(before: ConnectorMemory, look: ConnectorLook, now: datetime) -> ConnectorMemory:
    observation = _observation(before, look, now)
    if observation is None:
        return NOTHING
    # An open operation may be about to make it desired, or to delete it.
    is_orphan = not look.busy and parse_connector_name(look.name) is not None
    return ConnectorMemory(observation=observation, orphan=(before.orphan or Orphan(since=now)) if is_orphan else None)


def _removal(memory: ConnectorMemory, now: datetime) -> Iterator[Action]:
    """Its owner is looked up, and it is removed in two steps."""
    orphan, observation = memory.orphan, memory.observation
    if orphan is None or observation is None or not orphans.is_due(orphan, now):
        return
    if not orphan.ours:
        yield Action.JUDGE
    if observation.state is not ObservedState.STOPPED:
        yield Action.STOP
    if orphans.is_deletable(orphan, now):
        yield Action.DELETE


def _desired(before: ConnectorMemory, look: ConnectorLook, desired: DesiredConnector, now: datetime) -> ConnectorMemory:
    # While an operation changes the connector, a state that is not as desired proves nothing.
    observation, idle = _observation(before, look, now), not look.busy
    missing = idle and observation is None
    conflict = observation is not None and (look.foreign if look.compared else before.conflict)
    wrong = idle and observation is not None and not conflict and _is_wrong(before, observation, desired)
    unassigned = observation is not None and observation.reasons and is_unassigned(observation, desired.tasks)
    not_started = observation is not None and not conflict and _is_not_started(before, observation, desired)
    newly_wrong = wrong and before.wrong_since is None and desired.should_run and not not_started
    return ConnectorMemory(
        desired=desired,
        observation=observation,
        # An operation that tries to create it does not end its absence: what a person has confirmed stays confirmed.
        missing_since=(before.missing_since or (now if missing else None)) if observation is None else None,
        wrong_since=(before.wrong_since or now) if wrong else None,
        not_started=not_started,
        reverted_at=reverts.after_observation(before.reverted_at, newly_wrong=newly_wrong, now=now),
        recreations=_recreations(before, observation, desired, now, missing=missing),
        restarts=_restarts(before.restarts, observation, desired, now) if idle else None,
        drift=None if conflict else _drift(before.drift, look, desired.config_hash),
        conflict=conflict,
        unassigned_since=(before.unassigned_since or now) if unassigned else None,
        findings=before.findings if look.findings is None else look.findings,
    )


def _repairs(
    before: ConnectorMemory, memory: ConnectorMemory, desired: DesiredConnector, now: datetime
) -> Iterator[Action]:
    if memory.missing_since is not None:
        known = memory.recreations
        if _seen_twice(before.missing_since, now) and known is not None and recreations.is_due(known, now):
            yield Action.CREATE
        return
    if memory.wrong_since is not None and (memory.not_started or _seen_twice(before.wrong_since, now)):
        yield Action.RESUME if desired.should_run else Action.PAUSE
    if (
        memory.observation is not None
        and memory.restarts is not None
        and restarts.is_due(before.restarts, memory.restarts, now)
    ):
        yield Action.RESTART


def _observation(before: ConnectorMemory, look: ConnectorLook, now: datetime) -> Observation | None:
    if look.status is None:
        return None
    earlier = before.observation
    observation = observe(look.status, now=now, tasks=look.desired.tasks if look.desired else 1)
    # With its first time it is equal to what is stored, and need not be written again.
    if earlier is not None and replace(observation, observed_at=earlier.observed_at) == earlier:
        return earlier
    return observation


def _is_wrong(before: ConnectorMemory, observation: Observation, desired: DesiredConnector) -> bool:
    """Whether a resume or a pause can repair it."""
    if desired.should_run:
        return observation.rests
    # Headgate creates connectors STOPPED: one that it has just created was stopped by nobody else.
    if is_left_stopped(desired, observation) and before.recreations is None:
        return False
    return desired.desired_state is DesiredState.PAUSED and observation.state in _NOT_PAUSED


def _is_not_started(before: ConnectorMemory, observation: Observation, desired: DesiredConnector) -> bool:
    """Whether it is a sink that is stopped because Headgate has created it so, and that has not run since.

    Only a sink may have to wait before it is started. After the memory was lost, one that somebody has stopped looks
    the same: it has to be started as well.
    """
    is_new = before.not_started or before.desired is None or before.observation is None
    return is_new and desired.is_sink and desired.should_run and observation.is_stopped


def _recreations(
    before: ConnectorMemory,
    observation: Observation | None,
    desired: DesiredConnector,
    now: datetime,
    *,
    missing: bool,
) -> Recreations | None:
    if observation is not None:
        present = recreations.when_present(before.recreations, now)
        # One that was created and has not run yet is not forgotten.
        return before.recreations if present is None and desired.should_run and observation.rests else present
    if missing and _seen_twice(before.missing_since, now):
        return recreations.when_missing(before.recreations, now)
    return before.recreations


def _restarts(
    before: Restarts | None, observation: Observation | None, desired: DesiredConnector, now: datetime
) -> Restarts | None:
    if not desired.should_run or not desired.restartable:
        return None
    return before if observation is None else restarts.after_observation(before, observation, now)


def _drift(before: Drift | None, look: ConnectorLook, config_hash: str | None) -> Drift | None:
    if not look.compared:
        return still_drifted(before, config_hash)
    return after_comparison(before, config_hash, look.config_hash)


def _seen_twice(since: datetime | None, now: datetime) -> bool:
    return since is not None and now - since >= LOOKS_APART
