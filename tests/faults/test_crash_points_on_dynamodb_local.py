"""Deploys whose calls go wrong, over tables that keep DynamoDB's promises more strictly than moto does."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from infra.local.process.ports import kept_ports
from infra.local.process.processes import Server
from infra.local.process.reaper import Reaper
from infra.local.stack import dynamodb
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from tests.faults.failure_modes import CRASHES, STORE_TROUBLES
from tests.faults.operations import DEPLOY_DELIVERY, DEPLOY_PIPELINE, Scene
from tests.faults.scenario import Stage, play
from tests.support.call_interceptor import CallInterceptor
from tests.support.in_process_app import InProcessApp, app_on
from tests.support.tables import on_dynamodb_local

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def local_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessApp]:
    """A house over a DynamoDB Local of its own."""
    state: Path = tmp_path_factory.mktemp("dynamodb")
    folders, interceptor = Folders(state), CallInterceptor()
    port = kept_ports(folders.ports, ["dynamodb"])["dynamodb"]
    with ExitStack() as ends:
        reaper = Reaper()
        ends.callback(reaper.close)
        server = Server(dynamodb.plan(fetch_all().dynamodb, folders, port=port), reaper)
        ends.callback(server.stop)
        server.start()
        tables = ends.enter_context(on_dynamodb_local(interceptor, f"http://127.0.0.1:{port}"))
        yield ends.enter_context(app_on(tables, interceptor))


@pytest.mark.parametrize("scene", [DEPLOY_PIPELINE, DEPLOY_DELIVERY], ids=str)
def test_one_call_goes_wrong(
    local_app: InProcessApp, scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    """Every crash and every trouble of the store, at every point."""
    stage = Stage.set(local_app, scene, local_app.keep())
    played = {kind: play(local_app, stage, kind) for kind in (*CRASHES, *STORE_TROUBLES)}
    record_property("scenarios", sum(count for count, _ in played.values()))
    assert not {str(kind): wrong for kind, (_, wrong) in played.items() if wrong}
