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
    """

    named: Mapping[str, AlertEvent]
    active: Mapping[str, Alert]
    hidden: Collection[str]
    known: Mapping[str, Alert]
    causes: Mapping[str, Alert]
    storms: Storms
    existing: Collection[Resource]

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
            hidden=fingerprint in self.hidden,
            exists=alert is None or alert.event.resource in self.existing,
        )

    def _order(self, fingerprint: str) -> tuple[int, int, str]:
        event, alert = self.named.get(fingerprint), self.active.get(fingerprint)
        if event is None:
            return 1, alert.severity.rank if alert else 0, fingerprint
        return 2 if alert else 0, event.severity.rank, fingerprint
