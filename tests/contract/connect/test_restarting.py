"""Restarts, also while secrets cannot be read."""

import time
from collections.abc import Iterator

import pytest

from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.names import ConnectorKind
from tests.contract.conftest import Servers, Shop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually

SECRET_PROVIDER_GIVES_UP_SECONDS = 4.0
"""After this time the worker's secret provider no longer tries to read a secret."""
TASK_START_SECONDS = 2.0
"""A task has started after this time. Until then Connect still reports the state before the restart."""


@pytest.fixture
def closed_secret_endpoint(servers: Servers, running: dict[str, str]) -> Iterator[None]:
    """The secret endpoint refuses connections, once the source has started."""
    servers.secret_endpoint.close()
    yield
    servers.secret_endpoint.close()
    servers.secret_endpoint.open()


def test_a_restart_of_the_connector_alone_is_204(running: dict[str, str], connect: ConnectView) -> None:
    assert connect.call("POST", f"/connectors/{running['name']}/restart").status_code == 204
    connect.wait_for_states(running["name"], "RUNNING", "RUNNING")


def test_a_restart_with_tasks_returns_its_plan(running: dict[str, str], connect: ConnectView) -> None:
    response = connect.call("POST", f"/connectors/{running['name']}/restart?includeTasks=true")
    assert response.status_code == 202
    assert response.json()["connector"]["state"] == "RESTARTING"
    assert [task["state"] for task in response.json()["tasks"]] == ["RESTARTING"]
    connect.wait_for_states(running["name"], "RUNNING", "RUNNING")


def test_a_restart_of_what_failed_does_not_restart_the_rest(running: dict[str, str], connect: ConnectView) -> None:
    response = connect.call("POST", f"/connectors/{running['name']}/restart?includeTasks=true&onlyFailed=true")
    assert response.status_code == 202
    assert response.json()["connector"]["state"] == "RUNNING"
    assert [task["state"] for task in response.json()["tasks"]] == ["RUNNING"]


def test_a_stopped_connector_stays_stopped_when_it_is_restarted(stopped: dict[str, str], connect: ConnectView) -> None:
    assert connect.call("POST", f"/connectors/{stopped['name']}/restart").status_code == 204
    assert connect.call("POST", f"/connectors/{stopped['name']}/restart?includeTasks=true").status_code == 202
    connect.wait_for_states(stopped["name"], "STOPPED")


def test_a_task_can_be_restarted_alone(running: dict[str, str], connect: ConnectView) -> None:
    assert connect.call("POST", f"/connectors/{running['name']}/tasks/0/restart").status_code == 204
    connect.wait_for_states(running["name"], "RUNNING", "RUNNING")


@pytest.mark.parametrize("path", ["restart?includeTasks=true", "tasks/0/restart"])
def test_what_is_paused_is_paused_again_when_it_is_restarted(
    running: dict[str, str], connect: ConnectView, path: str
) -> None:
    name = running["name"]
    connect.call("PUT", f"/connectors/{name}/pause")
    connect.wait_for_states(name, "PAUSED", "PAUSED")
    assert connect.call("POST", f"/connectors/{name}/{path}").status_code in (202, 204)
    time.sleep(TASK_START_SECONDS)
    connect.wait_for_states(name, "PAUSED", "PAUSED")
    connect.call("PUT", f"/connectors/{name}/resume")
    connect.wait_for_states(name, "RUNNING", "RUNNING")


def test_an_unknown_task_is_404(running: dict[str, str], connect: ConnectView) -> None:
    response = connect.call("POST", f"/connectors/{running['name']}/tasks/7/restart")
    assert (response.status_code, response.json()["message"]) == (404, f"Unknown task: {running['name']}-7")


@pytest.mark.parametrize("path", ["restart", "restart?includeTasks=true", "tasks/0/restart"])
def test_an_unknown_connector_is_404(connect: ConnectView, path: str) -> None:
    response = connect.call("POST", f"/connectors/nobody/{path}")
    assert (response.status_code, response.json()["message"]) == (404, "Unknown connector: nobody")


