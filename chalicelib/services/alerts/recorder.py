"""Stores what one report changes about alerts: reads in batches, decides, and writes in bounded transactions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.cooldown import Audience
from chalicelib.domain.alerts.decisions import Decisions, Item, Step
from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.maintenance import MaintenanceWindow, covering
from chalicelib.domain.alerts.messages import Messages
from chalicelib.domain.alerts.notification import Notification
from chalicelib.domain.monitoring.episodes import Episodes
from chalicelib.domain.timeline.event import alert_events
from chalicelib.errors import StoreRefused, UnreadableRow, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import get_logger
from chalicelib.services.alerts.event_names import EventNames
from chalicelib.stores.alerts.counters import AlertCounters
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import Readable, batch_results
from chalicelib.stores.timeline import Timeline
from chalicelib.stores.transaction import Transaction

_PER_READ = 99
"""Items that are read at once: as many as are only counted in one transaction."""

_PER_TRANSACTION = 99
"""Of the hundred of a transaction; the last one is for the numbers."""

_ATTEMPTS = 4
"""The first two write many alerts at once, the others one by one: an alert that conflicts then holds up only itself."""


@dataclass(kw_only=True)
class Recorder:
    """Of one report. `windows` reads the active maintenance windows, `names` the resources of the report's alerts.
    `recorded` are the alerts that were stored, by fingerprint; `queued` channels with new rows.
    """

    stores: AlertStores
    timeline: Timeline
    windows: Callable[[], Sequence[MaintenanceWindow]]
    names: EventNames
    episodes: Episodes
    now: datetime
    public_url: str | None
    deadline: Deadline
    recorded: dict[str, Alert] = field(default_factory=dict)
    queued: set[str] = field(default_factory=set)

    def record(self, items: Sequence[Item]) -> bool:
        """Whether all were recorded. The first 99 are tried even after the deadline, the others only before it.
        Raises StoreUnavailable.
        """
        complete = True
        for start in range(0, len(items), _PER_READ):
            # Listing thousands of alerts may take all of the time: a report that then stores nothing would never end.
            even_late = start == 0
            if self.deadline.passed and not even_late:
                return False
            complete = self._record(items[start : start + _PER_READ], attempt=1, even_late=even_late) and complete
        return complete

    def _record(self, items: Sequence[Item], *, attempt: int, even_late: bool) -> bool:
        complete = True
        for steps in _packed(self._steps(items, listed=attempt == 1)):
            if self.deadline.passed and not even_late:
                return False
            try:
                self._store(steps)
            except (WriteConflict, StoreRefused) as error:
                again = self._repeat([step.item for step in steps], error, attempt=attempt, even_late=even_late)
                complete = again and complete
        return complete

    def _repeat(self, items: Sequence[Item], error: Exception, *, attempt: int, even_late: bool) -> bool:
        """Once more, by what is stored now: an operator, or another report, was faster; or one row is too large."""
        if attempt == _ATTEMPTS:
            origin, fingerprint = self.episodes.report.origin, items[0].fingerprint
            extra = {"origin": origin, "fingerprint": fingerprint, "reason": type(error).__name__}
            get_logger().warning("an alert was not recorded", extra=extra)
            return False
        parts = [items] if attempt == 1 else [[item] for item in items]
        recorded = [self._record(part, attempt=attempt + 1, even_late=even_late) for part in parts]
        return all(recorded)

    def _steps(self, items: Sequence[Item], *, listed: bool) -> list[Step]:
        items = self._as_stored(self._in_maintenance(items, listed=listed), listed=listed)
        notifies = any(item.track is not None or item.alert is None for item in items)
        decisions = Decisions(
            episodes=self.episodes,
            now=self.now,
            audience=self.audience if notifies else Audience(rules=(), channel_ids=frozenset()),
            channels=self._channels if notifies else {},
            messages=Messages(public_url=self.public_url, at=self.episodes.report.at, now=self.now),
            rows=self._rows(items),
        )
        return [step for item in items if (step := decisions.step(item))]

    def _in_maintenance(self, items: Sequence[Item], *, listed: bool) -> list[Item]:
        """The items with the window that each is in. Windows are read once, and only for what may be sent."""
        events = [item.event for item in items if item.event and (item.may_notify or not listed)]
        windows = self._windows if events else ()
        if any(window.scope.labels for window in windows):
            self.names.read(resource for event in events for resource in event.resources)

        def window_id(event: AlertEvent | None) -> str | None:
            window = covering(windows, event, self.names.labels) if event else None
            return window.id if window else None

        return [replace(item, maintenance_id=window_id(item.event)) for item in items] if windows else list(items)

    def _as_stored(self, items: Sequence[Item], *, listed: bool) -> list[Item]:
        # What was listed is believed where the alert is only counted: if it is out of date, it cannot be written.
        read = dict.fromkeys(item.fingerprint for item in items if item.may_notify or not listed)
        tracks, lost = _by_id(self.stores.tracks, read)
        known = {item.alert.id: item.alert for item in items if item.alert and listed}
        active = [track.alert_id for track in tracks.values() if track.alert_id]
        others, lost_alerts = _by_id(self.stores.alerts, (alert_id for alert_id in active if alert_id not in known))
        known |= others
        # An alert that cannot be read stays as it is: a second one about the same would be one message too many.
        lost |= {fingerprint for fingerprint, track in tracks.items() if track.alert_id in lost_alerts}

        def stored(item: Item) -> Item:
            track = tracks.get(item.fingerprint)
            return replace(item, track=track, alert=known.get(track.alert_id) if track and track.alert_id else None)

        readable = (item for item in items if item.fingerprint not in lost)
        return [stored(item) if item.fingerprint in read else item for item in readable]

    def _rows(self, items: Sequence[Item]) -> dict[str, Notification]:
        """The earlier notifications on which the decisions depend."""
        row_ids: list[str] = []
        for item in items:
            if item.track and item.event:
                row_ids += (row_id for ledger in item.track.rules.values() for row_id in ledger.anchor_rows)
            if item.track and item.alert:
                row_ids += (row_id for sent in item.alert.sent_rows.values() for row_id in sent)
        return _by_id(self.stores.notifications, row_ids)[0]

    def _store(self, steps: Sequence[Step]) -> None:
        transaction, stored, stores = Transaction(), [], self.stores
        for step in steps:
            if step.item.alert is None:
                stored.append(stores.alerts.put_new(transaction, step.alert))
                AlertCounters.alert_opened(transaction, step.alert.severity, step.alert.kind)
            else:
                stored.append(stores.alerts.save(transaction, step.alert))
            if step.track and step.item.track:
                stores.tracks.save(transaction, step.track)
            elif step.track:
                stores.tracks.put_new(transaction, step.track)
            for row in step.rows:
                stores.notifications.put_new(transaction, row)
            self.timeline.add(transaction, *alert_events(step.item.alert, step.alert))
        transaction.commit()
        self.recorded.update({alert.fingerprint: alert for alert in stored})
        self.queued.update(row.channel_id for step in steps for row in step.rows if row.status.is_open)

    @cached_property
    def _windows(self) -> Sequence[MaintenanceWindow]:
        return self.windows()

    @cached_property
    def _channels(self) -> dict[str, Channel]:
        return {channel.id: channel for channel in self.stores.channels.all() if channel.enabled}

    @cached_property
    def audience(self) -> Audience:
        """Who may be notified: two reads, once for a report."""
        return Audience(rules=tuple(self.stores.rules.all()), channel_ids=frozenset(self._channels))


def _by_id(store: Readable, ids: Iterable[str]) -> tuple[dict[str, Any], set[str]]:
    """The entities that exist, and the ids of those that cannot be read."""
    results = batch_results(*((store, entity_id) for entity_id in dict.fromkeys(ids)))
    lost = {result.row_id for result in results if isinstance(result, UnreadableRow)}
    found = (result for result in results if result is not None and not isinstance(result, UnreadableRow))
    return {entity.id: entity for entity in found}, lost


def _packed(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """The steps in their order, as many at once as a transaction may have."""
    packed: list[Step] = []
    for step in steps:
        if packed and sum(other.size for other in packed) + step.size > _PER_TRANSACTION:
            yield packed
            packed = []
        packed.append(step)
    if packed:
        yield packed
