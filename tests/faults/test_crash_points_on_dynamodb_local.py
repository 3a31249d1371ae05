"""Deploys with faults, on DynamoDB Local, which is closer to DynamoDB than moto."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerProcess
from infra.local.process.reaper import Reaper
from infra.local.stack import dynamodb
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from tests.faults.cases.connectors import DEPLOY_DELIVERY, DEPLOY_PIPELINE, OperationCase
from tests.faults.failure_modes import CRASHES, STORE_FAULTS
from tests.faults.fault_runs import PreparedCase, inject_at_each_point
from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.in_process_app import InProcessApp, app_on
from tests.support.apps.tables import on_dynamodb_local

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def local_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessApp]:
    """An app on a DynamoDB Local of its own."""
    state: Path = tmp_path_factory.mktemp("dynamodb")
    folders, interceptor = Folders(state), CallInterceptor()
    port = kept_ports(folders.ports, ["dynamodb"])["dynamodb"]
    with ExitStack() as cleanup:
        reaper = Reaper()
        cleanup.callback(reaper.close)
        server = ServerProcess(dynamodb.plan(fetch_all().dynamodb, folders, port=port), reaper)
        cleanup.callback(server.stop)
        server.start()
        tables = cleanup.enter_context(on_dynamodb_local(interceptor, f"http://127.0.0.1:{port}"))
        yield cleanup.enter_context(app_on(tables, interceptor))


@pytest.mark.parametrize("operation_case", [DEPLOY_PIPELINE, DEPLOY_DELIVERY], ids=str)
def test_a_deploy_recovers_from_a_fault_at_any_call(
    local_app: InProcessApp, operation_case: OperationCase, record_property: Callable[[str, object], None]
) -> None:
    """Every crash and every fault of the store, at every point."""
    prepared_case = PreparedCase.prepare(local_app, operation_case, local_app.snapshot())
    results = {fault: inject_at_each_point(local_app, prepared_case, fault) for fault in (*CRASHES, *STORE_FAULTS)}
    record_property("scenarios", sum(count for count, _ in results.values()))
    assert not {str(fault): wrong for fault, (_, wrong) in results.items() if wrong}
