"""Incidents: opened and resolved by what is observed, moved by people.

Each report says all that is wrong, so the next one stores what was lost or stored only in part. A claim on the
condition's key makes each incident open once, when several find the condition at the same time.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from chalicelib.domain.access import RequestContext
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.episodes import Episodes, Phase, episode_of, phase_of, seen_episode
from chalicelib.domain.monitoring.incident import (
    ALLOWED_MOVES,
    Associations,
    Incident,
    IncidentStatus,
    begun_again,
    moved_by_person,
    resolved,
)
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.timeline.event import incident_event
from chalicelib.errors import Conflict, StoreUnavailable, UnreadableRow, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import get_logger
from chalicelib.kit.pages import Page
from chalicelib.kit.retry import at_once
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.claims import Claims
from chalicelib.stores.documents import Documents, batch_exists, batch_find_readable, batch_results
from chalicelib.stores.monitoring.incidents import ConditionName, Incidents, claim_of
from chalicelib.stores.timeline import Timeline
from chalicelib.stores.transaction import Transaction

_PER_TRANSACTION = 33
"""Incidents: each is three items of a transaction, which may have a hundred."""

_MAX_ENDED = 20
"""With the other items of the deletion fewer than the hundred that a transaction may have."""

_MAX_CHECKED = 100
"""Active incidents, the newest, of which it is checked at once whether what they are about still exists."""

_ATTEMPTS = 4

_VERBS: Mapping[IncidentStatus, str] = {
    IncidentStatus.OPEN: "reopen",
    IncidentStatus.ACKNOWLEDGED: "acknowledge",
    IncidentStatus.RESOLVED: "resolve",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentService:
    """Reads and changes incidents. `resources` are the stores of what they are about, by type: `source`, ...

    `look_soon` has a monitor look at a system, by its noun and id.
    """

    store: Incidents
    claims: Claims
    resources: Mapping[str, Documents[Any]]
    timeline: Timeline
    audit: AuditTrail
    look_soon: Callable[[str, str], None]
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
        transaction.afterwards(lambda: log_status(saved, incident.status))
        self.timeline.add(transaction, incident_event(incident.status, saved, self.clock(), context.actor))
        before, after = {"status": incident.status.value}, {"status": status.value, "code": incident.condition.code}
        action, parent_id = f"incident.{_VERBS[status]}", incident.associations.destination_id
        self.audit.record(transaction, context, action, incident.id, before=before, after=after, parent_id=parent_id)
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise _why_not(conflict.label) from conflict
        if changed.dismissed and incident.condition.code is ConditionCode.TARGET_REPLACED:
            # The next look accepts the loss. Without a message it comes within a minute.
            with suppress(StoreUnavailable):
                self.look_soon(*incident.origin.split("/", 1))
        return saved

    def record(self, report: MonitorReport, deadline: Deadline) -> Episodes:
        """Make the current incidents of an origin those that a report names; what goes on after it.

        What could not be stored, for lack of time or because others were faster again and again, is left to the next
        report: the result is not complete then. Raises StoreUnavailable.
        """
        named = {condition.key: report.judged(condition) for condition in report.conditions}
        listed, unreadable = self.store.current_of(report.origin)
        current = {incident.key: incident for incident in listed}
        # What is over comes first: if time runs out, the next report still names what is wrong.
        lost = {name.key: name.resource_id for name in unreadable}
        keys = sorted((named.keys() | current.keys()) - lost.keys(), key=lambda key: (key in named, key))
        changing = [key for key in keys if phase_of(report, named.get(key), current.get(key)) is not Phase.CONTINUES]
        complete = True
        for start in range(0, len(changing), _PER_TRANSACTION):
            chunk = {key: named.get(key) for key in changing[start : start + _PER_TRANSACTION]}
            # Listing thousands of incidents may take all of the time: a late report stores its first chunk.
            after = None if start and deadline.passed else self._apply(report, chunk, current)
            if after is None:
                complete = False
            else:
                current = {key: incident for key, incident in current.items() if key not in chunk} | after.readable
                lost |= {name.key: name.resource_id for name in after.unreadable}
        going_on = {
            key: episode_of(report, named.get(key), incident) for key, incident in current.items() if incident.goes_on
        }
        # An incident that cannot be read stays as it is: what the report says about its condition counts all the same.
        going_on |= {key: seen_episode(report, named[key], None) for key in lost if key in named}
        hidden = {key for key, about in lost.items() if key not in named and not report.has_looked_at(about)}
        return Episodes(report=report, going_on=going_on, hidden=frozenset(hidden), complete=complete)

    def settle(
        self,
        transaction: Transaction,
        origin: str,
        at: datetime,
        *,
        began: Sequence[Condition] = (),
        ended: Sequence[Condition] = (),
        correlation_id: str,
    ) -> bool:
        """Open, repeat and resolve in the transaction of a request or a job what it has found; whether that changes
        anything. An end is that of what the same origin has opened.

        Conflict labels begin with `incident.`; then it is done again in a new transaction.
        """
        changes = _Changes(self.store, self.claims, transaction, self.timeline, at)
        known, unreadable = self._current([condition.key for condition in (*began, *ended)])
        new = [condition for condition in began if condition.key not in {*known, *unreadable}]
        self._open(changes, origin, new, at, correlation_id)
        for condition in began:
            if condition.key in known:
                changes.save(known[condition.key], begun_again(known[condition.key], condition, at))
        for condition in ended:
            if condition.key in known and known[condition.key].origin == origin:
                changes.save(known[condition.key], resolved(known[condition.key], at))
        return bool(changes.stored)

    def current_conditions(self, origin: str) -> Sequence[Condition]:
        """What incidents of an origin are about, as far as it was not seen to end. Raises StoreUnavailable."""
        return [incident.condition for incident in self.store.current_of(origin)[0]]

    def dismissed(self, origin: str, code: ConditionCode) -> frozenset[str]:
        """The ids of resources about which a person has resolved an incident of this code while its condition goes on.
        Raises StoreUnavailable.
        """
        current = (incident for incident in self.store.current_of(origin)[0] if incident.dismissed)
        return frozenset(one.condition.resource_id for one in current if one.condition.code is code)

    def end_about(self, transaction: Transaction, resource_id: str) -> None:
        """Resolve the incidents of a resource in the transaction that deletes it: at most `_MAX_ENDED`."""
        changes = _Changes(self.store, self.claims, transaction)
        for incident in islice(self.store.current_about(resource_id), _MAX_ENDED):
            changes.save(incident, resolved(incident, self.clock()))
        self._look_soon_after(transaction, {incident.origin for incident in changes.stored.values()})

    def end_rest_about(self, resource_id: str) -> None:
        """Resolve what `end_about` had no room for, once its transaction is committed. Raises WriteConflict."""

        def end(_attempt: int) -> None:
            current = [incident for incident in self.store.current_about(resource_id) if incident.is_current]
            for start in range(0, len(current), _PER_TRANSACTION):
                changes = _Changes(self.store, self.claims, Transaction())
                for incident in current[start : start + _PER_TRANSACTION]:
                    changes.save(incident, resolved(incident, self.clock()))
                changes.transaction.commit()

        at_once(_ATTEMPTS).run(end, on=WriteConflict)  # a person has just moved one

    def end_about_deleted(self) -> int:
        """End what is active, and about something that was deleted; returns of how many resources.

        The deletion did not see it where an index lagged behind, or it was opened again at that moment. Raises
        WriteConflict; then it is safe to repeat.
        """
        deleted = self._deleted(self.store.filtered(limit=_MAX_CHECKED, active=True).items)
        for resource_id in deleted:
            self.end_rest_about(resource_id)
        return len(deleted)

    def _look_soon_after(self, transaction: Transaction, origins: Collection[str]) -> None:
        """Have alerts follow once the transaction is committed: those of systems, as those of Connect clusters follow
        with the next tick.
        """

        def look() -> None:
            for origin in sorted(origins):
                noun, _, entity_id = origin.partition("/")
                if noun in ("source", "destination"):
                    with suppress(StoreUnavailable):  # the schedule does it
                        self.look_soon(noun, entity_id)

        transaction.afterwards(look)

    def _deleted(self, incidents: Sequence[Incident]) -> Sequence[str]:
        """The ids of what these are about, as far as it does not exist. The installation always does."""
        conditions = (incident.condition for incident in incidents)
        about = sorted({(condition.resource_type, condition.resource_id) for condition in conditions})
        about = [(noun, resource_id) for noun, resource_id in about if noun in self.resources]
        exist = batch_exists(*((self.resources[noun], resource_id) for noun, resource_id in about))
        return [resource_id for (_, resource_id), exists in zip(about, exist, strict=True) if not exists]

    def _apply(
        self, report: MonitorReport, named: Mapping[str, Condition | None], listed: Mapping[str, Incident]
    ) -> "_Applied | None":
        """Store what the report changes about these keys; the incidents after it, or None when others were faster
        again and again. What was listed may be out of date: after a conflict, and where an index lags, claims decide.
        """

        def apply(attempt: int) -> _Applied:
            known = {} if attempt else {key: listed[key] for key in named if key in listed}
            current, unreadable = self._current([key for key in named if key not in known])
            known |= current
            changes = _Changes(self.store, self.claims, Transaction(), self.timeline, report.at)
            phases = {key: phase_of(report, condition, known.get(key)) for key, condition in named.items()}
            new = (key for key, phase in phases.items() if phase is Phase.BEGAN and key not in unreadable)
            began = [condition for key in new if (condition := named[key])]
            self._open(changes, report.origin, began, report.at, report.correlation_id)
            for key, incident in known.items():
                condition = named[key]
                if phases[key] is Phase.ENDED:
                    changes.save(incident, resolved(incident, report.at))
                elif phases[key] is Phase.LAPSED:
                    changes.save(incident, replace(incident, lapsed=True))
                elif phases[key] is Phase.EASED:
                    eased = condition or report.judged(incident.condition)
                    changes.save(incident, replace(incident, condition=eased))
                elif condition and phases[key] is Phase.REPEATED:
                    changes.save(incident, begun_again(incident, condition, report.at))
            if changes.stored:
                changes.transaction.commit()
            names = [ConditionName(key, condition.resource_id) for key in unreadable if (condition := named[key])]
            return _Applied(known | changes.stored, names)

        try:
            return at_once(_ATTEMPTS).run(apply, on=WriteConflict)
        except WriteConflict:  # people, or other processes with the same report
            return None

    def _open(
        self,
        changes: "_Changes",
        origin: str,
        conditions: Sequence[Condition],
        at: datetime,
        correlation_id: str | None = None,
    ) -> None:
        associations = self._associations(conditions)
        for condition in conditions:
            incident = Incident(
                id=new_id(),
                condition=condition,
                associations=associations[condition.resource_id],
                origin=origin,
                first_seen_at=at,
                last_seen_at=at,
                correlation_id=correlation_id,
                created_at=at,
            )
            changes.put_new(incident)

    def _current(self, keys: Sequence[str]) -> tuple[dict[str, Incident], set[str]]:
        """The incidents with these keys whose condition was not seen to end, and the keys of those that cannot be read:
        these have their claim, so that no other one is opened.
        """
        holders = self.claims.holders([claim_of(key) for key in keys])
        held = batch_results(*((self.store, incident_id) for incident_id in holders.values())) if holders else []
        lost = {claim for claim, incident in zip(holders, held, strict=True) if isinstance(incident, UnreadableRow)}
        known = [incident for incident in held if isinstance(incident, Incident) and incident.is_current]
        return {incident.key: incident for incident in known}, {key for key in keys if claim_of(key) in lost}

    def _associations(self, conditions: Sequence[Condition]) -> dict[str, Associations]:
        """Where people look for incidents of these resources, by the resource's id."""
        associations = {condition.resource_id: _own_associations(condition) for condition in conditions}
        about = dict.fromkeys((condition.resource_type, condition.resource_id) for condition in conditions)
        stores = [(self.resources[noun], resource_id) for noun, resource_id in about if noun in self.resources]
        for resource in filter(None, batch_find_readable(*stores) if stores else ()):
            found = associations[resource.id]
            if isinstance(resource, Delivery):
                found = replace(found, pipeline_id=resource.pipeline_id, destination_id=resource.destination_id)
            associations[resource.id] = replace(found, name=resource.name)
        return associations


