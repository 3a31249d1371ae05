"""The notification rows of an alert."""

from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.notification import (
    EndReason,
    MessageContent,
    MessageKind,
    Notification,
    NotificationStatus,
    notification_id,
)
from chalicelib.domain.console_links import alert_link


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """Makes rows that are queued `now`, about what was observed `at`. Links begin with `public_url`; without one they
    are paths of this installation.
    """

    public_url: str | None
    at: datetime
    now: datetime

    def firing(
        self, alert: Alert, channel: Channel, rule_ids: tuple[str, ...], *, inhibited: bool, affected: int
    ) -> Notification:
        """Says that the alert fires. One that is inhibited is kept as suppressed."""
        content = self._content(alert, MessageKind.FIRING, affected)
        row = self._row(alert, channel, rule_ids, content)
        if not inhibited:
            return row
        return replace(row, status=NotificationStatus.SUPPRESSED, reason=EndReason.INHIBITED)

    def resolved(self, alert: Alert, channel: Channel, rule_ids: tuple[str, ...], after_id: str | None) -> Notification:
        """Says that it is over, after the firing message `after_id`."""
        return self._row(alert, channel, rule_ids, self._content(alert, MessageKind.RESOLVED, 0), after_id)

    def _row(
        self,
        alert: Alert,
        channel: Channel,
        rule_ids: tuple[str, ...],
        content: MessageContent,
        after_id: str | None = None,
    ) -> Notification:
        return Notification(
            id=notification_id(alert.id, content.kind, alert.sequence, channel.id),
            alert_id=alert.id,
            channel_id=channel.id,
            channel_name=channel.name,
            provider=channel.provider,
            rule_ids=rule_ids,
            kind=content.kind,
            sequence=alert.sequence,
            content=content,
            next_attempt_at=self.now,
            after_id=after_id,
            correlation_id=alert.correlation_id,
            created_at=self.now,
        )

    def _content(self, alert: Alert, kind: MessageKind, affected: int) -> MessageContent:
        event, fires = alert.event, kind is MessageKind.FIRING
        return MessageContent(
            alert_id=alert.id,
            event=event.kind,
            severity=event.severity,
            kind=kind,
            at=self.at,
            emitter_type=event.emitter.type,
            emitter_name=event.emitter.name,
            pipeline_id=event.pipeline_id,
            pipeline_name=event.pipeline_name,
            connector_name=event.connector_name,
            task_id=event.task_id,
            error=event.error,
            hint=event.hint,
            first_seen_at=alert.first_seen_at,
            recovery_seconds=alert.recovery_seconds,
            muted_before=alert.muted_before if fires else 0,
            affected=affected,
            backlog=event.backlog if fires else None,
            lost=event.lost if fires else None,
            title=event.title,
            link=alert_link(self.public_url or "", alert.id),
        )
