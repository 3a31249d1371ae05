"""What has changed between two snapshots of a Connect cluster, to be published."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.names import ConnectorKind, parse_connector_name
from chalicelib.domain.observation import MISSING, Observation, ObservedState

MAX_TRANSITIONS = 10_000
"""Transitions of connectors that may wait to be published, and as many of the cluster itself. Beyond that a connector
keeps its old observation, so that a later tick sees it change.
"""

_MAX_REASONS = 3

RESOURCE_TYPES: Mapping[ConnectorKind, str] = {ConnectorKind.SOURCE: "pipeline", ConnectorKind.SINK: "delivery"}
"""Which type of resource owns each kind of connector."""


class ConnectState(StrEnum):
    """Whether the Connect cluster itself could be read."""

    READABLE = "READABLE"
    UNREADABLE = "UNREADABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A connector has another state, or its failures are of other kinds. No other change is a transition.

    `before` is None for the first observation, `after` NOT_DEPLOYED when the connector is absent. Without `connector`
    it is about the cluster: Connect cannot be read any more, or can be read again. `kinds` are the event types of the
    hints, `reasons` at most three sentences of ours; neither contains foreign text.
    """

    connector: str | None
    before: ObservedState | ConnectState | None
    after: ObservedState | ConnectState
    kinds: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    at: datetime

    @property
    def resource(self) -> tuple[str, str] | None:
        """Type and id of the resource that the connector belongs to, by its name; None for the cluster."""
        parsed = parse_connector_name(self.connector) if self.connector else None
        return (RESOURCE_TYPES[parsed[0]], parsed[1]) if parsed else None


def cluster_transition(before: str | None, after: str | None, now: datetime) -> tuple[Transition, ...]:
    """One when Connect has become unreadable or readable again; both arguments say why it cannot be read, if so."""
    if (before is None) == (after is None):
        return ()
    if after is None:
        return (Transition(connector=None, before=ConnectState.UNREADABLE, after=ConnectState.READABLE, at=now),)
    reasons, state = (after,), ConnectState.UNREADABLE
    return (Transition(connector=None, before=ConnectState.READABLE, after=state, reasons=reasons, at=now),)


def connector_transitions(
    before: Mapping[str, Observation],
    after: Mapping[str, Observation],
    *,
    desired_before: Set[str],
    desired: Set[str],
    now: datetime,
) -> Iterator[Transition]:
    """Every connector that is not as it was, those that are absent first.

    A connector that is desired now, was not desired before and was not seen is reported as NOT_DEPLOYED, once.
    """
    for name in sorted((before.keys() | (desired - desired_before)) - after.keys()):
        state = before[name].state if name in before else None
        absent = ObservedState.NOT_DEPLOYED
        yield Transition(connector=name, before=state, after=absent, reasons=(MISSING,), at=now)
    for name, seen in after.items():
        earlier = before.get(name)
        if earlier is seen:
            continue
        kinds = hint_kinds(seen)
        if earlier is not None and earlier.state is seen.state and hint_kinds(earlier) == kinds:
            continue
        unseen = ObservedState.NOT_DEPLOYED if name in desired_before else None
        yield Transition(
            connector=name,
            before=earlier.state if earlier else unseen,
            after=seen.state,
            kinds=kinds,
            reasons=seen.reasons[:_MAX_REASONS],
            at=now,
        )


def hint_kinds(seen: Observation) -> tuple[str, ...]:
    """The event types of what has failed of a connector, sorted."""
    if seen.connector is None:
        return ()
    hints = (seen.connector.hint, *(task.hint for task in seen.connector.tasks))
    return tuple(sorted({hint.event_type for hint in hints if hint}))
