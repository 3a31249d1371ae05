"""Incidents: opened and resolved by what is observed, moved by people.

Signals may come twice, or late, after a process has died: a claim on the condition's key makes each incident open once,
and a signal that is not newer than the incident changes nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.incident import (
    ALLOWED_MOVES,
    LATER,
    Associations,
    Condition,
    Incident,
    IncidentStatus,
    Signal,
    after_signal,
    is_worse,
    moved,
    moved_by_person,
    signals_between,
)
from chalicelib.errors import Conflict, TimedOut, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.pages import Page
from chalicelib.services.audit import AuditTrail
from chalicelib.stores.claims import Claims
from chalicelib.stores.documents import Documents, find_together
from chalicelib.stores.monitoring.incidents import Incidents, claim_of
from chalicelib.stores.transaction import Transaction

_PER_TRANSACTION = 45
"""Incidents: each is two items of a transaction, which may have a hundred."""

_MOST_ENDED = 20
"""With the other items of the deletion less than the hundred of a transaction."""

_MOST_CHECKED = 100
"""Active incidents, the newest, of which it is checked at once whether what they are about still exists."""

_ATTEMPTS = 4

_VERBS: Mapping[IncidentStatus, str] = {
    IncidentStatus.OPEN: "reopen",
    IncidentStatus.ACKNOWLEDGED: "acknowledge",
    IncidentStatus.RESOLVED: "resolve",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentService:
    """Reads and changes incidents. `resources` are the stores of what they are about, by type: `source`, ..."""

    store: Incidents
    claims: Claims
    resources: Mapping[str, Documents[Any]]
    audit: AuditTrail
    clock: Clock

    def list(
        self,
        *,
        limit: int,
        after: str | None = None,
        status: IncidentStatus | None = None,
        active: bool | None = None,
        pipeline_id: str | None = None,
        destination_id: str | None = None,
    ) -> Page[Incident]:
        """Newest first; `active`: only those that are not resolved, or only those that are."""
        return self.store.filtered(
            limit=limit,
            after=after,
            status=status,
            active=active,
            pipeline_id=pipeline_id,
            destination_id=destination_id,
        )

    def move(self, context: RequestContext, incident_id: str, status: IncidentStatus) -> Incident:
        """Set the status; the one that it has already changes nothing. What is about something that was deleted is not
        opened again: nothing would end it. Raises NotFound, Conflict, VersionMismatch.
        """
        incident = self.store.get(incident_id)
        context.expect_version(incident.revision)
        if status is incident.status:
            return incident
        if status not in ALLOWED_MOVES[incident.status]:
            raise Conflict("A resolved incident can only be opened again.")
        if status is IncidentStatus.OPEN and self._deleted([incident]):
            raise Conflict("What this incident is about was deleted, so it cannot be opened again.")
        changed, transaction = moved_by_person(incident, status, self.clock()), Transaction()
        if not incident.is_current:
            self.claims.take(transaction, claim_of(incident.key), incident.id, label="incident.open")
        elif not changed.is_current:
            self.claims.release(transaction, claim_of(incident.key), incident.id)
        saved = self.store.save(transaction, changed)
        before, after = {"status": incident.status.value}, {"status": status.value, "code": incident.condition.code}
        action, parent_id = f"incident.{_VERBS[status]}", incident.associations.destination_id
        self.audit.record(transaction, context, action, incident.id, before=before, after=after, parent_id=parent_id)
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise _why_not(conflict.label) from conflict
        return saved

    def add(
        self,
        transaction: Transaction,
        origin: str,
        signals: Sequence[Signal],
        *,
        may_be_late: bool = False,
        compared: bool = False,
    ) -> bool:
        """Open, repeat and resolve what the signals say in a transaction; whether that changes anything.

        The keys differ. An end is that of what the same origin has opened. `may_be_late`: they were stored before, and
        newer ones may have been applied since. `compared`: they come from a list that may lag behind, so that what
        begins may have an incident already. Conflict labels begin with `incident.`; then it is done again in a new
        transaction.
        """
        known = self._current([signal.condition.key for signal in signals])
        new = [signal for signal in signals if signal.began and signal.condition.key not in known]
        associations = self._associations([signal.condition for signal in new])
        for signal in new:
            incident = self._opened(origin, signal, associations.get(signal.condition.resource_id))
            self.store.put_new(transaction, incident)
            self.claims.take(transaction, claim_of(incident.key), incident.id, label="incident.open")
        changed = bool(new)
        for signal in signals:
            earlier = known.get(signal.condition.key)
            if earlier is None or not (signal.began or earlier.origin == origin):
                continue
            if compared and signal.began and not is_worse(earlier.condition, signal.condition):
                continue
            later = after_signal(earlier, signal, may_be_late=may_be_late)
            if later:
                changed = True
                self._save(transaction, later)
        return changed

    def publish(self, origin: str, signals: Sequence[Signal], deadline: Deadline, *, compared: bool = False) -> None:
        """Apply signals, in their order. Raises TimedOut, WriteConflict; then it is safe to repeat."""
        for chunk in _chunks(signals):
            if deadline.passed:
                raise TimedOut("There was no time left for all incidents. The rest follows.")
            self._apply(origin, chunk, compared=compared)

    def current_conditions(self, origin: str) -> Sequence[Condition]:
        """What incidents of an origin are about, as far as it was not seen to end. Raises StoreUnavailable."""
        return [incident.condition for incident in self.store.current_of(origin)]

    def compare(self, origin: str, conditions: Iterable[Condition], deadline: Deadline) -> None:
        """Make the current incidents of an origin those of these conditions. Raises as `publish` does."""
        current = list(self.store.current_of(origin))
        # The clock may have been set back since they began, and a signal that is not newer does not count.
        now = max([self.clock(), *(incident.last_seen_at + LATER for incident in current)])
        known = [incident.condition for incident in current]
        self.publish(origin, signals_between(known, conditions, now), deadline, compared=True)

    def end_about(self, transaction: Transaction, resource_id: str) -> None:
        """Resolve the incidents of a resource in the transaction that deletes it: at most `_MOST_ENDED`."""
        for incident in islice(self.store.current_about(resource_id), _MOST_ENDED):
            self._end(transaction, incident)

    def end_rest_about(self, resource_id: str) -> None:
        """Resolve what `end_about` had no room for, once its transaction is committed. Raises WriteConflict."""
        for attempt in range(1, _ATTEMPTS + 1):
            current = [one for one in self.store.current_about(resource_id) if one.is_current]
            try:
                for start in range(0, len(current), _PER_TRANSACTION):
                    transaction = Transaction()
                    for incident in current[start : start + _PER_TRANSACTION]:
                        self._end(transaction, incident)
                    transaction.commit()
            except WriteConflict:  # a person has just moved one
                if attempt == _ATTEMPTS:
                    raise
            else:
                return

    def end_about_deleted(self) -> int:
        """End what is active, and about something that was deleted; returns of how many resources.

        The deletion did not see it where an index lagged behind, or it was opened again at that moment. Raises
        WriteConflict; then it is safe to repeat.
        """
        deleted = self._deleted(self.store.filtered(limit=_MOST_CHECKED, active=True).items)
        for resource_id in deleted:
            self.end_rest_about(resource_id)
        return len(deleted)

    def _deleted(self, incidents: Sequence[Incident]) -> Sequence[str]:
        """The ids of what these are about, as far as it does not exist. The installation always does."""
        conditions = (incident.condition for incident in incidents)
        about = sorted(
            {(one.resource_type, one.resource_id) for one in conditions if one.resource_type in self.resources}
        )
        found = find_together(*((self.resources[noun], resource_id) for noun, resource_id in about))
        return [resource_id for (_, resource_id), resource in zip(about, found, strict=True) if resource is None]

    def _end(self, transaction: Transaction, incident: Incident) -> None:
        ended = incident if incident.dismissed else moved(incident, IncidentStatus.RESOLVED, self.clock())
        self._save(transaction, replace(ended, dismissed=False))

    def _save(self, transaction: Transaction, incident: Incident) -> None:
        self.store.save(transaction, incident)
        if not incident.is_current:
            self.claims.release(transaction, claim_of(incident.key), incident.id)

    def _apply(self, origin: str, signals: Sequence[Signal], *, compared: bool) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            transaction = Transaction()
            try:
                if self.add(transaction, origin, signals, may_be_late=True, compared=compared):
                    transaction.commit()
            except WriteConflict:  # a person, or another process with the same signals, was faster
                if attempt == _ATTEMPTS:
                    raise
            else:
                return

    def _current(self, keys: Sequence[str]) -> dict[str, Incident]:
        """The incidents with these keys whose condition was not seen to end."""
        holders = self.claims.holders([claim_of(key) for key in keys])
        found = find_together(*((self.store, incident_id) for incident_id in holders.values())) if holders else []
        return {incident.key: incident for incident in found if incident and incident.is_current}

    def _associations(self, conditions: Sequence[Condition]) -> dict[str, Associations]:
        """Where people look for incidents of these resources, by the resource's id."""
        found = {one.resource_id: _own_associations(one) for one in conditions}
        deliveries = [one.resource_id for one in conditions if one.resource_type == "delivery"]
        stored: list[Delivery | None] = find_together(*((self.resources["delivery"], one) for one in deliveries))
        for delivery in filter(None, stored):
            found[delivery.id] = Associations(
                pipeline_id=delivery.pipeline_id, destination_id=delivery.destination_id, delivery_id=delivery.id
            )
        return found

    def _opened(self, origin: str, signal: Signal, associations: Associations | None) -> Incident:
        return Incident(
            id=new_id(),
            condition=signal.condition,
            associations=associations or Associations(),
            origin=origin,
            first_seen_at=signal.at,
            last_seen_at=signal.at,
            correlation_id=signal.correlation_id,
            created_at=signal.at,
        )


def _own_associations(condition: Condition) -> Associations:
    match condition.resource_type:
        case "pipeline":
            return Associations(pipeline_id=condition.resource_id)
        case "delivery":
            return Associations(delivery_id=condition.resource_id)
        case "destination":
            return Associations(destination_id=condition.resource_id)
        case _:
            return Associations(pipeline_id=condition.pipeline_id)


def _chunks(signals: Sequence[Signal]) -> Iterator[Sequence[Signal]]:
    """The signals in their order, in parts in which no key occurs twice."""
    chunk: dict[str, Signal] = {}
    for signal in signals:
        if len(chunk) == _PER_TRANSACTION or signal.condition.key in chunk:
            yield list(chunk.values())
            chunk = {}
        chunk[signal.condition.key] = signal
    if chunk:
        yield list(chunk.values())


def _why_not(label: str) -> Conflict:
    if label == "incident.open":
        return Conflict("Another incident about the same is open.")
    return Conflict("The incident has just changed. Read it again and repeat this.")
