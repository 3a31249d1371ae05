"""Deploys with faults, on DynamoDB Local, which is closer to DynamoDB than moto. That of a delivery is `long`."""

from collections.abc import Callable, Iterator

import pytest

from tests.faults.cases.connectors import DEPLOY_DELIVERY, DEPLOY_PIPELINE
from tests.faults.cases.operation_case import OperationCase
from tests.faults.failure_modes import CRASHES, STORE_FAULTS
from tests.faults.fault_runs import PreparedCase, inject_at_each_point
from tests.support.apps.dynamodb_local import app_on_dynamodb_local
from tests.support.apps.in_process_app import InProcessApp

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def local_app() -> Iterator[InProcessApp]:
    """An app on a DynamoDB Local of its own."""
    with app_on_dynamodb_local() as app:
        yield app


@pytest.mark.parametrize(
    "operation_case", [DEPLOY_PIPELINE, pytest.param(DEPLOY_DELIVERY, marks=pytest.mark.long)], ids=str
)
def test_a_deploy_recovers_from_a_fault_at_any_call(
    local_app: InProcessApp, operation_case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    """Every crash and every fault of the store, at every point."""
    prepared_case = PreparedCase.prepare(local_app, operation_case, local_app.snapshot())
    results = {fault: inject_at_each_point(local_app, prepared_case, fault) for fault in (*CRASHES, *STORE_FAULTS)}
    record_property("scenarios", sum(count for count, _ in results.values()))
    assert not {str(fault): wrong for fault, (_, wrong) in results.items() if wrong}
