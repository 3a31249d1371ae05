"""An alert: one episode in which something is wrong, from the first observation to the recovery.

At most one alert of a fingerprint is active. Operators write other fields than observations do, and an observation
never undoes what an operator has said. The moves between states are in `transitions`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import takewhile

from chalicelib.domain.alerts.backlog import waiting_since
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind

MAX_HISTORY = 100
"""Entries of a history: the first ones and the newest are kept."""


class AlertStatus(StrEnum):
    """Specification, section 3."""

    FIRING = "firing"
    ACKNOWLEDGED = "acknowledged"
    SILENCED = "silenced"
    RESOLVED = "resolved"


class Resolution(StrEnum):
    """Why an alert is resolved: it was seen to be well again, or what it is about does not exist any more."""

    RECOVERED = "recovered"
    ENTITY_REMOVED = "entity_removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One change: a new state, or a severity that was raised. `actor` is an e-mail address, or `system`."""

    at: datetime
    before: AlertStatus | None
    after: AlertStatus
    actor: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """`occurrence_count` counts the monitor's cycles that found it. `sent_to` are the channels that a firing message of
    this episode was queued for, each with the ids of its rules: only there a recovery is reported. `sent_rows` are the
    ids of these messages by channel, the newest last.

    `sequence` counts firing messages of the episode. `muted_before` are the earlier episodes that a cooldown has muted.
    `not_sent` says why nobody is notified of this one.
    `maintenance_id` is the window that keeps back a message of this episode, None when none does.
    `inhibited_by` is the id of the alert that stands for this one in a storm, `inhibited_cycles` since how many cycles
    that one has been over. `unseen` counts readings in a row in which its task did not exist. `was_silenced`: there has
    been a silence, and whether somebody has yet to be notified was not decided since. `checked_at` is the newest report
    that has changed the alert without counting it. `correlation_id` is that of its incident.
    """

    id: str
    fingerprint: str
    origin: str
    event: AlertEvent
    status: AlertStatus = AlertStatus.FIRING
    max_severity: AlertSeverity
    episode: int = 1
    first_seen_at: datetime
    last_seen_at: datetime
    occurrence_count: int = 1
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    silenced_at: datetime | None = None
    silenced_until: datetime | None = None
    silenced_by: str | None = None
    silence_reason: str | None = None
    resolved_at: datetime | None = None
    resolution: Resolution | None = None
    stale: bool = False
    flapping: bool = False
    sent_to: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sent_rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sequence: int = 0
    muted_before: int = 0
    not_sent: NotSentReason | None = None
    was_silenced: bool = False
    maintenance_id: str | None = None
    inhibited_by: str | None = None
    inhibited_cycles: int = 0
    unseen: int = 0
    checked_at: datetime | None = None
    correlation_id: str | None = None
    history: tuple[HistoryEntry, ...] = ()
    revision: int = 1
    created_at: datetime

    def added_history(self, before: "Alert | None") -> tuple[HistoryEntry, ...]:
        """The entries that its history has got since: all of a new alert."""
        last = before.history[-1] if before and before.history else None
        return tuple(takewhile(lambda entry: entry != last, reversed(self.history)))[::-1]

    @property
    def severity(self) -> AlertSeverity:
        return self.event.severity

    @property
    def kind(self) -> EventKind:
        return self.event.kind

    @property
    def watermark(self) -> datetime:
        """The newest report that was applied: one that is not newer comes too late, or a second time."""
        return max(self.last_seen_at, self.checked_at or self.last_seen_at)

    @property
    def pipeline_id(self) -> str | None:
        return self.event.pipeline_id

    @property
    def source_id(self) -> str | None:
        """The source of that pipeline."""
        return self.event.source_id

    @property
    def waiting_since(self) -> datetime | None:
        """Since when changes wait: when the connector stopped moving, else when the alert began."""
        return waiting_since(self.event.backlog, self.first_seen_at)

    @property
    def emitter_id(self) -> str:
        """The source, destination or Connect cluster that it comes from."""
        return self.event.emitter.id

    @property
    def is_active(self) -> bool:
        return self.status is not AlertStatus.RESOLVED

    @property
    def is_told(self) -> bool:
        """Whether a message that it fires was queued for somebody."""
        return self.not_sent is None and bool(self.sent_to)

    @property
    def notified(self) -> tuple[tuple[str, str], ...]:
        """The channels that it was sent to, each with a rule that wanted it: their ids."""
        sent_to = self.sent_to if self.is_told else {}
        return tuple((channel_id, rule_id) for channel_id, rule_ids in sent_to.items() for rule_id in rule_ids)

    @property
    def was_silenced_at_its_end(self) -> bool:
        """Whether it was resolved under a silence: so nothing more is sent about it."""
        return self.status is AlertStatus.RESOLVED and self.silenced_at is not None

    @property
    def recovery_seconds(self) -> float | None:
        """From the first observation to the recovery, never negative; None while it is active."""
        if self.resolved_at is None:
            return None
        return max(0.0, (self.resolved_at - self.first_seen_at).total_seconds())

    def status_at(self, now: datetime) -> AlertStatus:
        return status_at(now, self.status, self.silenced_until, self.without_silence)

    @property
    def without_silence(self) -> AlertStatus:
        """The state when a silence ends: what the operator had decided before."""
        return AlertStatus.ACKNOWLEDGED if self.acknowledged_at else AlertStatus.FIRING


def status_at(
    now: datetime, status: AlertStatus, silenced_until: datetime | None, without_silence: AlertStatus
) -> AlertStatus:
    """The state that people see: a silence that has expired is over, even before anything was written."""
    expired = silenced_until is not None and silenced_until <= now
    return without_silence if status is AlertStatus.SILENCED and expired else status