class _Applied(NamedTuple):
    """Incidents after a report, by key, and the conditions of those that cannot be read."""

    readable: dict[str, Incident]
    unreadable: list[ConditionName]


@dataclass(frozen=True, slots=True)
class _Changes:
    """Incidents to be written in one transaction, their claims, and the events of their timelines at that time: none
    without a timeline, as that of what was deleted is not read any more. `stored` are these incidents by key.
    """

    store: Incidents
    claims: Claims
    transaction: Transaction
    timeline: Timeline | None = None
    at: datetime | None = None
    stored: dict[str, Incident] = field(default_factory=dict)

    def put_new(self, incident: Incident) -> None:
        self.claims.take(self.transaction, claim_of(incident.key), incident.id, label="incident.open")
        self.stored[incident.key] = self.store.put_new(self.transaction, incident)
        self._add_event(None, incident)
        self.transaction.afterwards(lambda: log_status(incident, None))

    def save(self, before: Incident, incident: Incident) -> None:
        """The claim of one that is not current any more is released."""
        self.stored[incident.key] = self.store.save(self.transaction, incident)
        self._add_event(before.status, incident)
        self.transaction.afterwards(lambda: log_status(incident, before.status))
        if not incident.is_current:
            self.claims.release(self.transaction, claim_of(incident.key), incident.id)

    def _add_event(self, before: IncidentStatus | None, incident: Incident) -> None:
        if self.timeline and self.at:
            self.timeline.add(self.transaction, incident_event(before, incident, self.at))


def log_status(incident: Incident, before: IncidentStatus | None) -> None:
    """A line for an incident that was opened (it had no status before), or has another status."""
    if incident.status is before:
        return
    condition = incident.condition
    details: dict[str, Any] = {"incident_id": incident.id, "status": incident.status.value, "origin": incident.origin}
    details |= {"resource_type": condition.resource_type, "resource_id": condition.resource_id}
    details |= {"code": condition.code.value, "severity": condition.severity.value, "task_id": condition.task_id}
    details |= {"connector": condition.connector_name, "correlation_id": incident.correlation_id}
    get_logger().info("incident", extra={**details, "before": before.value if before else None})


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


def _why_not(label: str) -> Conflict:
    if label == "incident.open":
        return Conflict("Another incident about the same is open.")
    return Conflict("The incident has just changed. Read it again and repeat this.")
