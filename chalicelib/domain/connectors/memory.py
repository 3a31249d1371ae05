"""What ticks remember about each connector of a Connect cluster, from one tick to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.connectors.drift import DRIFTED, Drift
from chalicelib.domain.connectors.orphans import Orphan
from chalicelib.domain.connectors.recreations import Recreations
from chalicelib.domain.connectors.restarts import NOT_RESTARTED, Restarts, restart_cause, tried_restarts
from chalicelib.domain.connectors.reverts import REVERTED, is_contested
from chalicelib.domain.monitoring.condition import Condition, Severity
from chalicelib.domain.monitoring.source_state import Finding
from chalicelib.domain.observation import DesiredState, Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredConnector:
    """A connector that should exist, and how. `config_hash` is that of the config last sent to Kafka Connect.

    `restartable` is false where every start reads the whole source again: people decide about that. It has `tasks`
    tasks when all are there.
    """

    resource_type: str
    resource_id: str
    desired_state: DesiredState
    config_hash: str | None
    restartable: bool = True
    tasks: int = 1

    @property
    def is_sink(self) -> bool:
        return self.resource_type == "delivery"

    @property
    def should_run(self) -> bool:
        return self.desired_state is DesiredState.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorMemory:
    """One connector after a tick. A field at its default says nothing special, and is not stored.

    `observation` is None when the last look did not find the connector; its `observed_at` is of no use: the time of
    the last look is in the `ClusterView`. `missing_since` and `wrong_since` are when a connector was first not found,
    or first found in the wrong state: nothing is done about what was seen only once. `not_started` says of a sink
    that it is stopped because Headgate has created it so: nobody else has done that, and it is started at once.
    `reverted_at` are the last times at which it was newly in the wrong state. `foreign_until` is until when it counts
    as created by another installation; `conflict` says that the one with the name of a desired connector does not carry
    our marker. `unassigned_since` is since when no worker has taken it up completely. `findings` are those of the
    last measurement of its progress, `conditions` all that is wrong with it.
    """

    desired: DesiredConnector | None = None
    observation: Observation | None = None
    missing_since: datetime | None = None
    wrong_since: datetime | None = None
    not_started: bool = False
    reverted_at: tuple[datetime, ...] = ()
    orphan: Orphan | None = None
    foreign_until: datetime | None = None
    conflict: bool = False
    recreations: Recreations | None = None
    restarts: Restarts | None = None
    drift: Drift | None = None
    unassigned_since: datetime | None = None
    findings: tuple[Finding, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether it runs as desired, and nothing else is remembered: the same status has the same result again."""
        desired, observation = self.desired, self.observation
        if desired is None or observation is None or observation.reasons:
            return False
        if desired.desired_state is not DesiredState.RUNNING:
            return False
        return not (
            self.recreations or self.conditions or self.restarts or self.drift or self.reverted_at or self.findings
        )

    @property
    def has_error(self) -> bool:
        """Whether the last measurement of its progress has found that rows do not move as they should."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def reasons(self, observation: Observation) -> tuple[str, ...]:
        """What people have to know of a connector that was observed so, by the same tick or later, besides its state:
        what was tried, and what something else has changed.
        """
        desired, needs_restart = self.desired, restart_cause(observation) is not None
        left_alone = desired is not None and desired.should_run and not desired.restartable
        sentences = (
            tried_restarts(self.restarts) if self.restarts and needs_restart else None,
            NOT_RESTARTED if left_alone and needs_restart else None,
            REVERTED if is_contested(self.reverted_at) else None,
            NOT_STARTED if self.not_started and observation.is_stopped else None,
            DRIFTED if self.drift and self.drift.confirmed else None,
            CONFLICTING if self.conflict else None,
            LEFT_STOPPED if desired is not None and is_left_stopped(desired, observation) else None,
        )
        return tuple(sentence for sentence in sentences if sentence)


CONFLICTING = (
    "The connector of this name in Kafka Connect was not made by this installation of Headgate, which does not touch "
    "it. Where the tables of this installation are a copy, the original controls it: delete this here. Else delete the "
    "connector in Kafka Connect, and Headgate creates it again."
)
LEFT_STOPPED = (
    "Somebody has stopped it in Kafka Connect, without Headgate, which leaves that as it is: it should be paused. A "
    "resume starts it."
)


NOT_STARTED = (
    "Headgate has created it, and starts it with one of its next looks at Kafka Connect: it may have to wait until "
    "sinks to another kind of database on this Connect cluster have made their tables."
)
"""What to say of a sink that has not run since Headgate has created it."""


def is_left_stopped(desired: DesiredConnector, observation: Observation) -> bool:
    """Whether it is stopped while it should be paused: so that people can change its offsets in Kafka Connect."""
    return observation.is_stopped and desired.desired_state is DesiredState.PAUSED


NOTHING = ConnectorMemory()
"""Of a connector that was never seen, or that is of no interest any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMemory:
    """All connectors of a Connect cluster, by name: stored only when something has changed.

    `epoch` is the epoch at which what is desired was read. `unsettled` says that it has to be read again.
    """

    epoch: int = -1
    unsettled: bool = False
    connectors: Mapping[str, ConnectorMemory] = field(default_factory=dict)

    def of(self, name: str) -> ConnectorMemory:
        return self.connectors.get(name, NOTHING)

    @property
    def desired(self) -> dict[str, DesiredConnector]:
        return {name: memory.desired for name, memory in self.connectors.items() if memory.desired}

    @property
    def conditions(self) -> dict[str, tuple[Condition, ...]]:
        return {name: memory.conditions for name, memory in self.connectors.items() if memory.conditions}

    @property
    def observed(self) -> int:
        """How many connectors of this installation the last look has found."""
        return sum(memory.observation is not None for memory in self.connectors.values())
