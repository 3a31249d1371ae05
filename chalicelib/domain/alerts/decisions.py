"""What becomes of one alert by one report: a step, which is stored in one transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.domain.alerts.alert import Alert, AlertStatus, Resolution
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.cooldown import (
    Audience,
    Fanout,
    NotificationRequest,
    NotSentReason,
    Occasion,
    fan_out,
    reached_nobody,
)
from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.inhibition import CYCLES_AFTER_CAUSE
from chalicelib.domain.alerts.messages import Messages
from chalicelib.domain.alerts.notification import Notification, NotificationStatus
from chalicelib.domain.alerts.track import Track
from chalicelib.domain.alerts.transitions import (
    UNSEEN_READINGS,
    is_late,
    is_raised,
    named_again,
    not_visible,
    observed,
    opened,
    resolved,
    without_expired_silence,
    without_its_task,
)
from chalicelib.domain.monitoring.episodes import Episodes
from chalicelib.kit.ids import new_id

_NEVER_SENT = (NotificationStatus.SUPPRESSED, NotificationStatus.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One alert that a report concerns: the `event` goes on, or it does not (None), or does so out of sight (`hidden`).

    `alert` is the active one as it was listed, which may be out of date, or as it is stored: then `track` is read, too.
    `cause` is the active alert that stands for this one in a storm, `affected` are the alerts that this one stands for.
    `exists`: its resource does exist. `maintenance_id` is the active window that has it in its scope. `reached`:
    there are channels now for what nobody was notified of.
    """

    fingerprint: str
    event: AlertEvent | None
    alert: Alert | None
    track: Track | None = None
    cause: Alert | None = None
    affected: int = 0
    hidden: bool = False
    exists: bool = True
    maintenance_id: str | None = None
    reached: bool = False

    @property
    def maintenance_is_over(self) -> bool:
        """Whether a window has kept back a message, and none does any more."""
        return self.alert is not None and self.alert.maintenance_id is not None and self.maintenance_id is None

    @property
    def may_notify(self) -> bool:
        """Whether more than counting may be due, for which its track has to be read."""
        if self.hidden:
            return False
        if self.alert is None or self.event is None:
            return True
        cause_is_over = self.alert.inhibited_by is not None and self.cause is None
        kept_back = self.alert.was_silenced or self.maintenance_is_over
        return is_raised(self.alert, self.event) or kept_back or cause_is_over or self.reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one transaction stores. An alert or track that is None in `item` is new here; no `track`: it stays."""

    item: Item
    alert: Alert
    track: Track | None = None
    rows: tuple[Notification, ...] = ()

    @property
    def size(self) -> int:
        """Items of a transaction, of which one is for each change in the alert's history: they are in timelines."""
        added = self.alert.added_history(self.item.alert)
        return 1 + (self.track is not None) + len(self.rows) + len(added)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Decides by a report, at the service's `now`. `rows` are notifications of before, by id."""

    episodes: Episodes
    now: datetime
    audience: Audience
    channels: Mapping[str, Channel]
    messages: Messages
    rows: Mapping[str, Notification | None]

    def step(self, item: Item) -> Step | None:
        """What is stored; None when the report comes too late, or says nothing new."""
        if item.alert is None:
            # A report that comes late must not open again what has ended since.
            if item.event is None or (
                item.track and item.track.ended_at and is_late(self.at, item.track.ended_at, self.now)
            ):
                return None
            return self._opened(item, item.event)
        if is_late(self.at, item.alert.watermark, self.now):
            return None
        if item.event is not None:
            return self._observed(item, item.alert, item.event)
        return self._not_named(item, item.alert)

    @property
    def at(self) -> datetime:
        return self.episodes.report.at

    def _opened(self, item: Item, event: AlertEvent) -> Step:
        at = self.at
        track = (item.track or Track(id=event.fingerprint, created_at=at)).began(new_id(), at)
        episode = self.episodes.going_on.get(event.condition_key)
        correlation_id = episode.correlation_id if episode else None
        alert = opened(event, track, self.episodes.report.origin, at, correlation_id)
        return self._notified(item, alert, track, Occasion.OPENED)

    def _observed(self, item: Item, before: Alert, event: AlertEvent) -> Step | None:
        alert = without_expired_silence(before, self.now)
        raised = is_raised(alert, event)
        looked = self.episodes.has_observed(event.condition_key, since=alert.last_seen_at, now=self.now)
        move = observed if looked else named_again
        after = self._after_cause(item, move(alert, event, self.episodes.report.origin, self.at))
        occasion = None
        if after.status is not AlertStatus.SILENCED:
            firing = after.status is AlertStatus.FIRING
            cause_is_over = alert.inhibited_by is not None and after.inhibited_by is None
            if raised:
                occasion = Occasion.RAISED
            elif firing and item.maintenance_is_over:
                occasion = self._after_maintenance(after)
            elif firing and (cause_is_over or self._forgotten_in_silence(after) or item.reached):
                occasion = Occasion.LATE
            # Whether the silence has kept back a message is decided now. Of an acknowledged or a muted alert it is
            # not: it may fire again, or its cause may end.
            if raised or (firing and after.inhibited_by is None):
                after = replace(after, was_silenced=False)
            # The same is true of maintenance. Another window may follow the one that has kept it back.
            if after.maintenance_id is not None:
                after = replace(after, maintenance_id=item.maintenance_id)
        elif item.track is not None and not any(self._sent(after).values()):
            after = replace(after, not_sent=NotSentReason.SILENCED)
        if occasion is None or item.track is None:
            return None if after == before else Step(item=item, alert=after)
        return self._notified(item, after, item.track, occasion)

    def _after_cause(self, item: Item, alert: Alert) -> Alert:
        """The alert with one more cycle since the cause that stood for it is over; free of it after some of them."""
        if alert.inhibited_by is None:
            return alert
        if item.cause is not None:
            return replace(alert, inhibited_by=item.cause.id, inhibited_cycles=0)
        cycles = alert.inhibited_cycles + 1
        over = cycles >= CYCLES_AFTER_CAUSE
        return replace(alert, inhibited_cycles=0 if over else cycles, inhibited_by=None if over else alert.inhibited_by)

    def _after_maintenance(self, alert: Alert) -> Occasion:
        """What a window has kept back: that it got worse, where its beginning was sent before; else its beginning."""
        got_worse = any(self._sent(alert).values()) and alert.severity is alert.max_severity
        return Occasion.RAISED if got_worse else Occasion.LATE

    def _forgotten_in_silence(self, alert: Alert) -> bool:
        """Whether a silence has kept everybody from being notified of this episode (row 11)."""
        return alert.was_silenced and alert.inhibited_by is None and not any(self._sent(alert).values())

    def _sent(self, alert: Alert) -> dict[str, list[str]]:
        """The firing messages of the episode that were sent or still will be, by channel."""
        return {
            channel_id: [row_id for row_id in row_ids if not self._never_sent(row_id)]
            for channel_id, row_ids in alert.sent_rows.items()
        }

    def _never_sent(self, row_id: str) -> bool:
        row = self.rows.get(row_id)
        return row is not None and row.status in _NEVER_SENT

    def _not_named(self, item: Item, alert: Alert) -> Step | None:
        event = alert.event
        if item.hidden:
            after = not_visible(alert, self.at)
            return None if after is alert else Step(item=item, alert=after)
        if not item.exists:
            return self._resolved(item, alert, Resolution.ENTITY_REMOVED)
        tasks = self.episodes.report.tasks.get(event.connector_name or "")
        if event.task_id is not None and tasks is not None and event.task_id not in tasks:
            if alert.unseen + 1 < UNSEEN_READINGS:
                return Step(item=item, alert=without_its_task(alert, self.at))
            return self._resolved(item, alert, Resolution.ENTITY_REMOVED)
        return self._resolved(item, alert, Resolution.RECOVERED)

    def _resolved(self, item: Item, before: Alert, resolution: Resolution) -> Step:
        at, alert = self.at, without_expired_silence(before, self.now)
        track = (item.track or Track(id=alert.fingerprint, episode=alert.episode, created_at=at)).ended(at)
        after = resolved(alert, track, at, resolution, self.now)
        rows = () if alert.status is AlertStatus.SILENCED else tuple(self._recoveries(after))
        return Step(item=item, alert=after, track=track, rows=rows)

    def _recoveries(self, alert: Alert) -> Iterable[Notification]:
        """One for each channel that a firing message went to, if its rules and it are still there and enabled."""
        rules = {rule.id for rule in self.audience.rules if rule.enabled and rule.send_recovery}
        for channel_id, sent in self._sent(alert).items():
            channel = self.channels.get(channel_id)
            rule_ids = tuple(rule_id for rule_id in alert.sent_to.get(channel_id, ()) if rule_id in rules)
            if channel and rule_ids and sent:
                after_id = sent[-1] if self.rows.get(sent[-1]) else None  # forgotten: it has ended long ago
                yield self.messages.resolved(alert, channel, rule_ids, after_id)

    def _notified(self, item: Item, alert: Alert, track: Track, occasion: Occasion) -> Step:
        """The step with the rows that the rules want. In maintenance no rule is evaluated."""
        if item.maintenance_id is not None:
            not_sent = None if any(self._sent(alert).values()) else NotSentReason.MAINTENANCE
            kept = replace(alert, maintenance_id=item.maintenance_id, not_sent=not_sent)
            return Step(item=item, alert=kept, track=track)
        muted = self.audience.reached_by(item.cause.event) if item.cause else frozenset()
        request = NotificationRequest(
            occasion=occasion,
            alert_id=alert.id,
            episode=alert.episode,
            sequence=alert.sequence + 1,
            at=self.at,
            muted=muted,
            void=frozenset(self._void(track)),
        )
        audience = self._not_yet_reached(alert) if occasion is Occasion.LATE else self.audience
        fanned = fan_out(alert.event, audience, track.rules, request)
        after = _with_sent(alert, fanned, request, item.cause) if fanned.channels else alert
        after = replace(after, not_sent=None if any(self._sent(after).values()) else fanned.not_sent)
        rows = tuple(
            self.messages.firing(
                after, self.channels[channel_id], rule_ids, inhibited=channel_id in muted, affected=item.affected
            )
            for channel_id, rule_ids in fanned.channels.items()
        )
        return Step(item=item, alert=after, track=replace(track, rules=fanned.ledgers), rows=rows)

    def _not_yet_reached(self, alert: Alert) -> Audience:
        reached = {channel_id for channel_id, sent in self._sent(alert).items() if sent}
        return replace(self.audience, channel_ids=self.audience.channel_ids - reached)

    def _void(self, track: Track) -> Iterable[str]:
        for rule_id, ledger in track.rules.items():
            if reached_nobody([self.rows.get(row_id) for row_id in ledger.anchor_rows]):
                yield rule_id


def _with_sent(alert: Alert, fanned: Fanout, request: NotificationRequest, cause: Alert | None) -> Alert:
    """The alert after this message. What was muted is not sent: its recovery is silent."""
    sent = {channel_id: rules for channel_id, rules in fanned.channels.items() if channel_id not in request.muted}
    sent_to, sent_rows = dict(alert.sent_to), dict(alert.sent_rows)
    for channel_id, rules in sent.items():
        sent_to[channel_id] = tuple(dict.fromkeys((*sent_to.get(channel_id, ()), *rules)))
        sent_rows[channel_id] = (*sent_rows.get(channel_id, ()), request.row_id(channel_id))
    return replace(
        alert,
        sequence=request.sequence,
        sent_to=sent_to,
        sent_rows=sent_rows,
        muted_before=fanned.muted_before,
        inhibited_by=cause.id if cause and len(sent) < len(fanned.channels) else None,
    )
