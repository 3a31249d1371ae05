"""What a tick reads, and what it remembers for the next one, about a Connect cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.domain.cluster import ConnectCluster, PendingDeletions
from chalicelib.domain.health import Health
from chalicelib.domain.monitoring.incident import Condition, Signal
from chalicelib.domain.monitoring.source_state import Finding
from chalicelib.domain.observation import ConnectorStatus, DesiredState, Observation
from chalicelib.domain.operation import Operation
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.orphans import Confirmation, Orphan
from chalicelib.domain.reconcile.recreations import Recreations
from chalicelib.domain.reconcile.restarts import Restarts
from chalicelib.domain.reconcile.reverts import Reverted
from chalicelib.domain.reconcile.transitions import Transition

LONGEST_LOOK_PAUSE = timedelta(seconds=55)
"""Between looks at a cluster that does not answer. With ticks ten seconds apart that is a minute."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectSnapshot:
    """What Connect has just answered: the status of every connector with a name of ours, by name.

    `config_hashes` is None when configs were not asked for; `compared_at` is when they were last asked for.
    `unreadable` is a sentence of ours that says why there was no answer; the rest is empty then.
    """

    statuses: Mapping[str, ConnectorStatus] = field(default_factory=dict)
    config_hashes: Mapping[str, str] | None = None
    compared_at: datetime | None = None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TickInput:
    """What a tick has read. `desired` is None when nothing has changed since the snapshot, which lists it as well.

    `progress` is what a measurement has found wrong with each connector; None when none was due, or none could be made.
    """

    connect: ConnectSnapshot
    desired: Mapping[str, DesiredConnector] | None = None
    open_operations: tuple[Operation, ...] = ()
    progress: Mapping[str, tuple[Finding, ...]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSnapshot:
    """The part that is written only when it changes. Keys are connector names.

    `epoch` is the epoch at which `desired` was read; `missing`, `wrong_state` and `orphans` map what looked wrong to
    when it was first seen so: nothing is done about what was seen only once. `foreign` are connectors with a name of
    ours that another installation has created, and until when that counts. `recreations` and `restarts` hold what was
    tried for connectors that vanished or failed, `drifted` those whose config is not the one that was sent.
    `reverted` are those that something else keeps pausing or stopping, `unassigned` those that no worker has taken up
    completely, and since when; `progress` is what the last measurement has found wrong; `conditions` is all that is
    wrong.
    """

    epoch: int = -1
    unsettled: bool = False
    desired: Mapping[str, DesiredConnector] = field(default_factory=dict)
    observed: Mapping[str, Observation] = field(default_factory=dict)
    missing: Mapping[str, datetime] = field(default_factory=dict)
    wrong_state: Mapping[str, datetime] = field(default_factory=dict)
    orphans: Mapping[str, Orphan] = field(default_factory=dict)
    foreign: Mapping[str, datetime] = field(default_factory=dict)
    recreations: Mapping[str, Recreations] = field(default_factory=dict)
    restarts: Mapping[str, Restarts] = field(default_factory=dict)
    drifted: Mapping[str, Drift] = field(default_factory=dict)
    reverted: Reverted = field(default_factory=dict)
    unassigned: Mapping[str, datetime] = field(default_factory=dict)
    progress: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    conditions: Mapping[str, tuple[Condition, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster after the last tick. `unreadable` says why Connect could not be read, when it could not;
    `unreadable_since` is for how long. `observed_at` is when the last look began.

    `compared_at` is when configs were last compared. `pending` are deletions that wait for a person's confirmation,
    `confirmation` is the last one that was given. `write_id` is the write that stored this: a tick counts only if
    that is still the last one. `transitions` and `signals` are not published yet, the oldest first: the write that
    makes a tick count stores them, and they are removed after they were published, so a crash between repeats them and
    loses none. `signalled_at` is the time of the last signal. A snapshot that was only partly written (`torn`) counts
    as empty: then all of it is reported again, as first observations, and what was wrong is known from the open
    incidents (`open_incidents.py`). `reported_at` is the last look that was reported to alerting, None when the next
    one has to be.
    """

    epoch: int = 0
    observed_at: datetime | None = None
    unreadable: str | None = None
    unreadable_since: datetime | None = None
    compared_at: datetime | None = None
    pending: PendingDeletions | None = None
    confirmation: Confirmation | None = None
    write_id: str | None = None
    torn: bool = False
    snapshot: ClusterSnapshot = field(default_factory=ClusterSnapshot)
    transitions: tuple[Transition, ...] = ()
    signals: tuple[Signal, ...] = ()
    signalled_at: datetime | None = None
    reported_at: datetime | None = None

    @property
    def has_unpublished(self) -> bool:
        """Whether transitions or signals wait to be published."""
        return bool(self.transitions or self.signals)

    @property
    def settled(self) -> bool:
        """Whether nothing that people desire has changed since `snapshot` was written, and no operation was open."""
        return self.epoch == self.snapshot.epoch and not self.snapshot.unsettled

    @property
    def next_look_at(self) -> datetime | None:
        """Before this, Connect is not asked: the longer it has not answered, the longer the pause. None: at any time.

        Each look at workers that hang takes a whole time-out of a process that other clusters need.
        """
        if self.unreadable_since is None or self.observed_at is None:
            return None
        return self.observed_at + min(self.observed_at - self.unreadable_since, LONGEST_LOOK_PAUSE)

    def on(self, cluster: ConnectCluster) -> ConnectCluster:
        """The cluster as people see it: with its newest health (that of the last tick, or of a check of the API), and
        the deletions that wait.
        """
        return replace(cluster, health=self._health(cluster.health), pending_deletions=self.pending)

    def _health(self, checked: Health) -> Health:
        if self.observed_at is None or (checked.checked_at and checked.checked_at >= self.observed_at):
            return checked
        if self.unreadable:
            return Health.unhealthy(self.observed_at, "CONNECT_UNAVAILABLE", self.unreadable)
        return Health.healthy(self.observed_at)
