"""Operations on connectors that survive a crash at any point.

T1  one transaction: the operation's row, the resource's `open_operation`, audit "requested"
E1  the effect on Kafka Connect (see `effects`); a created connector is STOPPED, so no row moves yet
T2  one transaction: what the effect means for the resource, the operation settled, audit "success"
E2  resume, after a deploy

A definite failure of E1 or T2 is undone and settled as failed. When the outcome is unknown the operation stays open,
and whoever holds its lease next rolls it forward from what is observed (`services/reconcile.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from chalicelib.clients.connect import OutcomeUnknown
from chalicelib.domain.access import Actor, Call
from chalicelib.domain.audit import Outcome
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.health import Failure
from chalicelib.domain.observation import DesiredState, Observation, ObservedState, observe, unreadable
from chalicelib.domain.operation import OpenOperation, Operation, OperationKind, OperationStep
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict, HeadgateError, StoreUnavailable, TimedOut, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.services.audit import AuditTrail, view
from chalicelib.services.effects import EFFECTS, Effect, remove_ours
from chalicelib.services.managed import Family, R
from chalicelib.services.outside import Outside
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.observations import Observations
from chalicelib.stores.operations import Operations
from chalicelib.stores.transaction import Transaction

LEASE = timedelta(seconds=30)
"""Longer than a request may last, so that nobody takes over what is still being worked on."""

_SETTLE_SECONDS = 6.0
_COMPENSATION_SECONDS = 5.0
_T2_ATTEMPTS = 3

DESIRED_AFTER: Mapping[OperationKind, DesiredState] = {
    OperationKind.DEPLOY: DesiredState.RUNNING,
    OperationKind.PAUSE: DesiredState.PAUSED,
    OperationKind.RESUME: DesiredState.RUNNING,
}
"""What each operation makes people's wish; the others leave it."""

