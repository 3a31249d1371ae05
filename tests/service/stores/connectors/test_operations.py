"""Operations: the open ones of a cluster are listed, settled ones expire."""

from dataclasses import replace
from datetime import timedelta

from chalicelib.domain.operation import Operation, OperationKind, OperationStep
from chalicelib.stores.connectors.operations import OperationRows, Operations
from tests.service.stores.conftest import Storage
from tests.support.entities import NOW, store_new


def stored(operation_id: str, cluster_id: str = "cluster") -> Operation:
    operation = Operation(
        id=operation_id, kind=OperationKind.DEPLOY, resource_type="pipeline", resource_id="r",
        connect_cluster_id=cluster_id, connector_name="n", config_hash=None, actor_id=None, actor_email=None,
        actor_via="session", correlation_id="c", step=OperationStep.REQUESTED, lease_until=NOW, created_at=NOW,
    )  # fmt: skip
    store_new(Operations(), operation)
    return operation


def settle(operation: Operation, step: OperationStep) -> None:
    Operations().save_alone(replace(operation, step=step, finished_at=NOW))


def test_the_open_operations_of_a_cluster_are_listed(storage: Storage) -> None:
    for operation_id in ("open", "done", "failed"):
        stored(operation_id)
    stored("elsewhere", "another cluster")
    settle(Operations().get("done"), OperationStep.SUCCEEDED)
    settle(Operations().get("failed"), OperationStep.FAILED)
    assert [operation.id for operation in Operations().open_on("cluster").operations] == ["open"]


def test_only_a_settled_operation_expires(storage: Storage) -> None:
    settle(stored("done"), OperationStep.SUCCEEDED)
    stored("open")
    assert OperationRows.get("done").expires_at == NOW + timedelta(days=7)
    assert OperationRows.get("open").expires_at is None
