"""What has changed on a Connect cluster from one tick to the next, to be published."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.connectors.memory import ConnectorMemory
from chalicelib.domain.names import ConnectorKind, parse_connector_name
from chalicelib.domain.observation import MISSING, Observation, ObservedState

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

    def resource_on(self, cluster_id: str) -> tuple[str, str]:
        """Type and id of the resource that has changed on this Connect cluster: by the connector's name, or itself."""
        parsed = parse_connector_name(self.connector) if self.connector else None
        return (RESOURCE_TYPES[parsed[0]], parsed[1]) if parsed else ("connect_cluster", cluster_id)


def cluster_transition(before: str | None, after: str | None, now: datetime) -> tuple[Transition, ...]:
    """One when Connect has become unreadable or readable again; both arguments say why it cannot be read, if so."""
    if (before is None) == (after is None):
        return ()
    if after is None:
        return (Transition(connector=None, before=ConnectState.UNREADABLE, after=ConnectState.READABLE, at=now),)
    reasons, state = (after,), ConnectState.UNREADABLE
    return (Transition(connector=None, before=ConnectState.READABLE, after=state, reasons=reasons, at=now),)


def connector_transition(
    name: str, before: ConnectorMemory, after: ConnectorMemory, now: datetime
) -> Transition | None:
    """The change of one connector, if there is one.

    A connector that is desired now, was not desired before and was not seen is reported as NOT_DEPLOYED, once.
    """
    earlier, observation = before.observation, after.observation
    if observation is None:
        if earlier is None and (after.desired is None or before.desired is not None):
            return None
        state, absent = earlier.state if earlier else None, ObservedState.NOT_DEPLOYED
        return Transition(connector=name, before=state, after=absent, reasons=(MISSING,), at=now)
    kinds = hint_kinds(observation)
    if earlier is not None and earlier.state is observation.state and hint_kinds(earlier) == kinds:
        return None
    unseen = ObservedState.NOT_DEPLOYED if before.desired else None
    return Transition(
        connector=name,
        before=earlier.state if earlier else unseen,
        after=observation.state,
        kinds=kinds,
        reasons=observation.reasons[:_MAX_REASONS],
        at=now,
    )


def hint_kinds(observation: Observation) -> tuple[str, ...]:
    """The event types of what has failed of a connector, sorted."""
    if observation.connector is None:
        return ()
    hints = (observation.connector.hint(part) for part in observation.connector.parts)
    return tuple(sorted({hint.event_type for hint in hints if hint}))
