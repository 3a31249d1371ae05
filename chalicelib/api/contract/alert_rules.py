"""Alert rules (wire contract, section 6)."""

from typing import Annotated, TypeVar

from pydantic import AfterValidator, AliasPath, Field, StrictBool

from chalicelib.api.contract.alerts import AlertSourceOutput
from chalicelib.api.contract.common import Input, Integer, Lines, Name, Output, Timestamp, Uuid
from chalicelib.api.contract.labels import LABELS, Labels, ShownLabels
from chalicelib.api.contract.views import Definition
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.rule import (
    DEFAULT_COOLDOWN_SECONDS,
    MAX_CHANNELS_OF_RULE,
    MAX_COOLDOWN_SECONDS,
    AlertRule,
    AlertRuleValues,
    CooldownPolicy,
)
from chalicelib.domain.event_kind import EventKind

MAX_SELECTED = 100
_UNNAMED = "preview"
T = TypeVar("T")


def _once(values: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


Severities = Annotated[tuple[AlertSeverity, ...], Field(max_length=len(AlertSeverity)), AfterValidator(_once)]
EventTypes = Annotated[tuple[EventKind, ...], Field(max_length=len(EventKind)), AfterValidator(_once)]
Selected = Annotated[tuple[Uuid, ...], Field(max_length=MAX_SELECTED), AfterValidator(_once)]
ChannelIds = Annotated[tuple[Uuid, ...], Field(max_length=MAX_CHANNELS_OF_RULE), AfterValidator(_once)]


class AlertRuleBody(Input):
    """Which alerts are sent to which channels. Every selection that is not empty has to have the alert."""

    name: Name
    labels: Labels = LABELS
    description: Lines | None = None
    enabled: StrictBool = True
    severities: Severities = Field(default=(), description="Empty: all.")
    event_types: EventTypes = Field(
        default=(),
        description="Empty: all. CONNECT_TASK_FAILED and CONNECTOR_FAILED stand for every failure of a task or a "
        "connector, whatever its cause.",
    )
    source_ids: Selected = Field(default=(), description="Alerts about these sources and their pipelines. Empty: all.")
    pipeline_ids: Selected = Field(default=(), description="Empty: all.")
    channel_ids: ChannelIds = Field(default=(), description="Empty: the rule sends nothing.")
    cooldown_policy: CooldownPolicy = Field(
        default=CooldownPolicy.AFTER_COOLDOWN,
        description="Whether the same alert is sent again when it fires again after it was resolved. An occurrence is "
        "such an episode, not an observation: while an alert fires, it is sent once.",
    )
    cooldown_seconds: Integer = Field(
        default=DEFAULT_COOLDOWN_SECONDS,
        ge=0,
        le=MAX_COOLDOWN_SECONDS,
        description="Since the last message about the same that has reached somebody. For `notify_after_cooldown`.",
    )
    send_recovery: StrictBool = Field(
        default=True, description="Say when it is over, wherever it was said that it began."
    )

    def to_values(self) -> AlertRuleValues:
        """The values of the rule."""
        return AlertRuleValues(**dict(self))


class AlertRuleOutput(Output):
    """A rule. `is_default`: the installation made it."""

    id: str
    name: str
    labels: ShownLabels
    description: str | None
    enabled: bool
    severities: list[AlertSeverity]
    event_types: list[EventKind]
    source_ids: list[str]
    pipeline_ids: list[str]
    channel_ids: list[str]
    cooldown_policy: CooldownPolicy
    cooldown_seconds: int
    send_recovery: bool
    is_default: bool
    version: int


class PreviewedRuleBody(AlertRuleBody):
    """A rule that may have no name yet."""

    name: Name = _UNNAMED


class RulePreviewBody(Input):
    """The rule that is tried."""

    rule: PreviewedRuleBody


class RuleExampleOutput(Output):
    """An alert that the rule would have sent: when it began, and the worst severity that it had."""

    at: Timestamp = Field(validation_alias="first_seen_at")
    severity: AlertSeverity
    event_type: EventKind = Field(validation_alias="kind")
    title: str = Field(validation_alias=AliasPath("event", "title"))
    source: AlertSourceOutput = Field(validation_alias=AliasPath("event", "emitter"))


class RulePreviewOutput(Output):
    """What a rule would have sent. `examples` are the newest 20."""

    count: int
    examples: list[RuleExampleOutput]


def alert_rule_definition(rule: AlertRule) -> Definition:
    return Definition.of(AlertRuleOutput.of(rule), AlertRuleBody.model_fields)
