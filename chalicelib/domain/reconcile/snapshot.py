"""What one tick remembers for the next about a Connect cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.health import Health
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.restarts import Restarts


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A connector that should be there, and how. `config_hash` is that of the config last given to Kafka Connect."""

    resource_type: str
    resource_id: str
    desired_state: DesiredState
    config_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSnapshot:
    """The part that is written only when it changes. Keys are connector names.

    `epoch` is the epoch at which `wanted` was read; `missing`, `wrong_state` and `orphans` map what looked wrong to
    when it was first seen so: nothing is done about a thing that was seen only once. `restarts` holds what was tried
    for connectors that failed, `drifted` those whose config is not the one that was given.
    """

    epoch: int = -1
    unsettled: bool = False
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    observed: Mapping[str, Observation] = field(default_factory=dict)
    missing: Mapping[str, datetime] = field(default_factory=dict)
    wrong_state: Mapping[str, datetime] = field(default_factory=dict)
    orphans: Mapping[str, datetime] = field(default_factory=dict)
    restarts: Mapping[str, Restarts] = field(default_factory=dict)
    drifted: Mapping[str, Drift] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster as the last tick left it. `unreadable` says why Connect could not be read, when it could not.

    `compared_at` is when configs were last compared, `body` which stored body `snapshot` is: what is written next
    counts only if that one is still stored.
    """

    epoch: int = 0
    observed_at: datetime | None = None
    unreadable: str | None = None
    compared_at: datetime | None = None
    body: str | None = None
    snapshot: ClusterSnapshot = field(default_factory=ClusterSnapshot)

    @property
    def settled(self) -> bool:
        """Whether nothing that people want has changed since `snapshot` was written, and nothing was under way."""
        return self.epoch == self.snapshot.epoch and not self.snapshot.unsettled

    def health(self, looked: Health) -> Health:
        """How the cluster is: what the last tick saw, or what a look of the API told, if that was later."""
        if self.observed_at is None or (looked.checked_at and looked.checked_at >= self.observed_at):
            return looked
        if self.unreadable:
            return Health.unhealthy(self.observed_at, "CONNECT_UNAVAILABLE", self.unreadable)
        return Health.healthy(self.observed_at)
