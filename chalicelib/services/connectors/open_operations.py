"""Open operations whose lease has ended: their worker is gone, and the tick finishes them from what it observes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.operation import MAX_DEFECTS, Operation, OperationStep
from chalicelib.domain.timing import OPERATION_LEASE
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.isolation import isolated
from chalicelib.kit.log import failure, get_logger, log_context
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.operation_run import OperationRun
from chalicelib.services.connectors.owner import ConnectorOwner

_SECONDS = 20.0
"""What one operation may take of a tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOperations:
    owners: Mapping[str, ConnectorOwner[Any]]
    lifecycle: Lifecycle

    def roll_forward(self, operation: Operation, deadline: Deadline) -> None:
        """Take the lease of an open operation and finish it from what is observed, if there is time for it.

        Errors are stored with the operation when it is settled, or it is tried again when this lease has ended.
        After a defect of ours it is not tried for ever: see `MAX_DEFECTS`.
        """
        if deadline.passed:
            return
        about = {"resource_type": operation.resource_type, "resource_id": operation.resource_id}
        with log_context(correlation_id=operation.correlation_id, **about), isolated():
            until = self.lifecycle.clock() + OPERATION_LEASE
            leased = self.lifecycle.stores.operations.save_alone(replace(operation, lease_until=until))
            try:
                self._finish(leased, deadline)
            except HeadgateError:
                return
            except Exception as error:  # noqa: BLE001 - one broken operation must not stop the rest of the tick
                get_logger().error("an operation could not be finished", extra={"failure": failure(error)})
                self._count_defect(leased, deadline)

    def _finish(self, leased: Operation, deadline: Deadline) -> None:
        if run := self._run(leased, deadline):
            self.lifecycle.carry_out(run)
        else:
            closed = replace(leased, step=OperationStep.FAILED, finished_at=self.lifecycle.clock())
            self.lifecycle.stores.operations.save_alone(closed)

    def _run(self, operation: Operation, deadline: Deadline) -> OperationRun[Any] | None:
        """The run that continues the operation; None when the resource does not exist any more."""
        owner = self.owners[operation.resource_type]
        resource = owner.load(operation)
        if resource is None:
            return None
        return OperationRun(
            context=RequestContext(
                actor=SYSTEM, correlation_id=operation.correlation_id, deadline=deadline.within(_SECONDS)
            ),
            owner=owner,
            operation=operation,
            resource=resource,
            deps=owner.load_dependencies(resource),
            first_attempt=False,
        )

    def _count_defect(self, leased: Operation, deadline: Deadline) -> None:
        """Settle the operation as failed after `MAX_DEFECTS`.

        A connector that a failed deploy has left behind is an orphan, and the plan removes it in time.
        """
        stored = self.lifecycle.stores.operations.get(leased.id)
        if stored.step.settled:
            return
        counted = replace(stored, defects=stored.defects + 1)
        if counted.defects >= MAX_DEFECTS and (run := self._run(counted, deadline)):
            error = HeadgateError("A defect of Headgate stopped this. Its log holds the details.")
            self.lifecycle.settle_failed(run, error)
            return
        self.lifecycle.stores.operations.save_alone(counted)
