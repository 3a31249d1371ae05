"""The alert manager: compares what a monitor reports with the active alerts, and queues the messages that follow.

Reports come twice, late, or not at all; processes die between any two calls. Every alert has one row that is written
conditionally and knows the newest report that was applied, so each report counts once, and the next one makes good what
an earlier one has left.
"""

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from chalicelib.alerting.decisions import Item
from chalicelib.alerting.event_names import EventNames, Resource, repeated
from chalicelib.alerting.recorder import AlertStores, Recorder
from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.event import AlertEvent, MonitorReport
from chalicelib.domain.alerts.inhibition import Storms, sources_in_question, storms
from chalicelib.domain.alerts.transitions import without_expired_silence
from chalicelib.domain.monitoring.incident import Condition, origin_of
from chalicelib.errors import HeadgateError, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.stores.documents import find_together
from chalicelib.stores.monitoring.incidents import claim_of

_ATTEMPTS = 3

_PER_CALL = 100
"""Resources that one call reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertManager:
    """`wake` sends a worker to a channel, by its id. `public_url` is where people reach this Headgate, if known.

    `names` makes what reads the resources of one report.
    """

    stores: AlertStores
    names: Callable[[], EventNames]
    wake: Callable[[str], None]
    public_url: str | None
    clock: Clock

    def receive(self, report: MonitorReport, deadline: Deadline) -> bool:
        """Apply a report. Whether everything was recorded; otherwise the next report goes on. Raises StoreUnavailable.

        Causes of storms come first, then what is new, what is over, what may be sent, and last what is only counted:
        for that alone no report is repeated, and the next one begins with what was not counted for longest.
        """
        active = {alert.fingerprint: alert for alert in self.stores.alerts.active_of(report.origin)}
        names = self.names()
        comparison = self._comparison(report, active, names)
        recorder = Recorder(
            stores=self.stores, report=report, now=self.clock(), public_url=self.public_url, deadline=deadline
        )
        try:
            # Each part needs the alerts of the one before: the widest causes, the causes that they mute, the rest.
            *first, counted = comparison.parts()
            recorded = [recorder.record(comparison.items(part, recorder.recorded)) for part in first]
            recorded.append(recorder.record(comparison.items(counted, recorder.recorded)) or deadline.passed)
        finally:
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

    def _comparison(self, report: MonitorReport, active: Mapping[str, Alert], names: EventNames) -> "_Comparison":
        named = _named(report.conditions, active, names)
        named |= self._lasting([alert for alert in active.values() if alert.fingerprint not in named])
        outside = {
            alert.fingerprint: alert
            for source_id in sources_in_question(named.values())
            for alert in self.stores.alerts.active_of(origin_of("source", source_id))
        }
        # What a complete report does not name is over, and causes nothing any more.
        unseen = () if report.complete else [alert for alert in active.values() if alert.fingerprint not in named]
        causes = [*named.values(), *(alert.event for alert in (*unseen, *outside.values()))]
        over = list({alert.event.resource: None for alert in active.values() if alert.fingerprint not in named})
        return _Comparison(
            named=named,
            active=active,
            known={**outside, **active},
            causes=self._stated_causes({**outside, **active}, named),
            storms=storms(tuple(named.values()), causes),
            existing=names.existing(over) if report.complete else _not_removed(over, names),
        )

    def _lasting(self, unnamed: Sequence[Alert]) -> dict[str, AlertEvent]:
        """What connectors have lost, by fingerprint: no monitor sees it any more, and it is over with its incident."""
        lost = [alert for alert in unnamed if alert.event.is_lasting]
        current = self.stores.claims.holders([claim_of(alert.event.condition_key) for alert in lost]) if lost else {}
        return {alert.fingerprint: alert.event for alert in lost if claim_of(alert.event.condition_key) in current}

    def _stated_causes(self, known: Mapping[str, Alert], named: Mapping[str, AlertEvent]) -> dict[str, Alert]:
        """The active alerts, by id, that stand for named ones since an earlier report."""
        by_id = {alert.id: alert for alert in known.values()}
        stated = {alert.inhibited_by for alert in known.values() if alert.fingerprint in named and alert.inhibited_by}
        elsewhere = find_together(*((self.stores.alerts, cause_id) for cause_id in stated - by_id.keys()))
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
                self.stores.alerts.save_alone(after)
                return 1
        return 0

    def _wake(self, channel_ids: Iterable[str]) -> None:
        for channel_id in sorted(channel_ids):
            try:
                self.wake(channel_id)
            except HeadgateError as error:  # the schedule wakes it within a minute
                extra = {"channel_id": channel_id, "failure": failure(error)}
                get_logger().warning("the worker of a channel was not woken", extra=extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """What a report names (`named`) beside what is `active`, by fingerprint.

    `known` are also alerts of other origins that may be causes; `causes` those that stand for others already, by id.
    """

    named: Mapping[str, AlertEvent]
    active: Mapping[str, Alert]
    known: Mapping[str, Alert]
    causes: Mapping[str, Alert]
    storms: Storms
    existing: Collection[Resource]

    def parts(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """All fingerprints, each part in its order: the causes of storms that nothing mutes, the other causes, what
        changes, and what is only counted.
        """
        causes = [fingerprint for fingerprint in self.storms.affected if fingerprint in self.named]
        muted = [fingerprint for fingerprint in causes if fingerprint in self.storms.cause_of]
        rest = {*self.named, *self.active}.difference(causes)
        counted = [one for one in rest if not self._item(one, {}).may_notify]
        changed = sorted(rest.difference(counted), key=self._order)
        counted.sort(key=lambda one: (self.active[one].last_seen_at, one))
        return [one for one in causes if one not in self.storms.cause_of], muted, changed, counted

    def items(self, fingerprints: Sequence[str], recorded: Mapping[str, Alert]) -> list[Item]:
        """Their items; `recorded` are the alerts that this report has changed."""
        return [self._item(one, recorded) for one in fingerprints]

    def _item(self, fingerprint: str, recorded: Mapping[str, Alert]) -> Item:
        alert, cause_fingerprint = self.active.get(fingerprint), self.storms.cause_of.get(fingerprint, "")
        cause = recorded.get(cause_fingerprint) or self.known.get(cause_fingerprint)
        if cause is None and alert and alert.inhibited_by:
            cause = self.causes.get(alert.inhibited_by)
        return Item(
            fingerprint=fingerprint,
            event=self.named.get(fingerprint),
            alert=alert,
            cause=cause,
            affected=self.storms.affected.get(fingerprint, 0),
            exists=alert is None or alert.event.resource in self.existing,
        )

    def _order(self, fingerprint: str) -> tuple[int, int, str]:
        event, alert = self.named.get(fingerprint), self.active.get(fingerprint)
        if event is None:
            return 1, alert.severity.rank if alert else 0, fingerprint
        return 2 if alert else 0, event.severity.rank, fingerprint


def _not_removed(resources: Sequence[Resource], names: EventNames) -> frozenset[Resource]:
    """These but for those that were deleted, as far as one call tells: reports that cannot see everything come again
    and again, and what one has not asked about, a later one does.
    """
    asked = random.sample(resources, min(len(resources), _PER_CALL))
    return frozenset(resources).difference(asked) | names.existing(asked)


def _named(conditions: Sequence[Condition], active: Mapping[str, Alert], names: EventNames) -> dict[str, AlertEvent]:
    """What a report names, by fingerprint: of several conditions with one fingerprint the worst, else the known one."""
    known = {alert.event.condition_key: alert.event for alert in active.values()}
    again = [repeated(known[one.key], one) for one in conditions if one.key in known]
    new = names.events([one for one in conditions if one.key not in known])
    named: dict[str, AlertEvent] = {}
    for event in (*again, *filter(None, new)):
        other = named.get(event.fingerprint)
        if other is None or event.severity.rank < other.severity.rank:
            named[event.fingerprint] = event
    return named
