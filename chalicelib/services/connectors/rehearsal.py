"""A dry run of an operation: what it would do in Kafka Connect, until that would change, and T2 as it would be written.

Then its T1 is tried by the transaction itself, which ends the dry run.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chalicelib.domain.audit.view import view
from chalicelib.domain.observation import Observation
from chalicelib.domain.plans.changes import changes_between
from chalicelib.domain.plans.dry_run import DryRunEnded
from chalicelib.domain.plans.plan import Plan
from chalicelib.errors import HeadgateError, StoreUnavailable
from chalicelib.services.connectors.actions import ACTIONS, ConnectorAction, at_once
from chalicelib.services.connectors.operation_run import OperationRun
from chalicelib.stores.transaction import Transaction

WriteResult = Callable[[Transaction, OperationRun[Any], Observation | None], Any]


def rehearse(plan: Plan, action: ConnectorAction, run: OperationRun[Any], write: WriteResult, *, draft: bool) -> None:
    """Note in the plan what the operation would change, and what is in its way in Kafka Connect and beyond.

    `write` writes the resource as T2 does, into a transaction that is never sent. `draft`: it has no row yet.
    """
    resource = run.resource
    after = write(Transaction(), run, resource.observation)
    before = None if draft else view(resource)
    plan.change(f"{run.owner.store.noun}/{resource.id}", changes_between(before, view(after) if after else None))
    try:
        # Topics are made, and sinks take turns, only by a call that is carried out.
        ACTIONS[run.operation.kind](replace(action, prepare=lambda: None, start=at_once))
    except DryRunEnded:
        return
    except StoreUnavailable:
        raise
    except HeadgateError as error:
        plan.block(error)
