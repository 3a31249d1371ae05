"""The overview."""

from typing import Self

from pydantic import Field

from chalicelib.api.contract.alerts import NotifiedOutput
from chalicelib.api.contract.audit import ActivityOutput, AuditOutput
from chalicelib.api.contract.common import Output, Timestamp
from chalicelib.domain.alerts.attention import MAX_ENTRIES, Attention
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.kinds import AlertSeverity
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


class AttentionResource(Output):
    """The resource that needs a person."""

    type: str
    id: str
    name: str


class AttentionOutput(Output):
    """A resource that needs a person now, because of the most urgent of its alerts."""

    resource: AttentionResource
    observed_state: ObservedState | HealthStatus | None = Field(
        description="Of a pipeline or a delivery what was observed of its connector, of anything else its health."
    )
    since: Timestamp = Field(description="When it was first seen.")
    reason: str = Field(description="What is wrong.")
    severity: AlertSeverity
    waiting: int | None = Field(description="Records that wait to be delivered; null where that is not known.")
    notified: list[NotifiedOutput] = Field(description="Whom a message about it was queued for.")
    not_notified_because: NotSentReason | None = Field(
        description="Why nobody was notified; null where somebody was. Of two that are equally bad the one that nobody "
        "was notified of comes first."
    )
    alert_id: str = Field(description="The alert, for the actions `acknowledge`, `silence` and `unsilence`.")
    actions: list[str] = Field(
        description="What the reader may do about it, as the paths of the API name it: first for the alert, then for "
        "the resource."
    )

    @classmethod
    def of(cls, entity: Attention) -> Self:
        """The entry with what its alert says."""
        alert = entity.alert
        resource = AttentionResource(type=entity.resource_type, id=entity.resource_id, name=entity.resource_name)
        return cls._read(
            entity,
            resource=resource,
            since=alert.first_seen_at,
            reason=alert.event.error,
            severity=alert.severity,
            notified=NotifiedOutput.all_of(alert),
            not_notified_because=alert.not_sent,
            alert_id=alert.id,
        )


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
    attention: list[AttentionOutput] = Field(
        description=f"What needs a person now, the worst first, at most {MAX_ENTRIES}: a resource each."
    )
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
            attention=[AttentionOutput.of(entry) for entry in entity.attention],
        )
