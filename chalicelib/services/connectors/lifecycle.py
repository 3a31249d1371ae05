"""Operations on connectors that survive a crash at any point.

T1  one transaction: the operation's row, the resource's `open_operation`, audit "requested"
E1  the change in Kafka Connect (`actions.py`); a created connector is STOPPED, so that it copies no row yet
T2  one transaction: the resource after the change, the operation settled, audit "success"
E2  resume or pause, after the connector was created

A definite failure of E1 or T2 is undone and settled as failed. When the outcome is unknown the operation stays open,
and the next holder of its lease rolls it forward from what it observes (`services/monitors/tick.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.clients.connect.client import OutcomeUnknown
from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.audit.view import view
from chalicelib.domain.connectors.sink_starts import WAIT_SECONDS, waiting
from chalicelib.domain.health import Failure
from chalicelib.domain.monitoring.incident import OPERATIONS
from chalicelib.domain.observation import DesiredState, Observation, ObservedState, ReportedState, observe, unreadable
from chalicelib.domain.operation import OperationKind, OperationStep
from chalicelib.domain.plans.dry_run import current_plan, promise
from chalicelib.domain.timing import OPERATION_LEASE
from chalicelib.errors import (
    Conflict,
    HeadgateError,
    StoreRefused,
    StoreUnavailable,
    TimedOut,
    Unavailable,
    WriteConflict,
)
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.actions import ACTIONS, REQUIRED_BEFORE, ConnectorAction, remove_ours
from chalicelib.services.connectors.dependencies import ConnectorDependencies
from chalicelib.services.connectors.operation_incidents import failure_condition, success_condition
from chalicelib.services.connectors.operation_run import NO_PARAMETERS, OperationRun, new_run
from chalicelib.services.connectors.owner import ConnectorOwner, R, require_found
from chalicelib.services.connectors.rehearsal import rehearse
from chalicelib.services.connectors.workers import workers_check
from chalicelib.services.incidents import IncidentService
from chalicelib.services.usage import Usage
from chalicelib.stores.connectors.group import ConnectorStores
from chalicelib.stores.transaction import Transaction

_SETTLE_SECONDS = 6.0
_COMPENSATION_SECONDS = 5.0
_SETTLE_ATTEMPTS = 4

_EXISTED = "Kafka Connect did not list it and has it: a worker that has just started may not know all connectors yet."

_CREATES = (OperationKind.DEPLOY, OperationKind.RECREATE)
_WRITES_CONFIG = (*_CREATES, OperationKind.UPDATE_CONFIG, OperationKind.UPDATE_MAPPINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    stores: ConnectorStores
    clients: ClientFactory
    audit: AuditTrail
    incidents: IncidentService
    usage: Usage
    clock: Clock
    sleep: Callable[[float], None]

    def execute(
        self,
        context: RequestContext,
        owner: ConnectorOwner[R],
        resource: R,
        deps: ConnectorDependencies,
        kind: OperationKind,
        *,
        parameters: Mapping[str, Any] = NO_PARAMETERS,
        draft: bool = False,
    ) -> R | None:
        """Begin an operation and carry it out; `draft`: the resource has no row yet.

        The result is the resource after the operation, None when it was deleted. With `open_operation` the outcome is
        unknown and will be settled later. Raises Conflict OPERATION_IN_PROGRESS while another operation is open.
        """
        if resource.open_operation:
            raise _busy()
        run = new_run(context, owner, resource, deps, kind, parameters, now=self.clock())
        if require := REQUIRED_BEFORE.get(kind):
            require(self._action(run))
        owner.check_before(context, kind, resource, deps, parameters)
        decided = owner.decided(context, kind, resource, deps, parameters)
        operation = replace(run.operation, parameters=decided)
        begun = owner.beginning(context, kind, resource, deps)
        consequences = promise(owner.consequences(kind, begun, deps, decided, operation.created_at))
        run = replace(run, operation=operation, resource=begun, consequences=consequences)
        if plan := current_plan():
            opened = replace(run, resource=replace(begun, open_operation=operation.opened))
            rehearse(plan, self._action(opened), opened, self._write_result, draft=draft)
        return self.carry_out(replace(run, resource=self._begin(run, draft=draft)))

    def carry_out(self, run: OperationRun[R]) -> R | None:
        """E1, T2, E2.

        Returns the resource with its open operation when the outcome is unknown. Raises the reason of a failure, once
        the operation is settled as failed.
        """
        try:
            action = self._action(run)
            has_config = self._apply_to_connect(run, action)
            released = run.owner.release(run.context, run.operation, run.resource, run.deps)
            settled = self._settle_or_undo(replace(run, released=released, has_config=has_config), action)
        except (OutcomeUnknown, StoreUnavailable):
            return run.resource
        return self._start_after_deploy(run, settled, action) if settled else None

    def _begin(self, run: OperationRun[R], *, draft: bool) -> R:
        """T1; returns the resource with its open operation."""
        owner, operation, transaction = run.owner, run.operation, Transaction()
        resource = replace(run.resource, open_operation=operation.opened)
        self.stores.operations.put_new(transaction, operation)
        if not draft:
            resource = owner.store.save(transaction, resource)
        owner.on_requested(transaction, operation, resource, run.deps)
        # The next tick reads what is desired, and leaves a connector with an open operation alone.
        self.stores.observations.bump(transaction, resource.connect_cluster_id, resource.id)
        self._audit(transaction, run, Outcome.REQUESTED)
        try:
            transaction.commit()
        except WriteConflict as conflict:
            noun = owner.store.noun
            if conflict.label != f"{noun}.changed":
                raise
            if operation.kind is OperationKind.DELETE and owner.store.references(resource.id):
                message = f"This {noun} has deliveries. Delete them first."
                raise self.usage.in_use(noun, resource.id, message) from conflict
            raise _busy() from conflict
        return resource

    def _action(self, run: OperationRun[R]) -> ConnectorAction:
        cluster, intended, operation = require_found(run.deps.connect_cluster), run.intended, run.operation
        deletes_draft = operation.kind is OperationKind.DELETE and run.resource.desired_state is DesiredState.DRAFT
        return ConnectorAction(
            connect=self.clients.connect(cluster),
            name=operation.connector_name,
            is_ours=self.clients.is_ours,
            check_workers=workers_check(cluster),
            start=lambda act: run.owner.start(run.context, intended, run.deps, act, wait=WAIT_SECONDS),
            check_start=lambda: run.owner.check_start(run.context, intended, run.deps),
            config=lambda: self.clients.for_connect(cluster, run.owner.config(intended, run.deps)),
            check=lambda: run.owner.check(run.context, intended, run.deps),
            prepare=lambda: run.owner.prepare(run.context, operation, intended, run.deps),
            go_on=run.owner.go_on(run.context, operation, intended, run.deps),
            begins_anew=run.begins_anew,
            paused=run.desired_after is DesiredState.PAUSED,
            task=operation.parameters.get("task"),
            may_exist=not deletes_draft,
            first_attempt=run.first_attempt,
            deadline=run.context.deadline,
        )

    def _apply_to_connect(self, run: OperationRun[R], action: ConnectorAction) -> bool:
        """E1; whether the connector has the config of the operation. Raises OutcomeUnknown or StoreUnavailable when the
        operation stays open, else why it failed.
        """
        try:
            return ACTIONS[run.operation.kind](action) is not False
        except (OutcomeUnknown, StoreUnavailable):
            raise
        except HeadgateError as error:
            if isinstance(error, Unavailable | TimedOut) and not run.first_attempt:
                # An earlier attempt may have been applied: only an observation can tell.
                raise _still_open() from error
            self._undo_and_fail(run, action, error)
            raise

    def _observe_before_settling(self, run: OperationRun[R], action: ConnectorAction) -> Observation | None:
        """The observation that T2 stores; None after a deletion."""
        if run.operation.kind is OperationKind.DELETE:
            return None
        if run.operation.kind not in _CREATES:
            return self._look(action, run.resource, run.desired_after)
        if run.operation.kind is OperationKind.RECREATE:
            observation: Observation = self._look_once(action, run.resource)
            if observation.state is ObservedState.UNKNOWN:
                return observation
            # One that was just created is stopped, and has no tasks.
            if observation.connector and (observation.connector.tasks or observation.state is ObservedState.FAILED):
                return replace(observation, reasons=(*observation.reasons, _EXISTED))
        reasons = ("It was just created.",)
        return Observation(state=ObservedState.STOPPED, observed_at=self.clock(), reasons=reasons)

    def _settle_or_undo(self, run: OperationRun[R], action: ConnectorAction) -> R | None:
        """T2. What the store refuses for good is a failure: nobody could ever settle it as a success."""
        try:
            return self._settle(run, self._observe_before_settling(run, action))
        except StoreRefused as error:
            self._undo_and_fail(run, action, error)
            raise

    def _settle(self, run: OperationRun[R], observation: Observation | None) -> R | None:
        """T2. A resource that was written meanwhile is read again."""
        operation, owner = run.operation, run.owner
        for _ in range(_SETTLE_ATTEMPTS):
            try:
                return self._commit_success(run, observation)
            except WriteConflict:
                stored = self.stores.operations.get(operation.id)
                if stored.step is OperationStep.SUCCEEDED:
                    return owner.load(stored)
                if stored.revision != operation.revision:
                    raise _still_open() from None  # another worker has taken it over
                run = replace(run, resource=owner.load(operation) or run.resource)
        raise _still_open()

    def _commit_success(self, run: OperationRun[R], observation: Observation | None) -> R | None:
        transaction = Transaction()
        result = self._write_result(transaction, run, observation)
        done = replace(run.operation, step=OperationStep.SUCCEEDED, finished_at=self.clock())
        self.stores.operations.save(transaction, done)
        self.stores.observations.bump(transaction, run.resource.connect_cluster_id, run.resource.id)
        if condition := success_condition(run):
            cause = run.operation.correlation_id
            self.incidents.settle(transaction, OPERATIONS, self.clock(), ended=[condition], correlation_id=cause)
        self._audit(transaction, run, Outcome.SUCCESS, after=result)
        transaction.commit()
        return result

    def _write_result(
        self, transaction: Transaction, run: OperationRun[R], observation: Observation | None
    ) -> R | None:
        owner, resource, kind = run.owner, run.resource, run.operation.kind
        if kind is OperationKind.DELETE:
            owner.on_deleted(transaction, resource, run.deps)
            self.incidents.end_about(transaction, resource.id)
            return None
        written: dict[str, Any] = {}
        if (kind in _WRITES_CONFIG and run.has_config) or run.begins_anew:
            written = owner.config(run.intended, run.deps).fingerprint
        after = replace(
            run.intended,
            desired_state=run.desired_after,
            observation=observation,
            open_operation=None,
            last_error=None,
            **written,
        )
        if kind is not OperationKind.RECREATE:  # which nobody asked for, and which changes nothing that people set
            after = replace(after, version=resource.version + 1, updated_at=self.clock())
        if kind is OperationKind.DEPLOY:
            return owner.on_deployed(transaction, after, run.operation)
        owner.on_changed(transaction, resource, after, run.deps)
        return owner.store.save(transaction, after)

    def _undo_and_fail(self, run: OperationRun[R], action: ConnectorAction, error: HeadgateError) -> None:
        """Undo and settle as failed. Raises OutcomeUnknown or StoreUnavailable when the operation stays open."""
        try:
            if run.operation.kind is OperationKind.DEPLOY:
                # WriteConflict when another worker has it: what that one made is not ours to undo.
                until = self.clock() + OPERATION_LEASE
                leased = replace(run.operation, lease_until=until, step=OperationStep.COMPENSATING)
                run = replace(run, operation=self.stores.operations.save_alone(leased))
                self._compensate(action)
            self.settle_failed(run, error)
        except WriteConflict as lost:
            raise _still_open() from lost

    def _compensate(self, action: ConnectorAction) -> None:
        try:
            remove_ours(replace(action, deadline=Deadline.after(_COMPENSATION_SECONDS)))
        except OutcomeUnknown:
            raise
        except (Unavailable, TimedOut):
            return  # a connector that was created all the same is an orphan, which ticks remove

    def settle_failed(self, run: OperationRun[R], error: HeadgateError) -> None:
        """Close the operation as failed; once more if other rows of the transaction were written meanwhile.

        Raises WriteConflict when another worker has taken the operation over.
        """
        for attempt in range(1, _SETTLE_ATTEMPTS + 1):
            try:
                self._commit_failure(run, error)
            except WriteConflict as conflict:
                if conflict.label == "operation.changed" or attempt == _SETTLE_ATTEMPTS:
                    raise
            else:
                return

    def _commit_failure(self, run: OperationRun[R], error: HeadgateError) -> None:
        owner, resource, transaction = run.owner, run.resource, Transaction()
        self.write_failure(transaction, run, error)
        if stored := owner.store.find(resource.id):  # a delivery that is being deployed has no row yet
            failure = Failure(code=error.code, message=error.message, at=self.clock())
            owner.store.save(transaction, replace(stored, open_operation=None, last_error=failure))
        if condition := failure_condition(run, error):
            cause = run.operation.correlation_id
            self.incidents.settle(transaction, OPERATIONS, self.clock(), began=[condition], correlation_id=cause)
        owner.on_failed(transaction, run.operation, resource, run.deps)
        self.stores.observations.bump(transaction, resource.connect_cluster_id, resource.id)
        transaction.commit()

    def write_failure(self, transaction: Transaction, run: OperationRun[R], error: HeadgateError) -> None:
        """Settle the operation's own row as failed, with its audit record."""
        ended: dict[str, Any] = {"error_code": error.code, "error_message": error.message, "finished_at": self.clock()}
        self.stores.operations.save(transaction, replace(run.operation, step=OperationStep.FAILED, **ended))
        self._audit(transaction, run, Outcome.FAILED, error=error)

    def _start_after_deploy(self, run: OperationRun[R], settled: R, action: ConnectorAction) -> R:
        """E2, and after a deploy a short observation. After an error a tick resumes or pauses the connector."""
        stopped = settled.observation is not None and settled.observation.state is ObservedState.STOPPED
        recreated = run.operation.kind is OperationKind.RECREATE
        if run.operation.kind not in _WRITES_CONFIG or not (stopped or recreated):
            return settled
        paused = settled.desired_state is DesiredState.PAUSED
        # A tick has others to look after.
        wait = 0.0 if recreated else WAIT_SECONDS
        try:
            if paused:
                action.connect.pause(action.name, action.deadline)
                started = True
            else:
                started = run.owner.start(run.context, settled, run.deps, lambda: _resume(action), wait=wait)
            if recreated:
                return settled  # the next tick sees it
            observation = self._look(action, settled, settled.desired_state) if started else waiting(self.clock())
        except HeadgateError as error:
            observation = unreadable(error.message, self.clock())
        observed, transaction = replace(settled, observation=observation), Transaction()
        saved = run.owner.store.save(transaction, observed)
        try:
            transaction.commit()
            return saved
        except (WriteConflict, StoreUnavailable):
            return observed

    def _look(self, action: ConnectorAction, resource: R, desired: DesiredState) -> Observation:
        """Ask until the connector is as desired or has failed, for a few seconds at most."""
        expected = ObservedState.PAUSED if desired is DesiredState.PAUSED else ObservedState.RUNNING
        until = action.deadline.within(_SETTLE_SECONDS)
        while True:
            observation = self._look_once(action, resource)
            # A failed task does not recover; every other reason for DEGRADED may pass within seconds.
            tasks = observation.connector.tasks if observation.connector else ()
            failed_task = any(task.state is ReportedState.FAILED for task in tasks)
            unread = observation.connector is None and observation.state is ObservedState.UNKNOWN
            if observation.state in (expected, ObservedState.FAILED) or failed_task or unread or until.passed:
                return observation
            self.sleep(0.25)

    def _look_once(self, action: ConnectorAction, resource: R) -> Observation:
        try:
            status = action.connect.find_status(action.name, action.deadline)
        except HeadgateError as error:
            return unreadable(error.message, self.clock())
        return observe(status, now=self.clock(), tasks=resource.expected_tasks)

    def _audit(
        self,
        transaction: Transaction,
        run: OperationRun[R],
        outcome: Outcome,
        *,
        after: R | None = None,
        error: HeadgateError | None = None,
    ) -> None:
        owner, operation, resource = run.owner, run.operation, run.resource
        details: Mapping[str, Any] | None = view(after) if after else None
        if error:
            details = {"error": {"code": error.code, "message": error.message}}
        elif operation.kind is OperationKind.DELETE and outcome is Outcome.SUCCESS:
            details = owner.deletion_details(resource, run.released)
        self.audit.record(
            transaction,
            replace(run.context, actor=operation.actor, correlation_id=operation.correlation_id),
            f"{owner.store.noun}.{operation.kind}",
            resource.id,
            resource_name=resource.name,
            outcome=outcome,
            before=view(resource) if outcome is Outcome.SUCCESS else None,
            after=details,
            parent_id=owner.parent_id(resource),
            consequences=run.consequences if outcome is Outcome.REQUESTED else (),
        )


def _resume(action: ConnectorAction) -> None:
    action.connect.resume(action.name, action.deadline)


def _busy() -> Conflict:
    return Conflict(
        "Another operation on this is still open. Wait until it is settled and repeat.", code="OPERATION_IN_PROGRESS"
    )


def _still_open() -> OutcomeUnknown:
    return OutcomeUnknown("The outcome is not known yet. Headgate looks again and settles it.")
