"""Alert rules: which alerts are sent to which channels, and how often."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.labels import Labelled

MAX_RULES = 100
MAX_CHANNELS = 90
"""Of an installation. A rule names at most `MAX_CHANNELS_OF_RULE`. A message to all channels is one transaction, which
may have a hundred items.
"""

MAX_CHANNELS_OF_RULE = 20
DEFAULT_COOLDOWN_SECONDS = 900
MAX_COOLDOWN_SECONDS = 604_800
DEFAULT_RULE_NAME = "Critical CDC Errors"


class CooldownPolicy(StrEnum):
    """What happens when the same alert fires again after it was resolved."""

    AFTER_COOLDOWN = "notify_after_cooldown"
    EVERY_OCCURRENCE = "notify_every_occurrence"
    FIRST_OCCURRENCE_ONLY = "notify_first_occurrence_only"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRuleValues(Labelled):
    """What people say about a rule. Empty selections mean all."""

    description: str | None = None
    enabled: bool = True
    severities: tuple[AlertSeverity, ...] = ()
    event_types: tuple[EventKind, ...] = ()
    source_ids: tuple[str, ...] = ()
    pipeline_ids: tuple[str, ...] = ()
    channel_ids: tuple[str, ...] = ()
    cooldown_policy: CooldownPolicy = CooldownPolicy.AFTER_COOLDOWN
    cooldown_seconds: int = DEFAULT_COOLDOWN_SECONDS
    send_recovery: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule(AlertRuleValues):
    """A rule as it is stored. `is_default` is the one that the installation creates."""

    id: str
    is_default: bool = False
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    def matches(self, event: AlertEvent) -> bool:
        """Whether it is enabled and all of its selections have the event."""
        return (
            self.enabled
            and (not self.severities or event.severity in self.severities)
            and (not self.event_types or bool(event.kinds & set(self.event_types)))
            and (not self.pipeline_ids or event.pipeline_id in self.pipeline_ids)
            and (not self.source_ids or bool({event.source_id, event.emitter.id} & set(self.source_ids)))
        )
