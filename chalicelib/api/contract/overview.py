"""The overview."""

from typing import Self

from pydantic import Field

from chalicelib.api.contract.audit import ActivityOutput, AuditOutput
from chalicelib.api.contract.common import Output
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.observation import ObservedState
from chalicelib.services.overview import ACTIVITY, Overview

HealthCounts = dict[HealthStatus, int]
"""Every status is a key."""

ObservedCounts = dict[ObservedState, int]
"""Every observed state is a key."""


class IncidentCounts(Output):
    """Incidents that are not resolved."""

    open: int
    acknowledged: int


class AlertCounts(Output):
    """Active alerts, and how many of them are critical."""

    active: int
    critical: int


class OverviewOutput(Output):
    """Counts by state, as the lists show them. `throughput` and `lag` are null where nothing measures them."""

    sources: HealthCounts
    pipelines: ObservedCounts
    deliveries: ObservedCounts
    destinations: HealthCounts
    stream_clusters: HealthCounts
    connect_clusters: HealthCounts
    incidents: IncidentCounts
    alerts: AlertCounts
    throughput: float | None
    lag: int | None
    metrics_notice: str | None
    recent_activity: list[AuditOutput | ActivityOutput] = Field(
        description=f"At most {ACTIVITY} meaningful audit records: for Admins whole, for others a part of those about "
        "other things than people, tokens and secrets."
    )

    @classmethod
    def of(cls, entity: Overview) -> Self:
        """The overview with its incidents by the names of the contract."""
        return cls._read(
            entity,
            incidents=IncidentCounts(open=entity.incidents["OPEN"], acknowledged=entity.incidents["ACKNOWLEDGED"]),
            alerts=AlertCounts(active=entity.active_alerts, critical=entity.critical_alerts),
            throughput=entity.metrics.throughput,
            lag=entity.metrics.lag,
            metrics_notice=entity.metrics.notice,
        )
