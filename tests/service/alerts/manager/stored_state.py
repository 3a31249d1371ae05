"""What the alert manager has stored, in the words of the reference model."""

from typing import Any, ClassVar

from chalicelib.domain.alerts.alert import Alert, Resolution
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.cooldown import WITHOUT_CHANNELS
from chalicelib.domain.alerts.notification import Notification
from chalicelib.domain.alerts.rule import AlertRule
from chalicelib.kit.adapters import adapter
from tests.service.alerts.manager.reference_model import CAUSE, Model
from tests.service.stores.conftest import Storage
from tests.support.alerting.manager import Alerting

NAMES = (CAUSE, *(str(number) for number in range(13)))


class StoredState:
    """Reads alerts and messages. `parsed` are rows that were parsed before."""

    storage: ClassVar[Storage]
    alerting: Alerting
    model: Model
    channels: list[Channel]
    rules: list[AlertRule]
    parsed: dict[tuple[str, int], Any]

    def _stored(self, entity: type[Any], table: str) -> list[Any]:
        """Everything in a table, by which most steps would spend their time: what has not changed is parsed once."""
        entities = []
        for row in self.storage.tables.rows(table):
            key = row["id"], int(row["revision"])
            if key not in self.parsed:
                self.parsed[key] = adapter(entity).validate_json(row["body"])
            entities.append(self.parsed[key])
        return entities

    def _alerts(self) -> list[Alert]:
        return self._stored(Alert, "alerts")

    def _rows(self) -> list[Notification]:
        return sorted(self._stored(Notification, "notifications"), key=lambda row: row.id)

    def _name(self, alert: Alert) -> str:
        return CAUSE if alert.event.task_id is None else str(alert.event.task_id)

    def _model_row(self, row: Notification) -> Any:
        alert = self.alerting.stores.alerts.get(row.alert_id)
        numbers = {channel.id: number for number, channel in enumerate(self.channels)}
        wished = (alert.episode, row.kind.value, row.sequence, numbers[row.channel_id])
        rows = self.model.lines[self._name(alert)].rows
        (model_row,) = (one for one in rows if (one.episode, one.kind, one.number, one.channel) == wished)
        return model_row

    def _found(self, stored: list[Alert], rows: list[Notification]) -> dict[str, Any]:
        """What is stored, in the model's words."""
        channels = {channel.id: number for number, channel in enumerate(self.channels)}
        rules = {one.id: number for number, one in enumerate(self.rules)}
        alerts = {alert.id: alert for alert in stored}
        sequences = {row.id: row.sequence for row in rows}
        state: dict[str, Any] = {name: ([], []) for name in NAMES}
        for alert in sorted(alerts.values(), key=lambda one: one.episode):
            state[self._name(alert)][0].append(
                (
                    alert.episode, alert.status.value, alert.severity.value, alert.max_severity.value,
                    alert.occurrence_count, alert.acknowledged_by, alert.silenced_until, alert.stale, alert.flapping,
                    alert.resolution is Resolution.ENTITY_REMOVED, alert.inhibited_by is not None, alert.resolved_at,
                    alert.is_active
                    and (
                        alert.watermark, alert.unseen, alert.inhibited_cycles, alert.was_silenced,
                        alert.not_sent in WITHOUT_CHANNELS,
                    ),
                )
            )  # fmt: skip
        for row in rows:
            alert = alerts[row.alert_id]
            state[self._name(alert)][1].append(
                (
                    alert.episode, row.kind.value, row.sequence, channels[row.channel_id],
                    tuple(sorted(rules[rule] for rule in row.rule_ids)), row.status.value, row.content.muted_before,
                    sequences[row.after_id] if row.after_id else None,
                )
            )  # fmt: skip
        return {name: (episodes, sorted(messages, key=repr)) for name, (episodes, messages) in state.items()}
