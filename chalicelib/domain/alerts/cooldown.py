"""Which channels get a firing message: the rules that match, and what their cooldowns allow.

The table is section 3 of the alerting contract. An occurrence is one episode, from the first observation to the
recovery; observations in between send nothing. Times are those of the reports, so a boundary is exact.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.notification import MessageKind, Notification, NotificationStatus, notification_id
from chalicelib.domain.alerts.rule import AlertRule, CooldownPolicy
from chalicelib.domain.alerts.track import RuleLedger

_NOBODY_REACHED = (NotificationStatus.FAILED, NotificationStatus.SUPPRESSED, NotificationStatus.CANCELLED)


class Occasion(Enum):
    """Why rules are asked: an episode begins, it got worse than ever, or nobody was notified of it until now."""

    OPENED = auto()
    RAISED = auto()
    LATE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who may be notified now: the rules of the installation and the channels that are enabled."""

    rules: Sequence[AlertRule]
    channel_ids: frozenset[str]

    def channels_of(self, rule: AlertRule) -> tuple[str, ...]:
        """The enabled channels of a rule."""
        return tuple(channel_id for channel_id in rule.channel_ids if channel_id in self.channel_ids)

    def reached_by(self, event: AlertEvent) -> frozenset[str]:
        """The channels of all rules that match."""
        return frozenset(one for rule in self.rules if rule.matches(event) for one in self.channels_of(rule))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the rules are asked about: message number `sequence` of an alert, at a time.

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
        """The id of the message to this channel."""
        return notification_id(self.alert_id, MessageKind.FIRING, self.sequence, channel_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fanout:
    """The channels that get a message, each with the rules that want it, and what the rules remember after it.

    `muted_before` are earlier episodes that a cooldown has muted.
    """

    channels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ledgers: Mapping[str, RuleLedger]
    muted_before: int = 0


def fan_out(event: AlertEvent, audience: Audience, ledgers: Mapping[str, RuleLedger], asked: Asked) -> Fanout:
    """What the rules say. A rule without an enabled channel remembers nothing; one that was deleted is forgotten."""
    existing = {rule.id for rule in audience.rules}
    after = {rule_id: ledger for rule_id, ledger in ledgers.items() if rule_id in existing}
    channels: dict[str, tuple[str, ...]] = {}
    muted_before = 0
    for rule in audience.rules:
        ledger, channel_ids = after.get(rule.id, RuleLedger()), audience.channels_of(rule)
        if not rule.matches(event) or not channel_ids:
            continue
        if not allows(rule, ledger, asked):
            if asked.occasion is Occasion.OPENED:
                after[rule.id] = replace(ledger, muted=ledger.muted + 1, muted_episode=asked.episode)
            continue
        for channel_id in channel_ids:
            channels[channel_id] = (*channels.get(channel_id, ()), rule.id)
        if sent := [channel_id for channel_id in channel_ids if channel_id not in asked.muted]:
            muted_before = max(muted_before, ledger.muted - (ledger.muted_episode == asked.episode))
            rows = tuple(asked.row_id(channel_id) for channel_id in sent)
            after[rule.id] = RuleLedger(anchor_at=asked.at, anchor_rows=rows)
    return Fanout(channels=channels, ledgers=after, muted_before=muted_before)


def allows(rule: AlertRule, ledger: RuleLedger, asked: Asked) -> bool:
    """Whether the rule's cooldown lets a message pass. A severity that was raised passes always.

    An anchor that has reached nobody does not count; a message at the very end of the cooldown passes.
    """
    if asked.occasion is Occasion.RAISED or ledger.anchor_at is None or rule.id in asked.void:
        return True
    match rule.cooldown_policy:
        case CooldownPolicy.EVERY_OCCURRENCE:
            return True
        case CooldownPolicy.FIRST_OCCURRENCE_ONLY:
            return False
        case CooldownPolicy.AFTER_COOLDOWN:
            return asked.at - ledger.anchor_at >= timedelta(seconds=rule.cooldown_seconds)


def reached_nobody(rows: Sequence[Notification | None]) -> bool:
    """Whether all of these messages have ended without being delivered. One that was forgotten counts as delivered."""
    return bool(rows) and all(row is not None and row.status in _NOBODY_REACHED for row in rows)
