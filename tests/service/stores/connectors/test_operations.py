"""Operations: the open ones of a cluster are listed, settled ones expire."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from chalicelib.domain.operation import Operation, OperationKind, OperationStep
from chalicelib.stores.connectors.operations import OperationRows, Operations
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def stored(operation_id: str, cluster_id: str = "cluster") -> Operation:
    operation = Operation(
        id=operation_id, kind=OperationKind.DEPLOY, resource_type="pipeline", resource_id="r",
        connect_cluster_id=cluster_id, connector_name="n", config_hash=None, actor_id=None, actor_email=None,
        actor_via="session", correlation_id="c", step=OperationStep.REQUESTED, lease_until=NOW, created_at=NOW,
    )  # fmt: skip
    transaction = Transaction()
    Operations().put_new(transaction, operation)
    transaction.commit()
    return operation


def settle(operation: Operation, step: OperationStep) -> None:
    transaction = Transaction()
    Operations().save(transaction, replace(operation, step=step, finished_at=NOW))
    transaction.commit()


def test_the_open_operations_of_a_cluster_are_listed(storage: Storage) -> None:
    for operation_id in ("open", "done", "failed"):
        stored(operation_id)
    stored("elsewhere", "another cluster")
    settle(Operations().get("done"), OperationStep.SUCCEEDED)
    settle(Operations().get("failed"), OperationStep.FAILED)
    assert [one.id for one in Operations().open_on("cluster")] == ["open"]


def test_only_a_settled_operation_expires(storage: Storage) -> None:
    settle(stored("done"), OperationStep.SUCCEEDED)
    stored("open")
    assert OperationRows.get("done").expires_at == NOW + timedelta(days=7)
    assert OperationRows.get("open").expires_at is None
