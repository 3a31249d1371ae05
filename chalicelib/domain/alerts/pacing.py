"""How fast messages of a channel are sent, and what holds them back. Paces come before attempts: they use up none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.domain.alerts.notification import RETRY_AFTER, Notification, NotificationStatus

OUTAGE_AFTER = 5
"""So many failed attempts in a row are an outage of the provider: then one message a minute is tried."""

PROBE_EVERY = timedelta(minutes=1)
MAX_RETRY_AFTER = timedelta(hours=1)
MAX_SINGLE_MESSAGES = 500
"""Messages about one alert that a rule may send to a chat in an hour; beyond that it sends digests only."""

OVERDUE_AFTER = timedelta(minutes=5)
_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a provider takes messages: `per_second` on average, `burst` at once, `per_minute` at most.

    `digests`: one message may be about many alerts.
    """

    per_second: float
    burst: int
    per_minute: int | None = None
    digests: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelGate:
    """What holds messages of a channel (`id`) back. One worker at a time sends to a channel: until `lease_until` it is
    the one with this `claim`.

    Before `not_before` nothing is sent. `tokens` at `tokens_at` are what the pace allows at once; `sent_times` are the
    newest sends, where the pace has a limit per minute. `failures` counts failed attempts in a row. `last_status` and
    `last_at` are how the newest message ended. `singles` counts, by rule, the messages about one alert since
    `singles_since`.
    """

    id: str
    claim: str | None = None
    lease_until: datetime | None = None
    not_before: datetime | None = None
    tokens: float = 0
    tokens_at: datetime | None = None
    sent_times: tuple[datetime, ...] = ()
    failures: int = 0
    last_status: NotificationStatus | None = None
    last_at: datetime | None = None
    singles: Mapping[str, int] = field(default_factory=dict)
    singles_since: datetime | None = None
    revision: int = 1
    created_at: datetime

    @property
    def is_probing(self) -> bool:
        """Whether the provider seems to be down, so that messages are only tried."""
        return self.failures >= OUTAGE_AFTER


def opens_at(gate: ChannelGate, pace: Pace, now: datetime) -> datetime:
    """When the next message may be sent: `now`, or later."""
    times = [now, gate.not_before or now]
    if (missing := 1 - _tokens(gate, pace, now)) > 0:
        times.append(now + timedelta(seconds=missing / pace.per_second))
    # The limit is of any minute, not of one by the clock: the oldest of so many sends has to be a minute ago.
    if pace.per_minute and len(gate.sent_times) >= pace.per_minute:
        times.append(gate.sent_times[-pace.per_minute] + _MINUTE)
    return max(times)


def spent(gate: ChannelGate, pace: Pace, now: datetime, singles: Iterable[str] = ()) -> ChannelGate:
    """A message is about to be sent. `singles` are the rules behind it, if it is about one alert."""
    counts, since = dict(gate.singles), gate.singles_since
    if since is None or since <= now - _HOUR:
        counts, since = {}, now
    for rule_id in singles:
        counts[rule_id] = counts.get(rule_id, 0) + 1
    tokens = max(0.0, _tokens(gate, pace, now) - 1)
    times = (*gate.sent_times, now)[-pace.per_minute :] if pace.per_minute else ()
    return replace(gate, tokens=tokens, tokens_at=now, sent_times=times, singles=counts, singles_since=since)


def answered(gate: ChannelGate, status: NotificationStatus, now: datetime) -> ChannelGate:
    """The provider has answered, so it is not down. `status`: how the message has ended."""
    return replace(_arrived(gate, now), failures=0, not_before=None, last_status=status, last_at=now)


def failed(gate: ChannelGate, now: datetime, *, has_ended: bool = False) -> ChannelGate:
    """The attempt has failed for a while, or nobody knows. `has_ended`: it was the message's last one."""
    failures = gate.failures + 1
    # Below the threshold, a pause for which the provider has asked stays.
    pause = now + PROBE_EVERY if failures >= OUTAGE_AFTER else gate.not_before
    after = replace(_arrived(gate, now), failures=failures, not_before=pause)
    return replace(after, last_status=NotificationStatus.FAILED, last_at=now) if has_ended else after


def limited(gate: ChannelGate, retry_after: timedelta | None, now: datetime) -> ChannelGate:
    """The provider asks to wait before the next message of this channel."""
    not_before = now + limit_pause(gate.failures, retry_after)
    return replace(_arrived(gate, now), failures=gate.failures + 1, not_before=not_before)


def limit_pause(failures: int, retry_after: timedelta | None) -> timedelta:
    """How long nothing is sent after a 429: as long as the provider says, at least 5 s, 30 s, then 2 min."""
    step = RETRY_AFTER[min(failures, len(RETRY_AFTER) - 1)]
    return max(step, min(retry_after or step, MAX_RETRY_AFTER))


def is_over_the_ceiling(gate: ChannelGate, rule_ids: Iterable[str], now: datetime) -> bool:
    """Whether one of the rules has sent its messages of this hour, so that it sends digests only."""
    if gate.singles_since is None or gate.singles_since <= now - _HOUR:
        return False
    return any(gate.singles.get(rule_id, 0) >= MAX_SINGLE_MESSAGES for rule_id in rule_ids)


def is_overdue(rows: Iterable[Notification], gate: ChannelGate, now: datetime) -> bool:
    """Whether open notifications of a channel should have been tried long ago, and no worker has done it."""
    tried = max(gate.tokens_at or gate.created_at, gate.not_before or gate.created_at)
    due = [max(row.next_attempt_at, row.lease_until or row.next_attempt_at, tried) for row in rows]
    return bool(due) and max(due) <= now - OVERDUE_AFTER


def _tokens(gate: ChannelGate, pace: Pace, now: datetime) -> float:
    if gate.tokens_at is None:
        return pace.burst
    earned = max(0.0, (now - gate.tokens_at).total_seconds()) * pace.per_second
    return min(float(pace.burst), gate.tokens + earned)


def _arrived(gate: ChannelGate, now: datetime) -> ChannelGate:
    """The provider counts a message when it arrives, at the latest now: so the minute of its limit begins now."""
    return replace(gate, sent_times=(*gate.sent_times[:-1], now)) if gate.sent_times else gate
