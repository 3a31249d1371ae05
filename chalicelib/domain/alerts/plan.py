"""Which alerts a report concerns: those of what goes on at its origin, and those that are active there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.decisions import Item
from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.inhibition import Storms
from chalicelib.domain.alerts.naming import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertPlan:
    """What goes on (`named`) beside what is `active`, by fingerprint. `hidden` goes on out of sight.

    `known` are also alerts of other origins that may be causes; `causes` those that stand for others already, by id.
    `sent_before` are consequences that stand for their new causes, by the fingerprint of the cause. `reached`: somebody
    may be notified now of what nobody was notified of (fingerprints).
    """

    named: Mapping[str, AlertEvent]
    active: Mapping[str, Alert]
    hidden: Collection[str]
    known: Mapping[str, Alert]
    causes: Mapping[str, Alert]
    storms: Storms
    existing: Collection[Resource]
    sent_before: Mapping[str, str]
    reached: Collection[str]

    def parts(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """All fingerprints, each part in its order: the causes of storms that nothing mutes, the other causes, what
        changes, and what is only counted or marked.
        """
        causes = [fingerprint for fingerprint in self.storms.affected if fingerprint in self.named]
        muted = [fingerprint for fingerprint in causes if fingerprint in self.storms.cause_of]
        marked = {fingerprint for fingerprint in self.hidden if self.active[fingerprint].stale}
        rest = {*self.named, *self.active}.difference(causes, marked)
        counted = [fingerprint for fingerprint in rest if not self._item(fingerprint, {}).may_notify]
        changed = sorted(rest.difference(counted), key=self._order)
        # What was not counted for longest comes first: when time is short, each has its turn.
        counted.sort(key=lambda fingerprint: (self.active[fingerprint].last_seen_at, fingerprint))
        first = [fingerprint for fingerprint in causes if fingerprint not in self.storms.cause_of]
        return first, muted, changed, counted

    def items(self, fingerprints: Sequence[str], recorded: Mapping[str, Alert]) -> list[Item]:
        """Their items; `recorded` are the alerts that this report has changed."""
        return [self._item(fingerprint, recorded) for fingerprint in fingerprints]

    def _item(self, fingerprint: str, recorded: Mapping[str, Alert]) -> Item:
        alert, cause = self.active.get(fingerprint), self._cause(fingerprint, recorded)
        if alert and cause is None and alert.inhibited_by:
            cause = self.causes.get(alert.inhibited_by)
        event = self.named.get(fingerprint)
        if cause and alert and cause.inhibited_by == alert.id:  # this one was sent, and stands for its cause
            cause = None
        if cause and event and event.severity.rank < cause.severity.rank:  # the message did not say how bad it is
            cause = None
        return Item(
            fingerprint=fingerprint,
            event=event,
            alert=alert,
            cause=cause,
            affected=self.storms.affected.get(fingerprint, 0),
            hidden=fingerprint in self.hidden,
            reached=fingerprint in self.reached,
            exists=alert is None or alert.event.resource in self.existing,
        )

    def _cause(self, fingerprint: str, recorded: Mapping[str, Alert]) -> Alert | None:
        """The alert that stands for this one by the table: its cause, or a consequence that was sent before."""
        cause_fingerprint = self.storms.cause_of.get(fingerprint) or self.sent_before.get(fingerprint, "")
        return recorded.get(cause_fingerprint) or self.known.get(cause_fingerprint)

    def _order(self, fingerprint: str) -> tuple[int, int, str]:
        event, alert = self.named.get(fingerprint), self.active.get(fingerprint)
        if event is None:
            return 1, alert.severity.rank if alert else 0, fingerprint
        return 2 if alert else 0, event.severity.rank, fingerprint
