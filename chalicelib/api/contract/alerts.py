"""Alerts (wire contract, section 6)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import AliasPath, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.channels import DeliveryErrorOutput
from chalicelib.api.contract.common import Input, Integer, Lines, Output, Time, Timestamp, Uuid
from chalicelib.api.contract.runtime import CauseOutput
from chalicelib.domain.alerts.alert import Alert, AlertStatus, Resolution
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.listing import AlertFilter, StatusFilter
from chalicelib.domain.alerts.notification import MessageKind, NotificationStatus
from chalicelib.domain.event_kind import EventKind
from chalicelib.services.alerts.alerts import AlertSummary, Silence

MAX_PER_PAGE = 200
LISTED_HISTORY, LISTED_TEXT = 5, 500
"""Entries of the history of an alert in a list, the newest, and characters of a text: so 200 of the largest alerts stay
within a body.
"""

Reason = Annotated[Lines, StringConstraints(max_length=300)]


class AlertQuery(Input):
    """Filters of alerts: each that is given has to hold."""

    page: Integer = Field(default=1, ge=1, le=1_000_000)
    page_size: Integer = Field(default=50, ge=1, le=MAX_PER_PAGE, alias="pageSize")
    status: StatusFilter | None = Field(default=None, description="`active`: not resolved.")
    severity: AlertSeverity | None = None
    event_type: EventKind | None = Field(default=None, alias="eventType")
    pipeline_id: Uuid | None = Field(default=None, alias="pipelineId")
    source_id: Uuid | None = Field(
        default=None,
        alias="sourceId",
        description="Alerts about this source, and about the pipelines that capture it. Also takes the id of a "
        "destination or a Connect cluster that alerts come from.",
    )

    def to_filter(self) -> AlertFilter:
        """The filter of the service."""
        return AlertFilter(**self.model_dump(exclude={"page", "page_size"}))


class AcknowledgeBody(Input):
    """What the operator says about it."""

    note: Reason | None = None


class SilenceBody(Input):
    """For how long and why. Without `duration_seconds` and `until` it lasts until it is unsilenced or resolved."""

    duration_seconds: Integer | None = Field(default=None, ge=60, le=2_592_000)
    until: Time | None = Field(default=None, description="A time with its zone, from a minute to 30 days from now.")
    reason: Reason | None = None

    @field_validator("until")
    @classmethod
    def _one_end(cls, until: datetime | None, info: ValidationInfo) -> datetime | None:
        if until is not None and info.data.get("duration_seconds") is not None:
            raise PydanticCustomError("one_of", "give duration_seconds or until, not both")
        return until

    def to_silence(self) -> Silence:
        """The input of the service."""
        seconds = self.duration_seconds
        duration = None if seconds is None else timedelta(seconds=seconds)
        return Silence(duration=duration, until=self.until, reason=self.reason)


class AlertSourceOutput(Output):
    """Where it comes from: a source, a destination or a connect_cluster, with its name as it was then."""

    type: str
    id: str
    name: str


class WaitingOutput(Output):
    """What waited when the alert began, by the last measurement: null is what was not measured."""

    records: int | None = Field(description="Records in Kafka that the delivery has not delivered.")
    retained_bytes: int | None = Field(description="Bytes of its log that the source keeps for the capture.")


class AlertDetailsOutput(Output):
    """What helps. `error` is what is wrong and `hint` what it means and what to do, both in Headgate's words. `cause`
    is what a failure is about, where Headgate knows it.

    `episode` counts the alerts about the same; `muted_episodes` of them, just before, were not reported because of a
    cooldown. `inhibited_by` is the alert that stands for this one in messages, `maintenance_id` the maintenance window
    that keeps back a message about it. `resolution` says why it is over: recovered, or what it was about does not exist
    any more. `waiting` and `waiting_since` are those of a pipeline or delivery, else null; `lost` says in a sentence
    whether changes are lost.
    """

    error: str = Field(validation_alias=AliasPath("event", "error"))
    hint: str | None = Field(validation_alias=AliasPath("event", "hint"))
    waiting: WaitingOutput | None = Field(validation_alias=AliasPath("event", "backlog"))
    waiting_since: Timestamp | None
    lost: str | None = Field(validation_alias=AliasPath("event", "lost"))
    cause: CauseOutput | None = Field(validation_alias=AliasPath("event", "cause"))
    source_id: str | None
    destination_id: str | None = Field(validation_alias=AliasPath("event", "destination_id"))
    delivery_id: str | None = Field(validation_alias=AliasPath("event", "delivery_id"))
    connect_cluster_id: str | None = Field(validation_alias=AliasPath("event", "connect_cluster_id"))
    max_severity: AlertSeverity
    episode: int
    muted_episodes: int = Field(validation_alias="muted_before")
    inhibited_by: str | None
    maintenance_id: str | None
    silence_reason: str | None
    resolution: Resolution | None


class HistoryOutput(Output):
    """One change of the status or the severity. `actor` is an e-mail address, or `system`."""

    at: Timestamp
    from_: AlertStatus | None = Field(serialization_alias="from", validation_alias="before")
    to: AlertStatus = Field(validation_alias="after")
    actor: str
    reason: str


class NotifiedOutput(Output):
    """A channel that a message about the alert was queued for, and a rule that wanted it."""

    channel_id: str
    rule_id: str

    @classmethod
    def all_of(cls, alert: Alert) -> list[Self]:
        return [cls(channel_id=channel_id, rule_id=rule_id) for channel_id, rule_id in alert.notified]


class AlertOutput(Output):
    """Something that is or was wrong, from its first observation to the recovery. One alert is active for each
    combination of event, source, pipeline, connector and task; its `fingerprint` is the same in every episode.

    `occurrence_count` counts the monitors' cycles that found it. A silence that has expired is shown as over.
    """

    id: str
    fingerprint: str
    event_type: EventKind
    severity: AlertSeverity
    status: AlertStatus
    source: AlertSourceOutput
    pipeline_id: str | None
    pipeline_name: str | None
    connector_name: str | None
    task_id: int | None
    title: str
    message: str
    details: AlertDetailsOutput
    first_seen_at: Timestamp
    last_seen_at: Timestamp
    occurrence_count: int
    acknowledged_at: Timestamp | None
    acknowledged_by: str | None
    silenced_until: Timestamp | None
    silenced_by: str | None
    resolved_at: Timestamp | None
    recovery_seconds: float | None
    stale: bool = Field(description="What it comes from could not be looked at: it may be over.")
    flapping: bool = Field(description="It began or ended six times or more within half an hour.")
    notified: list[NotifiedOutput] = Field(description="Whom a message that it fires was queued for.")
    not_notified_because: NotSentReason | None = Field(
        description="Why there was no message, null when there was one: `no_rule` (no enabled rule matches), "
        "`no_channel` (those that match have no channels), `disabled` (their channels are disabled), `cooldown` and "
        "`first_occurrence_only` (the rule has notified of an earlier episode), `silenced`, `inhibited` (the alert in "
        "`details.inhibited_by` stands for this one)."
    )
    history: list[HistoryOutput] = Field(description=f"The oldest first. In lists: the newest {LISTED_HISTORY}.")

    @classmethod
    def of(cls, alert: Alert) -> Self:
        """An alert in a list."""
        error, hint = _listed(alert.event.error), _listed(alert.event.hint or "")
        event = replace(alert.event, error=error, hint=hint or None)
        return cls._of_alert(replace(alert, event=event, history=alert.history[-LISTED_HISTORY:]))

    @classmethod
    def _of_alert(cls, alert: Alert, **computed: Any) -> Self:
        event = alert.event
        return cls._read(
            alert,
            event_type=event.kind,
            source=event.emitter,
            pipeline_name=event.pipeline_name,
            connector_name=event.connector_name,
            task_id=event.task_id,
            title=event.title,
            message=event.error,
            details=alert,
            notified=NotifiedOutput.all_of(alert),
            not_notified_because=alert.not_sent,
            **computed,
        )


def _listed(text: str) -> str:
    return text if len(text) <= LISTED_TEXT else text[: LISTED_TEXT - 1] + "…"


class AlertDeliveryOutput(Output):
    """One message to one channel. `next_attempt_at` is null once it has ended."""

    id: str
    channel_id: str
    channel_name: str
    provider: ChannelProvider
    kind: MessageKind
    status: NotificationStatus
    attempt_count: int = Field(validation_alias="attempts")
    last_error: DeliveryErrorOutput | None
    next_attempt_at: Timestamp | None
    sent_at: Timestamp | None

    @classmethod
    def of(cls, entity: Any) -> Self:
        """A notification."""
        output = cls.model_validate(entity)
        return output if entity.status.is_open else output.model_copy(update={"next_attempt_at": None})


class AlertDetailOutput(AlertOutput):
    """An alert with its messages."""

    deliveries: list[AlertDeliveryOutput] = Field(description="The newest first, at most 200.")

    @classmethod
    def of_all(cls, alert: Alert, deliveries: Iterable[Any]) -> Self:
        """The alert with its whole history and its notifications."""
        listed = [AlertDeliveryOutput.of(notification) for notification in deliveries]
        return cls._of_alert(alert, deliveries=listed)


class AlertPageOutput(Output):
    """One page of the alerts that the filters accept. `total` counts all of them."""

    items: list[AlertOutput]
    page: int
    page_size: int = Field(serialization_alias="pageSize")
    total: int


class AlertSummaryOutput(Output):
    """Active alerts by severity, all that are kept by status, and the newest ten. Every status and severity is a key.

    Resolved alerts are kept, and counted, for thirty days.
    """

    active: int
    by_status: dict[AlertStatus, int]
    by_severity: dict[AlertSeverity, int]
    recent: list[AlertOutput]

    @classmethod
    def of(cls, entity: AlertSummary) -> Self:
        """The summary of the service."""
        return cls._read(entity, recent=[AlertOutput.of(alert) for alert in entity.recent])