Also = Callable[[Transaction], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Begins, carries out and settles operations."""

    operations: Operations
    clusters: ConnectClusters
    observations: Observations
    outside: Outside
    audit: AuditTrail
    clock: Clock
    sleep: Callable[[float], None]

    def execute(
        self,
        call: Call,
        family: Family[R],
        resource: R,
        kind: OperationKind,
        *,
        parameters: Mapping[str, Any] | None = None,
        also: Also | None = None,
        draft: bool = False,
    ) -> R | None:
        """Begin an operation and carry it out. The result is the resource as it is then; None when it was deleted.

        A resource with `open_operation` in the result says: the outcome is unknown and will be settled later.
        `draft` means that the resource has no row yet; `also` adds writes to T1.
        """
        operation, held = self.begin(call, family, resource, kind, parameters or {}, also, draft)
        return self.carry_out(call, family, operation, held, first=True)

    def begin(
        self,
        call: Call,
        family: Family[R],
        resource: R,
        kind: OperationKind,
        parameters: Mapping[str, Any],
        also: Also | None,
        draft: bool,
    ) -> tuple[Operation, R]:
        """T1. Raises Conflict OPERATION_IN_PROGRESS when another operation holds the resource."""
        if resource.open_operation:
            raise _busy()
        now = self.clock()
        operation = Operation(
            id=new_id(),
            kind=kind,
            resource_type=family.rows.noun,
            resource_id=resource.id,
            connect_cluster_id=resource.connect_cluster_id,
            connector_name=resource.connector_name,
            config_hash=resource.config_hash,
            actor_id=call.actor.id,
            actor_email=call.actor.email,
            actor_via=call.actor.via,
            correlation_id=call.correlation_id,
            step=OperationStep.REQUESTED,
            lease_until=now + LEASE,
            parameters=parameters,
            created_at=now,
        )
        opened = OpenOperation(id=operation.id, kind=kind, step=operation.step, started_at=now)
        held = replace(resource, open_operation=opened)
        transaction = Transaction()
        self.operations.put_new(transaction, operation)
        if not draft:
            held = family.rows.save(transaction, held)
        if also:
            also(transaction)
        self.observations.bump(transaction, resource.connect_cluster_id)
        self._audit(transaction, call, family, operation, held, Outcome.REQUESTED)
        try:
            transaction.commit()
        except WriteConflict as conflict:
            if conflict.label == f"{family.rows.noun}.changed":
                raise self._why_changed(family, resource, kind) from conflict
            raise
        return operation, held

    def carry_out(self, call: Call, family: Family[R], operation: Operation, resource: R, *, first: bool) -> R | None:
        """E1, T2, E2. `first` says that nothing of this operation has reached Connect yet.

        The resource comes back with its open operation when the outcome is unknown. Raises what the operation failed
        of, once it is settled as failed.
        """
        try:
            effect = self._effect(call, family, operation, resource)
            self._affect(call, family, operation, resource, effect, first)
            settled = self._settle(call, family, operation, resource)
        except (OutcomeUnknown, StoreUnavailable):
            return resource
        return settled and self._watch(family, operation, settled, effect)

    def _effect(self, call: Call, family: Family[R], operation: Operation, resource: R) -> Effect:
        cluster = self.clusters.get(resource.connect_cluster_id)
        intended = family.applied(operation, resource)

        def config() -> Mapping[str, str]:
            built, credentials = family.config(intended)
            return self.outside.for_connect(cluster, built, credentials)

        return Effect(
            connect=self.outside.connect(cluster),
            name=operation.connector_name,
            config=config,
            check=lambda wanted: family.check(call, intended, wanted),
            task=operation.parameters.get("task"),
            may_exist=resource.desired_state is not DesiredState.DRAFT or operation.kind is not OperationKind.DELETE,
            deadline=call.deadline,
        )

    def _affect(
        self, call: Call, family: Family[R], operation: Operation, resource: R, effect: Effect, first: bool
    ) -> None:
        """E1. Raises OutcomeUnknown or StoreUnavailable when the operation stays open, and whatever settled it."""
        try:
            EFFECTS[operation.kind](effect)
        except (OutcomeUnknown, StoreUnavailable):
            raise
        except HeadgateError as error:
            if isinstance(error, Unavailable | TimedOut) and not first:
                # An earlier attempt may have been applied, and only what is observed can tell.
                raise _still_open() from error
            self._give_up(call, family, operation, resource, effect, error)
            raise

    def _settle(self, call: Call, family: Family[R], operation: Operation, resource: R) -> R | None:
        """T2: what was done becomes what is known. A resource that was written meanwhile is read again."""
        for _ in range(_T2_ATTEMPTS):
            try:
                return self._commit_success(call, family, operation, resource)
            except WriteConflict:
                stored = self.operations.get(operation.id)
                if stored.step is OperationStep.SUCCEEDED:
                    return family.subject(stored)
                if stored.revision != operation.revision:
                    raise _still_open() from None  # another worker has taken it over, and knows more by now
                resource = family.subject(operation) or resource
        raise _still_open()

    def _commit_success(self, call: Call, family: Family[R], operation: Operation, resource: R) -> R | None:
        transaction = Transaction()
        result = self._apply(transaction, family, operation, resource)
        done = replace(operation, step=OperationStep.SUCCEEDED, finished_at=self.clock())
        self.operations.save(transaction, done)
        self.observations.bump(transaction, resource.connect_cluster_id)
        self._audit(transaction, call, family, operation, resource, Outcome.SUCCESS, after=result)
        transaction.commit()
        return result

    def _apply(self, transaction: Transaction, family: Family[R], operation: Operation, resource: R) -> R | None:
        now = self.clock()
        if operation.kind is OperationKind.DELETE:
            family.removed(transaction, resource)
            return None
        after = replace(
            family.applied(operation, resource),
            desired_state=DESIRED_AFTER.get(operation.kind, resource.desired_state),
            open_operation=None,
            last_error=None,
            version=resource.version + 1,
            updated_at=now,
        )
        if operation.kind is OperationKind.DEPLOY:
            stopped = Observation(state=ObservedState.STOPPED, observed_at=now, reasons=("It was just created.",))
            return family.created(transaction, replace(after, observation=stopped))
        family.changed(transaction, resource, after)
        return family.rows.save(transaction, after)

    def _give_up(
        self, call: Call, family: Family[R], operation: Operation, resource: R, effect: Effect, error: HeadgateError
    ) -> None:
        """Undo and settle as failed. Raises OutcomeUnknown or StoreUnavailable when that fails and it stays open."""
        try:
            if operation.kind is OperationKind.DEPLOY:
                operation = self._keep_hold(operation)
                self._compensate(effect)
            self._commit_failure(call, family, operation, resource, error)
        except WriteConflict as lost:
            raise _still_open() from lost

    def _keep_hold(self, operation: Operation) -> Operation:
        """Take the lease anew. WriteConflict when another worker has it: what that one made is not ours to undo."""
        transaction = Transaction()
        until = self.clock() + LEASE
        held = self.operations.save(transaction, replace(operation, step=OperationStep.COMPENSATING, lease_until=until))
        transaction.commit()
        return held

    def _compensate(self, effect: Effect) -> None:
        try:
            remove_ours(replace(effect, deadline=Deadline.after(_COMPENSATION_SECONDS)))
        except OutcomeUnknown:
            raise
        except (Unavailable, TimedOut):
            return  # what cannot be reached was not reached before; if it was, the reconciler finds a stranger

    def _commit_failure(
        self, call: Call, family: Family[R], operation: Operation, resource: R, error: HeadgateError
    ) -> None:
        now = self.clock()
        ended: dict[str, Any] = {"error_code": error.code, "error_message": error.message, "finished_at": now}
        transaction = Transaction()
        self.operations.save(transaction, replace(operation, step=OperationStep.FAILED, **ended))
        if stored := family.rows.find(resource.id):
            failure = Failure(code=error.code, message=error.message, at=now)
            family.rows.save(transaction, replace(stored, open_operation=None, last_error=failure))
        family.abandoned(transaction, operation, resource)
        self.observations.bump(transaction, resource.connect_cluster_id)
        self._audit(transaction, call, family, operation, resource, Outcome.FAILED, error=error)
        transaction.commit()

    def _watch(self, family: Family[R], operation: Operation, resource: R, effect: Effect) -> R:
        """E2, and a short look at what came of it. Whatever goes wrong here is the tick's to finish."""
        try:
            if operation.kind is OperationKind.DEPLOY and resource.desired_state is DesiredState.RUNNING:
                effect.connect.resume(effect.name, effect.deadline)
            observation = self.look(effect, _expected(resource))
        except HeadgateError as error:
            observation = unreadable(error.message, self.clock())
        transaction = Transaction()
        try:
            noted = family.rows.save(transaction, replace(resource, observation=observation))
            transaction.commit()
        except (WriteConflict, StoreUnavailable):
            return replace(resource, observation=observation)
        return noted

    def look(self, effect: Effect, expected: ObservedState) -> Observation:
        """Look until the connector is as expected or has failed, for a few seconds at the most."""
        until = Deadline.after(effect.deadline.left(_SETTLE_SECONDS))
        while True:
            seen = observe(effect.connect.find_status(effect.name, effect.deadline), now=self.clock())
            if seen.state in (expected, ObservedState.FAILED) or _has_failed_task(seen) or until.passed:
                return seen
            self.sleep(0.25)

    def _audit(
        self,
        transaction: Transaction,
        call: Call,
        family: Family[R],
        operation: Operation,
        resource: R,
        outcome: Outcome,
        *,
        after: R | None = None,
        error: HeadgateError | None = None,
    ) -> None:
        actor = Actor(id=operation.actor_id, email=operation.actor_email, role=None, via=operation.actor_via)
        told: Mapping[str, Any] | None = view(after) if after else None
        if error:
            told = {"error": {"code": error.code, "message": error.message}}
        elif operation.kind is OperationKind.DELETE and outcome is Outcome.SUCCESS:
            told = family.last_words(resource)
        self.audit.record(
            transaction,
            replace(call, actor=actor, correlation_id=operation.correlation_id),
            f"{family.rows.noun}.{operation.kind}",
            resource.id,
            outcome=outcome,
            before=view(resource) if outcome is Outcome.SUCCESS else None,
            after=told,
            parent_id=family.parent_id(resource),
        )

    def _why_changed(self, family: Family[R], resource: R, kind: OperationKind) -> HeadgateError:
        if kind is OperationKind.DELETE and family.rows.references(resource.id):
            noun = family.rows.noun
            return Conflict(f"This {noun} has deliveries. Delete them first.", code="RESOURCE_IN_USE")
        return _busy()


def _busy() -> Conflict:
    return Conflict(
        "Another operation on this is still open. Wait until it is settled and repeat.", code="OPERATION_IN_PROGRESS"
    )


def _still_open() -> OutcomeUnknown:
    return OutcomeUnknown("It is not known yet what came of it. Headgate looks again and settles it.")


def _expected(resource: Pipeline | Delivery) -> ObservedState:
    paused = resource.desired_state is DesiredState.PAUSED
    return ObservedState.PAUSED if paused else ObservedState.RUNNING


def _has_failed_task(seen: Observation) -> bool:
    """A failed task does not mend itself; every other way of being DEGRADED may just be on its way."""
    return seen.connector is not None and any(task.state == "FAILED" for task in seen.connector.tasks)
