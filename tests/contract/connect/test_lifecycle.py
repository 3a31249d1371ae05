"""Resuming, pausing, stopping and configuring connectors."""

import pytest

from tests.contract.conftest import Shop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually


@pytest.fixture
def failed(shop: Shop, connect: ConnectView) -> str:
    """The name of a source that runs, and whose task has failed: its publication does not exist."""
    config = shop.source(publication__autocreate__mode="disabled")
    connect.create(config, state=None)
    connect.wait_for_states(config["name"], "RUNNING", "FAILED")
    return config["name"]


def test_a_stopped_connector_runs_once_it_is_resumed(stopped: dict[str, str], shop: Shop, connect: ConnectView) -> None:
    assert connect.call("PUT", f"/connectors/{stopped['name']}/resume").status_code == 202
    connect.wait_for_states(stopped["name"], "RUNNING", "RUNNING")
    eventually(shop.slots, lambda slots: slots == {stopped["slot.name"]: True})


def test_pausing_and_resuming_reach_the_task_too(running: dict[str, str], connect: ConnectView) -> None:
    name = running["name"]
    assert connect.call("PUT", f"/connectors/{name}/pause").status_code == 202
    connect.wait_for_states(name, "PAUSED", "PAUSED")
    connect.call("PUT", f"/connectors/{name}/resume")
    connect.wait_for_states(name, "RUNNING", "RUNNING")


def test_a_stopped_connector_has_no_task_and_frees_its_slot(
    running: dict[str, str], shop: Shop, connect: ConnectView
) -> None:
    name = running["name"]
    assert connect.call("PUT", f"/connectors/{name}/stop").status_code == 204
    connect.wait_for_states(name, "STOPPED")
    eventually(shop.slots, lambda slots: slots == {running["slot.name"]: False})
    assert connect.call("GET", f"/connectors/{name}/tasks").json() == []


def test_a_task_that_has_failed_is_gone_once_its_connector_is_stopped(failed: str, connect: ConnectView) -> None:
    assert connect.call("PUT", f"/connectors/{failed}/stop").status_code == 204
    connect.wait_for_states(failed, "STOPPED")


def test_a_task_that_has_failed_stays_so_while_its_connector_is_paused_and_resumed(
    failed: str, connect: ConnectView
) -> None:
    assert connect.call("PUT", f"/connectors/{failed}/pause").status_code == 202
    connect.wait_for_states(failed, "PAUSED", "FAILED")
    connect.call("PUT", f"/connectors/{failed}/resume")
    connect.wait_for_states(failed, "RUNNING", "FAILED")


def test_pausing_a_stopped_connector_makes_it_paused_without_tasks_and_resuming_starts_them(
    stopped: dict[str, str], connect: ConnectView
) -> None:
    assert connect.call("PUT", f"/connectors/{stopped['name']}/pause").status_code == 202
    connect.wait_for_states(stopped["name"], "PAUSED")
    connect.call("PUT", f"/connectors/{stopped['name']}/resume")
    connect.wait_for_states(stopped["name"], "RUNNING", "RUNNING")


def test_the_same_change_twice_is_the_same_as_once(running: dict[str, str], connect: ConnectView) -> None:
    path = f"/connectors/{running['name']}"
    assert [connect.call("PUT", f"{path}/resume").status_code for _ in range(2)] == [202, 202]
    assert [connect.call("PUT", f"{path}/stop").status_code for _ in range(2)] == [204, 204]
    connect.wait_for_states(running["name"], "STOPPED")


@pytest.mark.parametrize("action", ["pause", "resume", "stop"])
def test_a_change_of_an_unknown_connector_is_404(connect: ConnectView, action: str) -> None:
    response = connect.call("PUT", f"/connectors/nobody/{action}")
    assert (response.status_code, response.json()["message"]) == (404, "Unknown connector nobody")


def test_putting_a_configuration_creates_a_connector_that_runs(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    bare = {key: value for key, value in config.items() if key != "name"}
    response = connect.call("PUT", f"/connectors/{config['name']}/config", bare)
    assert response.status_code == 201
    assert response.json()["config"] == config
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")


def test_putting_a_configuration_keeps_a_stopped_connector_stopped(
    stopped: dict[str, str], connect: ConnectView
) -> None:
    changed = {**stopped, "headgate.owner": "another"}
    response = connect.call("PUT", f"/connectors/{stopped['name']}/config", changed)
    assert (response.status_code, response.json()["config"]) == (200, changed)
    eventually(lambda: connect.states(stopped["name"]), lambda seen: seen == ("STOPPED", []))
    assert connect.call("GET", f"/connectors/{stopped['name']}/config").json() == changed


@pytest.mark.parametrize("changes", [{}, {"headgate.owner": "another"}])
def test_a_running_connector_still_runs_after_a_put(
    running: dict[str, str], connect: ConnectView, changes: dict[str, str]
) -> None:
    assert connect.call("PUT", f"/connectors/{running['name']}/config", {**running, **changes}).status_code == 200
    connect.wait_for_states(running["name"], "RUNNING", "RUNNING")


def test_a_configuration_that_is_refused_changes_nothing(
    running: dict[str, str], shop: Shop, connect: ConnectView
) -> None:
    changed = {**running, "database.dbname": f"{shop.name}_missing"}
    assert connect.call("PUT", f"/connectors/{running['name']}/config", changed).status_code == 400
    assert connect.call("GET", f"/connectors/{running['name']}/config").json() == running


def test_a_worker_that_was_killed_restarts_with_old_statuses(
    running: dict[str, str], shop: Shop, connect: ConnectView
) -> None:
    shop.servers.kill_worker()
    shop.servers.start_worker()
    path = f"/connectors/{running['name']}/status"
    first = eventually(
        lambda: connect.call("GET", path),
        lambda response: response.headers["Content-Type"].startswith("application/json"),
    )
    assert first.json()["connector"]["state"] == "RUNNING"
    eventually(shop.slots, lambda slots: slots == {running["slot.name"]: True})
    connect.wait_for_states(running["name"], "RUNNING", "RUNNING")
