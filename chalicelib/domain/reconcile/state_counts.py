"""How many pipelines and deliveries are in which observed state: as their lists show it, without the lists."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.monitoring.incident import Severity
from chalicelib.domain.names import parse_connector_name
from chalicelib.domain.observation import OLD_AFTER, DesiredState, ObservedState
from chalicelib.domain.reconcile.snapshot import ClusterView

_States = dict[str, tuple[str, ObservedState]]
"""Connector name -> type of its resource and observed state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentState:
    """What an operation has seen of a connector, or caused; `state` is None when its resource was deleted."""

    resource_type: str
    connector: str
    connect_cluster_id: str
    state: ObservedState | None
    at: datetime


def state_counts(
    views: Mapping[str, ClusterView],
    recent: Iterable[RecentState],
    degraded: Collection[str],
    desired: Mapping[str, Mapping[str, int]],
    now: datetime,
) -> dict[str, Counter[ObservedState]]:
    """The counts for each resource type of `desired`, which has the number of its resources in each desired state.

    `views` are those of all Connect clusters, `recent` is in order of time, `degraded` has the ids of pipelines with
    something wrong at their source. What no fresh look tells about is UNKNOWN.
    """
    states = _seen(views, now)
    for one in recent:
        if _counts(one, views.get(one.connect_cluster_id), now):
            states.pop(one.connector, None)
            if one.state:
                states[one.connector] = (one.resource_type, one.state)
    found: dict[str, Counter[ObservedState]] = {resource_type: Counter() for resource_type in desired}
    for connector, (resource_type, state) in states.items():
        if resource_type in found:
            found[resource_type][_with_findings(connector, state, degraded)] += 1
    for resource_type, counted in desired.items():
        drafts, total = counted.get(DesiredState.DRAFT, 0), sum(counted.values())
        unknown = total - drafts - found[resource_type].total()
        found[resource_type] += Counter({ObservedState.NOT_DEPLOYED: drafts, ObservedState.UNKNOWN: unknown})
    return found


def _seen(views: Mapping[str, ClusterView], now: datetime) -> _States:
    fresh = (view for view in views.values() if _is_fresh(view, now))
    return {name: seen for view in fresh for name, seen in _seen_on(view)}


def _is_fresh(view: ClusterView, now: datetime) -> bool:
    return view.observed_at is not None and not view.unreadable and not view.torn and now - view.observed_at < OLD_AFTER


def _seen_on(view: ClusterView) -> Iterator[tuple[str, tuple[str, ObservedState]]]:
    snapshot = view.snapshot
    for name, desired in snapshot.desired.items():
        observed = None if name in snapshot.missing else snapshot.observed.get(name)
        state = observed.state if observed else ObservedState.NOT_DEPLOYED
        wrong = any(one.severity is Severity.ERROR for one in snapshot.progress.get(name, ()))
        degraded = wrong and state is ObservedState.RUNNING
        yield name, (desired.resource_type, ObservedState.DEGRADED if degraded else state)


def _counts(one: RecentState, view: ClusterView | None, now: datetime) -> bool:
    """Whether it is newer than the last look of a tick, and not too old."""
    looked_at = view.observed_at if view else None
    return now - one.at < OLD_AFTER and (looked_at is None or one.at >= looked_at)


def _with_findings(connector: str, state: ObservedState, degraded: Collection[str]) -> ObservedState:
    if state is not ObservedState.RUNNING or not degraded:
        return state
    parsed = parse_connector_name(connector)
    return ObservedState.DEGRADED if parsed and parsed[1] in degraded else state
