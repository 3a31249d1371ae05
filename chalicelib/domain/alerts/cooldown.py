"""Which channels get a firing message: the rules that match, and what their cooldowns allow.

The table is section 3 of the alerting contract. An occurrence is one episode, from the first observation to the
recovery; observations in between send nothing. Times are those of the reports, so a boundary is exact.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.notification import MessageKind, Notification, NotificationStatus, notification_id
from chalicelib.domain.alerts.rule import AlertRule, CooldownPolicy
from chalicelib.domain.alerts.track import RuleLedger
from chalicelib.domain.monitoring.episodes import was_set_back

_NOBODY_REACHED = (NotificationStatus.FAILED, NotificationStatus.SUPPRESSED, NotificationStatus.CANCELLED)


class Occasion(Enum):
    """Why rules are evaluated: an episode begins, it got worse than ever, or nobody was notified of it until now."""

    OPENED = auto()
    RAISED = auto()
    LATE = auto()


class NotSentReason(StrEnum):
    """Why nobody is notified of an alert. Where rules have several reasons, the first of these is stated."""

    SILENCED = "silenced"
    MAINTENANCE = "maintenance"
    INHIBITED = "inhibited"
    COOLDOWN = "cooldown"
    FIRST_OCCURRENCE_ONLY = "first_occurrence_only"
    DISABLED = "disabled"
    NO_CHANNEL = "no_channel"
    NO_RULE = "no_rule"


WITHOUT_CHANNELS = frozenset({NotSentReason.DISABLED, NotSentReason.NO_CHANNEL})
"""A rule wanted to notify and had no enabled channel: once it has one, it notifies of what still fires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who may be notified now: the rules of the installation and the channels that are enabled."""

    rules: Sequence[AlertRule]
    channel_ids: frozenset[str]

    def channels_of(self, rule: AlertRule) -> tuple[str, ...]:
        return tuple(channel_id for channel_id in rule.channel_ids if channel_id in self.channel_ids)

    def reached_by(self, event: AlertEvent) -> frozenset[str]:
        matching = (rule for rule in self.rules if rule.matches(event))
        return frozenset(channel_id for rule in matching for channel_id in self.channels_of(rule))


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationRequest:
    """What the rules decide about: message number `sequence` of an alert, at a time.

    Messages to the channels in `muted` are not sent, because another alert stands for this one. `void` are the rules
    whose last firing message has reached nobody.
    """

    occasion: Occasion
    alert_id: str
    episode: int
    sequence: int
    at: datetime
    muted: Collection[str] = ()
    void: Collection[str] = ()

    def row_id(self, channel_id: str) -> str:
        return notification_id(self.alert_id, MessageKind.FIRING, self.sequence, channel_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fanout:
    """The channels that get a message, each with the rules that want it, and what the rules remember after it.

    `muted_before` are earlier episodes that a cooldown has muted. `not_sent` says why no channel gets one.
    """

    channels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ledgers: Mapping[str, RuleLedger]
    muted_before: int = 0
    not_sent: NotSentReason | None = None


def fan_out(
    event: AlertEvent, audience: Audience, ledgers: Mapping[str, RuleLedger], request: NotificationRequest
) -> Fanout:
    """What the rules say. A rule without an enabled channel remembers nothing; one that was deleted is forgotten."""
    existing = {rule.id for rule in audience.rules}
    after = {rule_id: ledger for rule_id, ledger in ledgers.items() if rule_id in existing}
    channels: dict[str, tuple[str, ...]] = {}
    reasons, muted_before = {NotSentReason.NO_RULE}, 0
    for rule in (rule for rule in audience.rules if rule.matches(event)):
        ledger, channel_ids = after.get(rule.id, RuleLedger()), audience.channels_of(rule)
        if not channel_ids:
            reasons.add(NotSentReason.DISABLED if rule.channel_ids else NotSentReason.NO_CHANNEL)
            continue
        if reason := cooldown(rule, ledger, request):
            reasons.add(reason)
            if request.occasion is Occasion.OPENED:
                after[rule.id] = replace(ledger, muted=ledger.muted + 1, muted_episode=request.episode)
            continue
        for channel_id in channel_ids:
            channels[channel_id] = (*channels.get(channel_id, ()), rule.id)
        if sent := [channel_id for channel_id in channel_ids if channel_id not in request.muted]:
            # Where this episode itself was muted until it got worse, it is none of the earlier ones.
            muted_before = max(muted_before, ledger.muted - (ledger.muted_episode == request.episode))
            rows = tuple(request.row_id(channel_id) for channel_id in sent)
            after[rule.id] = RuleLedger(anchor_at=request.at, anchor_rows=rows)
    if channels:
        reasons = {NotSentReason.INHIBITED} if channels.keys() <= set(request.muted) else set()
    not_sent = next((reason for reason in NotSentReason if reason in reasons), None)
    return Fanout(channels=channels, ledgers=after, muted_before=muted_before, not_sent=not_sent)


def cooldown(rule: AlertRule, ledger: RuleLedger, request: NotificationRequest) -> NotSentReason | None:
    """Why the rule's cooldown holds a message back; None when it passes. A severity that was raised passes always.

    An anchor that has reached nobody, or is of a clock that was ahead, does not count. A message at the very end of the
    cooldown passes.
    """
    if request.occasion is Occasion.RAISED or ledger.anchor_at is None or rule.id in request.void:
        return None
    match rule.cooldown_policy:
        case CooldownPolicy.EVERY_OCCURRENCE:
            return None
        case CooldownPolicy.FIRST_OCCURRENCE_ONLY:
            return NotSentReason.FIRST_OCCURRENCE_ONLY
        case CooldownPolicy.AFTER_COOLDOWN:
            over = request.at - ledger.anchor_at >= timedelta(seconds=rule.cooldown_seconds)
            over = over or was_set_back(ledger.anchor_at, request.at)
            return None if over else NotSentReason.COOLDOWN


def reached_nobody(rows: Sequence[Notification | None]) -> bool:
    """Whether all of these messages have ended without being delivered. One that was forgotten counts as delivered."""
    return bool(rows) and all(row is not None and row.status in _NOBODY_REACHED for row in rows)