@pytest.mark.usefixtures("closed_secret_endpoint")
def test_without_secrets_nothing_can_be_created_or_validated(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    assert connect.create(config).status_code == 500
    path = f"/connector-plugins/{config['connector.class']}/config/validate"
    assert connect.call("PUT", path, config).status_code == 500
    assert connect.call("GET", f"/connectors/{config['name']}").status_code == 404


@pytest.mark.usefixtures("closed_secret_endpoint")
def test_without_secrets_a_restart_of_the_connector_leaves_it_unassigned(
    running: dict[str, str], connect: ConnectView
) -> None:
    assert connect.call("POST", f"/connectors/{running['name']}/restart").status_code == 500
    connect.wait_for_states(running["name"], "UNASSIGNED", "RUNNING")


@pytest.mark.usefixtures("closed_secret_endpoint")
def test_without_secrets_a_restart_with_tasks_hangs_until_another_one(
    running: dict[str, str], servers: Servers, connect: ConnectView
) -> None:
    path = f"/connectors/{running['name']}/restart?includeTasks=true"
    assert connect.call("POST", path).status_code == 202
    connect.wait_for_states(running["name"], "RESTARTING", "RESTARTING")
    assert connect.trace(running["name"]) == ""
    # Until then it may still read the secret, and the restart goes on.
    time.sleep(SECRET_PROVIDER_GIVES_UP_SECONDS)
    servers.secret_endpoint.open()
    assert connect.states(running["name"]) == ("RESTARTING", ["RESTARTING"])
    connect.call("POST", path)
    connect.wait_for_states(running["name"], "RUNNING", "RUNNING")


def test_without_secrets_a_resumed_connector_runs_without_task(
    stopped: dict[str, str], servers: Servers, connect: ConnectView
) -> None:
    servers.secret_endpoint.close()
    try:
        assert connect.call("PUT", f"/connectors/{stopped['name']}/resume").status_code == 202
        connect.wait_for_states(stopped["name"], "RUNNING")
    finally:
        servers.secret_endpoint.open()
    eventually(lambda: connect.states(stopped["name"]), lambda seen: seen == ("RUNNING", ["RUNNING"]))


def test_a_restart_of_what_failed_repairs_a_restart_that_hangs(
    running: dict[str, str], servers: Servers, connect: ConnectView
) -> None:
    path = f"/connectors/{running['name']}/restart?includeTasks=true"
    servers.secret_endpoint.close()
    try:
        connect.call("POST", path)
        connect.wait_for_states(running["name"], "RESTARTING", "RESTARTING")
        time.sleep(SECRET_PROVIDER_GIVES_UP_SECONDS)
    finally:
        servers.secret_endpoint.open()
    # It stays in this state although the secrets can be read again.
    time.sleep(0.5)
    assert connect.states(running["name"]) == ("RESTARTING", ["RESTARTING"])
    response = connect.call("POST", f"{path}&onlyFailed=true")
    assert (response.status_code, response.json()["connector"]["state"]) == (202, "RESTARTING")
    connect.wait_for_states(running["name"], "RUNNING", "RUNNING")


def test_what_a_worker_cannot_start_without_secrets_stays_failed_until_it_is_restarted(
    running: dict[str, str], servers: Servers, connect: ConnectView
) -> None:
    name = running["name"]
    servers.kill_worker()
    servers.secret_endpoint.close()
    try:
        servers.start_worker()
        eventually(lambda: _state_of(connect, name), lambda state: state == "FAILED")
        connect.wait_for_states(name, "FAILED", "FAILED")
    finally:
        servers.secret_endpoint.open()
    diagnosis = classify(connect.trace(name), ConnectorKind.SOURCE)
    assert diagnosis is not Diagnosis.GENERAL
    assert hint_of(diagnosis, ConnectorKind.SOURCE).event_type == "CDC_CONNECTOR_FAILED"
    # Long enough for a worker to have tried again, if it ever did.
    time.sleep(1)
    assert connect.states(name) == ("FAILED", ["FAILED"])
    connect.call("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")
    connect.wait_for_states(name, "RUNNING", "RUNNING")


def _state_of(connect: ConnectView, name: str) -> str:
    """The connector's state; "none" while the worker is not ready."""
    response = connect.call("GET", f"/connectors/{name}/status")
    is_json = response.headers["Content-Type"].startswith("application/json")
    return str(response.json()["connector"]["state"]) if is_json and response.status_code == 200 else "none"


def test_a_failed_task_is_restarted_alone_once_its_cause_is_repaired(shop: Shop, connect: ConnectView) -> None:
    config = shop.source(publication__autocreate__mode="disabled")
    connect.create(config, state=None)
    connect.wait_for_states(config["name"], "RUNNING", "FAILED")
    shop.admin.execute(f'CREATE PUBLICATION "{config["publication.name"]}" FOR TABLE orders')
    response = connect.call("POST", f"/connectors/{config['name']}/restart?includeTasks=true&onlyFailed=true")
    assert response.json()["connector"]["state"] == "RUNNING"
    assert [task["state"] for task in response.json()["tasks"]] == ["RESTARTING"]
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")
    assert connect.trace(config["name"]) == ""
