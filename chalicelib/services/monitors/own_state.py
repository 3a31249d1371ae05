"""Whether Headgate itself still looks and works: what the dispatcher compares each minute.

Nobody is told by what has stopped. If the dispatcher does not run either, readers still judge by age, and the alarm on
its missing runs tells people.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from chalicelib.domain.connectors.conditions import unobserved_condition
from chalicelib.domain.health import NOT_OBSERVED
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.own_metrics import OwnMetric
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.registered import ConnectedSystem
from chalicelib.domain.timing import OBSERVED_FOR
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.randomness import shuffled
from chalicelib.services.connectors.tick_ages import TickAges
from chalicelib.services.monitors.reports import MonitorReports
from chalicelib.stores.counts import Counts
from chalicelib.stores.jobs import OPEN
from chalicelib.stores.resources import ResourceStores


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnState:
    resources: ResourceStores
    tick_ages: TickAges
    counts: Counts
    reports: MonitorReports
    clock: Clock

    def report_unobserved(self, deadline: Deadline) -> int:
        """Report each Connect cluster that was not looked at for three minutes, as far as the deadline allows; returns
        how many. The next look ends the incident.

        Not in the first run after the dispatcher itself was away: then no ticks were sent, and they come now.
        """
        now, ages = self.clock(), self.tick_ages.read()
        before = self.counts.note_dispatch(now)
        if before is None or now - before >= OBSERVED_FOR:
            return 0
        reported = 0
        for cluster_id, since in shuffled(ages.unobserved.items()):
            if deadline.passed:
                break
            # Nothing was looked at: what else is wrong there stays as it is.
            condition, origin = unobserved_condition(cluster_id, since), origin_of("connect_cluster", cluster_id)
            idle = frozenset[str]() if self._is_needed(cluster_id, deadline) else frozenset({cluster_id})
            reported += self.reports.publish(origin, now, [condition], looked_at=(), idle=idle)
        return reported

    def _is_needed(self, cluster_id: str, deadline: Deadline) -> bool:
        """Whether something should run on the cluster. Raises TimedOut."""
        stores = (self.resources.pipelines, self.resources.deliveries)
        rows = chain.from_iterable(store.columns_in("connect_cluster_id", cluster_id, deadline) for store in stores)
        return any(columns["desired_state"] == DesiredState.RUNNING for _, columns in rows)

    def measure(self) -> Mapping[OwnMetric, float]:
        """Ages, and what waits. Raises StoreUnavailable."""
        now, ages = self.clock(), self.tick_ages.read()
        job = self.resources.jobs.oldest_in("open_state", OPEN)
        systems: Iterable[ConnectedSystem[Any]] = chain(self.resources.sources.all(), self.resources.destinations.all())
        errors = (system.health.as_of(now).last_error for system in systems)
        return {
            OwnMetric.OLDEST_TICK_AGE: ages.oldest.total_seconds(),
            OwnMetric.CLUSTERS_NOT_OBSERVED: len(ages.unobserved),
            OwnMetric.SYSTEMS_NOT_OBSERVED: sum(error is not None and error.code == NOT_OBSERVED for error in errors),
            OwnMetric.OLDEST_JOB_AGE: max(0.0, (now - job.created_at).total_seconds()) if job else 0.0,
        }
