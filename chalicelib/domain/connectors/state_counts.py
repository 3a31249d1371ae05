"""How many pipelines and deliveries are in which observed state: as their lists show it, without the lists."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.counts import RegisteredCounts
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import OLD_AFTER, DesiredState, ObservedState


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTotals:
    """How many there are of what ticks observe, by their state; a state in which none is may be missing."""

    connect_clusters: Mapping[HealthStatus, int]
    pipelines: Mapping[ObservedState, int]
    deliveries: Mapping[ObservedState, int]


def state_counts(
    views: Collection[ClusterView],
    degraded: Collection[str],
    registered: RegisteredCounts,
    resource_types: Collection[str],
    now: datetime,
) -> dict[str, Counter[ObservedState]]:
    """The observed states of each of these resource types.

    `views` has one of each Connect cluster, `degraded` the ids of pipelines with something wrong at their source and of
    deliveries with something wrong at their destination. What was registered and is in no fresh view is UNKNOWN, unless
    all views are newer than the count: then it was deleted.
    """
    counts = {resource_type: Counter[ObservedState]() for resource_type in resource_types}
    fresh = [view for view in views if _is_fresh(view, now)]
    seen_since = [view for view in fresh if view.observed_at and view.observed_at > registered.at]
    for resource_type, state in chain.from_iterable(_states(view, degraded) for view in fresh):
        counts[resource_type][state] += 1
    for resource_type in resource_types:
        numbers = registered.of(resource_type)
        unseen = max(0, sum(numbers.values()) - counts[resource_type].total())
        drafts = min(unseen, numbers.get(DesiredState.DRAFT, 0))
        counts[resource_type][ObservedState.NOT_DEPLOYED] += drafts
        counts[resource_type][ObservedState.UNKNOWN] += 0 if len(seen_since) == len(views) else unseen - drafts
    return counts


def oldest_look(views: Collection[ClusterView], now: datetime) -> datetime | None:
    """When the views that count were made, the oldest of them; None when there is none."""
    return min((view.observed_at for view in views if view.observed_at and _is_fresh(view, now)), default=None)


def _is_fresh(view: ClusterView, now: datetime) -> bool:
    return view.observed_at is not None and not view.unreadable and not view.torn and now - view.observed_at < OLD_AFTER


def _states(view: ClusterView, degraded: Collection[str]) -> Iterator[tuple[str, ObservedState]]:
    """The resource type and the state of each connector that should exist."""
    for name, memory in view.memory.connectors.items():
        if memory.desired is None:
            continue
        state = memory.observation.state if memory.observation else ObservedState.NOT_DEPLOYED
        if state is ObservedState.RUNNING and (memory.has_error or _is_in(degraded, name)):
            state = ObservedState.DEGRADED
        yield memory.desired.resource_type, state


def _is_in(resource_ids: Collection[str], connector: str) -> bool:
    parsed = parse_connector_name(connector) if resource_ids else None
    return parsed is not None and parsed[1] in resource_ids
