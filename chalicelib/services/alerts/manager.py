"""The alert manager: follows what goes on, and queues the messages that follow from it.

Reports come twice, late, or not at all; processes die between any two calls. Every alert has one row that is written
conditionally and knows the newest report that was applied, so each report counts once, and the next one does what an
earlier one has left.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.cooldown import WITHOUT_CHANNELS
from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.inhibition import related, sent_before, storms
from chalicelib.domain.alerts.maintenance import MaintenanceWindow
from chalicelib.domain.alerts.naming import worst_by_fingerprint
from chalicelib.domain.alerts.plan import AlertPlan
from chalicelib.domain.alerts.transitions import without_expired_silence
from chalicelib.domain.monitoring.episodes import Episodes, Sight
from chalicelib.domain.timeline.event import alert_events
from chalicelib.errors import HeadgateError, TimedOut, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.services.alerts.event_names import EventNames
from chalicelib.services.alerts.recorder import Recorder
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import batch_find_readable
from chalicelib.stores.timeline import Timeline
from chalicelib.stores.transaction import Transaction

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertManager:
    """`wake` sends a worker to a channel, by its id. `public_url` is where people reach this Headgate, if known.

    `names` makes what reads the resources of one report. `windows` reads the active maintenance windows.
    """

    stores: AlertStores
    timeline: Timeline
    windows: Callable[[], Sequence[MaintenanceWindow]]
    names: Callable[[], EventNames]
    wake: Callable[[str], None]
    public_url: str | None
    clock: Clock

    def active(self, origin: str) -> Sequence[Alert]:
        """The active alerts of an origin, of which there may be thousands. Raises StoreUnavailable."""
        return list(self.stores.alerts.active_of(origin))

    def follow(self, episodes: Episodes, listed: Sequence[Alert], deadline: Deadline) -> bool:
        """Bring the alerts of an origin to what goes on there. `listed` were active before that was read: one that is
        newer is not touched. Whether everything was recorded; otherwise the next report goes on. Raises
        StoreUnavailable.

        Causes of storms come first, then what is new, what is over, what may be sent, and last what is only counted:
        for that alone no report is repeated, and the next one begins with what was not counted for longest.
        """
        active = {alert.fingerprint: alert for alert in listed}
        names = self.names()
        recorder = Recorder(
            stores=self.stores,
            timeline=self.timeline,
            windows=self.windows,
            names=names,
            episodes=episodes,
            now=self.clock(),
            public_url=self.public_url,
            deadline=deadline,
        )
        plan = self._plan(recorder, active, names)
        try:
            # Each part needs the alerts of the one before: the widest causes, the causes that they mute, the rest.
            *first, counted = plan.parts()
            recorded = [recorder.record(plan.items(part, recorder.recorded)) for part in first]
            recorded.append(recorder.record(plan.items(counted, recorder.recorded)) or deadline.passed)
        finally:
            # Also after a failure: what was queued before it has to be sent.
            self._wake(recorder.queued)
        return all(recorded)

    def expire_silences(self, deadline: Deadline) -> int:
        """End the silences whose time is over (row 10); how many. What they kept back follows with the next reports."""
        ended = 0
        for alert in self.stores.alerts.silenced():
            if deadline.passed:
                break
            if alert.status_at(self.clock()) is not alert.status:
                ended += self._end_silence(alert.id)
        return ended

    def _plan(self, recorder: Recorder, active: Mapping[str, Alert], names: EventNames) -> AlertPlan:
        episodes = recorder.episodes
        named = _named(episodes, active, names)
        unnamed = {fingerprint: alert for fingerprint, alert in active.items() if fingerprint not in named}
        hidden = {
            fingerprint: alert
            for fingerprint, alert in unnamed.items()
            if episodes.may_go_on(alert.event.condition_key)
        }
        new = [event for fingerprint, event in named.items() if fingerprint not in active]
        elsewhere = self._elsewhere(new, active, recorder.deadline)
        known = {**elsewhere, **active}
        causes = [*named.values(), *(alert.event for alert in (*hidden.values(), *elsewhere.values()))]
        over = {alert.event.resource: None for fingerprint, alert in unnamed.items() if fingerprint not in hidden}
        return AlertPlan(
            named=named,
            active=active,
            hidden=hidden.keys(),
            known=known,
            causes=self._stated_causes(known, named),
            storms=storms(tuple(named.values()), causes),
            existing=names.existing(list(over)),
            sent_before=sent_before(new, known.values()) if new else {},
            reached=_reached(recorder, named, active),
        )

    def _elsewhere(
        self, new: Sequence[AlertEvent], active: Mapping[str, Alert], deadline: Deadline
    ) -> dict[str, Alert]:
        """Active alerts of other origins, by fingerprint, that may be causes or consequences of what is new. Without
        time for them none are known: then each has a message of its own.
        """
        if not new:
            return {}
        own = {alert.id for alert in active.values()}
        try:
            others = [one for one in self.stores.alerts.facets(deadline, only_active=True) if one.id not in own]
        except TimedOut:
            return {}
        alerts = self.stores.alerts.with_ids(related(new, others))
        return {alert.fingerprint: alert for alert in alerts if alert.is_active}

    def _stated_causes(self, known: Mapping[str, Alert], named: Mapping[str, AlertEvent]) -> dict[str, Alert]:
        """The active alerts, by id, that stand for named ones since an earlier report."""
        by_id = {alert.id: alert for alert in known.values()}
        stated = {alert.inhibited_by for alert in known.values() if alert.fingerprint in named and alert.inhibited_by}
        elsewhere = batch_find_readable(*((self.stores.alerts, cause_id) for cause_id in stated - by_id.keys()))
        by_id |= {alert.id: alert for alert in elsewhere if alert and alert.is_active}
        return {cause_id: by_id[cause_id] for cause_id in stated & by_id.keys()}

    def _end_silence(self, alert_id: str) -> int:
        for _ in range(_ATTEMPTS):
            alert = self.stores.alerts.find(alert_id)
            if alert is None or not alert.is_active:
                return 0
            after = without_expired_silence(alert, self.clock())
            if after is alert:
                return 0
            with suppress(WriteConflict):  # an operator, or a report, was faster
                self._save(alert, after)
                return 1
        return 0

    def _save(self, before: Alert, after: Alert) -> None:
        with Transaction() as transaction:
            self.stores.alerts.save(transaction, after)
            self.timeline.add(transaction, *alert_events(before, after))

    def _wake(self, channel_ids: Iterable[str]) -> None:
        for channel_id in sorted(channel_ids):
            try:
                self.wake(channel_id)
            except HeadgateError as error:  # the schedule wakes it within a minute
                extra = {"channel_id": channel_id, "failure": failure(error)}
                get_logger().warning("the worker of a channel was not woken", extra=extra)


def _reached(recorder: Recorder, named: Mapping[str, AlertEvent], active: Mapping[str, Alert]) -> frozenset[str]:
    """The fingerprints of the alerts that nobody was notified of for lack of a channel, and that have one now."""
    untold = [
        fingerprint
        for fingerprint, alert in active.items()
        if alert.status is AlertStatus.FIRING and alert.not_sent in WITHOUT_CHANNELS and fingerprint in named
    ]
    # Rules and channels are read only where there are such alerts.
    return frozenset(fingerprint for fingerprint in untold if recorder.audience.reached_by(named[fingerprint]))


def _named(episodes: Episodes, active: Mapping[str, Alert], names: EventNames) -> dict[str, AlertEvent]:
    """What goes on and is not out of sight, by fingerprint: of an alert that is active nothing has to be read."""
    known = {alert.event.condition_key: alert.event for alert in active.values()}
    visible = [episode.condition for episode in episodes.going_on.values() if episode.sight is not Sight.HIDDEN]
    again = [known[condition.key].repeated(condition) for condition in visible if condition.key in known]
    new = names.events([condition for condition in visible if condition.key not in known])
    return worst_by_fingerprint([*again, *new])
