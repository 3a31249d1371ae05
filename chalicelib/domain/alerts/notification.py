"""Notifications: one row for each message to one channel. The row is the truth; a message of the queue only wakes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.alerts.backlog import Backlog, waiting_since
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from chalicelib.kit.ids import id_from

RETRY_AFTER = (timedelta(seconds=5), timedelta(seconds=30), timedelta(seconds=120))
"""After the first, second and third attempt that failed for a while."""

MAX_ATTEMPTS = 1 + len(RETRY_AFTER)


class NotificationStatus(StrEnum):
    """`SUPPRESSED`: silenced or inhibited before it was sent. `CANCELLED`: its channel was deleted or disabled."""

    QUEUED = "queued"
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    SUPPRESSED = "suppressed"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        return self in (NotificationStatus.QUEUED, NotificationStatus.PENDING)


class EndReason(StrEnum):
    """Why a notification was not sent, or has failed."""

    SILENCED = "silenced"
    INHIBITED = "inhibited_by"
    ENTITY_REMOVED = "entity_removed"
    FIRING_NOT_SENT = "firing_not_sent"
    CHANNEL_DELETED = "channel_deleted"
    CHANNEL_DISABLED = "channel_disabled"
    REFUSED = "refused"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    OUTCOME_UNKNOWN = "outcome_unknown"


class MessageKind(StrEnum):
    """A message says that something is wrong, or that it is over."""

    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContent:
    """What a message says, as it was when it was queued: every attempt sends the same.

    `title` says what stands, and why. `at` is when the alert fired or was resolved. `muted_before` are earlier episodes
    that a cooldown has muted, `affected` the alerts that this one stands for. `link` opens the alert. `backlog` is what
    waits of a pipeline or delivery, and `lost` says whether anything is lost; both are null when it is over.
    """

    alert_id: str
    event: EventKind
    severity: AlertSeverity
    kind: MessageKind
    at: datetime
    emitter_type: str
    emitter_name: str
    pipeline_id: str | None
    pipeline_name: str | None
    connector_name: str | None
    task_id: int | None
    error: str
    hint: str | None
    first_seen_at: datetime
    recovery_seconds: float | None = None
    muted_before: int = 0
    affected: int = 0
    link: str | None = None
    title: str | None = None
    backlog: Backlog | None = None
    lost: str | None = None

    @property
    def waiting_since(self) -> datetime | None:
        """Since when changes wait: when the connector stopped moving, else when the alert began."""
        return waiting_since(self.backlog, self.first_seen_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationError:
    """Why the last attempt failed, in our own words."""

    code: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One message to one channel. `attempts` counts the claims of workers; `reason` is an `EndReason`.

    A worker claims it: until `lease_until` the attempt with this `claim` counts as under way. `after_id` is the firing
    message that has to end before this recovery is sent. `digest_id` is shared by the rows that one message settled.
    """

    id: str
    alert_id: str
    channel_id: str
    channel_name: str
    provider: ChannelProvider
    rule_ids: tuple[str, ...]
    kind: MessageKind
    sequence: int
    content: MessageContent
    status: NotificationStatus = NotificationStatus.QUEUED
    reason: str | None = None
    attempts: int = 0
    next_attempt_at: datetime
    claim: str | None = None
    lease_until: datetime | None = None
    after_id: str | None = None
    digest_id: str | None = None
    last_error: NotificationError | None = None
    correlation_id: str | None = None
    sent_at: datetime | None = None
    revision: int = 1
    created_at: datetime


def notification_id(alert_id: str, kind: MessageKind, sequence: int, channel_id: str) -> str:
    """The same for the same message: one that is queued again is the same row."""
    return id_from("notification", alert_id, kind, str(sequence), channel_id)
