"""What is stored about a Connect cluster itself after each tick, with the memory of its connectors."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.domain.cluster import ChangeKind, ConnectCluster, PendingChanges
from chalicelib.domain.connectors.confirmations import Confirmation
from chalicelib.domain.connectors.memory import ClusterMemory
from chalicelib.domain.connectors.workers import WorkersFault
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.timing import OBSERVED_FOR

MAX_LOOK_PAUSE = timedelta(seconds=55)
"""Between looks at a cluster that does not answer. With ticks ten seconds apart that is a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster after the last tick. `unreadable` says why Connect could not be read, when it could not;
    `unreadable_since` is for how long. `observed_at` is when the last look began.

    `compared_at` is when configs were last compared. `pending` are deletions that wait for a person's confirmation,
    `confirmation` is the last one that was given; `pending_creations` and `creations_confirmation` are the same for
    creations. `fault` is why nothing may be created on the workers that answered. `write_id` is the write that stored
    this: a tick counts only if that is still the last one. A memory that was only partly written (`torn`) counts as
    empty: then all of it is observed anew, and what was wrong is known from the open incidents (`open_incidents.py`).
    `reported_at` is the last look whose report was recorded, None when the next tick has to report.
    """

    epoch: int = 0
    observed_at: datetime | None = None
    unreadable: str | None = None
    unreadable_since: datetime | None = None
    compared_at: datetime | None = None
    pending: PendingChanges | None = None
    confirmation: Confirmation | None = None
    pending_creations: PendingChanges | None = None
    creations_confirmation: Confirmation | None = None
    fault: WorkersFault | None = None
    write_id: str | None = None
    torn: bool = False
    memory: ClusterMemory = field(default_factory=ClusterMemory)
    reported_at: datetime | None = None

    @property
    def settled(self) -> bool:
        """Whether nothing that people desire has changed since `memory` was written, and no operation was open."""
        return self.epoch == self.memory.epoch and not self.memory.unsettled

    @property
    def next_look_at(self) -> datetime | None:
        """Before this, Connect is not asked: the longer it has not answered, the longer the pause. None: at any time.

        Each look at workers that hang takes a whole time-out of a process that other clusters need.
        """
        if self.unreadable_since is None or self.observed_at is None:
            return None
        return self.observed_at + min(self.observed_at - self.unreadable_since, MAX_LOOK_PAUSE)

    def waits(self, cluster: ConnectCluster, now: datetime) -> bool:
        """Whether a tick leaves Connect alone. Not after somebody has changed the cluster: that may have mended it."""
        checked_at, next_look_at = cluster.health.checked_at, self.next_look_at
        changed_since = checked_at is not None and self.observed_at is not None and checked_at > self.observed_at
        return next_look_at is not None and now < next_look_at and not changed_since

    def on(self, cluster: ConnectCluster, now: datetime) -> ConnectCluster:
        """The cluster as people see it: with its newest health (that of the last tick, or of a check of the API), which
        is not known when that is too old, and the changes that wait.
        """
        return replace(
            cluster,
            health=replace(self._health(cluster.health), watched=True).as_of(now, OBSERVED_FOR),
            pending_deletions=self.pending,
            pending_creations=self.pending_creations,
        )

    def last_look(self, cluster: ConnectCluster) -> datetime:
        """When the last tick looked; the registration, when none has."""
        return self.observed_at or cluster.created_at

    def is_unobserved(self, cluster: ConnectCluster, now: datetime) -> bool:
        """Whether no tick has looked for too long."""
        return now - self.last_look(cluster) >= OBSERVED_FOR

    def waiting(self, kind: ChangeKind) -> PendingChanges | None:
        """The changes of this kind that wait for a person."""
        return self.pending if kind is ChangeKind.DELETIONS else self.pending_creations

    def without_waiting(self, kind: ChangeKind) -> "ClusterView":
        """The view after a person has confirmed them."""
        if kind is ChangeKind.DELETIONS:
            return replace(self, pending=None)
        return replace(self, pending_creations=None)

    def why_not_created(self, missing_since: datetime | None, now: datetime) -> str | None:
        """Why ticks do not create a connector again that is missing since then; None where they do."""
        if self.fault:
            return self.fault.message
        given = self.creations_confirmation
        confirmed = given and missing_since and given.covers(missing_since, now)
        return creations_wait(self.pending_creations) if self.pending_creations and not confirmed else None

    def _health(self, checked: HealthRecord) -> HealthRecord:
        if self.observed_at is None or (checked.checked_at and checked.checked_at >= self.observed_at):
            return checked
        if self.unreadable:
            return HealthRecord.unhealthy(self.observed_at, "CONNECT_UNAVAILABLE", self.unreadable)
        if self.fault:
            return HealthRecord.unhealthy(self.observed_at, self.fault.code, self.fault.message)
        return HealthRecord.healthy(self.observed_at)


def creations_wait(pending: PendingChanges) -> str:
    """For people: that missing connectors are not created again, and what to do."""
    return (
        f"{pending.count} connectors are missing at once, so other workers may answer at the address of Kafka Connect. "
        "Headgate creates none of them again until an Admin confirms their number: "
        "POST /connect/clusters/{id}/confirm-creations, where `pending_creations` of the Connect cluster shows it."
    )
