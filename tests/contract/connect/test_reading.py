"""What Connect reports: itself, its plug-ins, lists, tasks, topics and offsets."""

import pytest

from tests.support.apps.doubles import JDBC_SINK, POSTGRES_SOURCE, ConnectView
from tests.support.waiting import eventually


def test_the_root_shows_version_and_kafka_cluster(connect: ConnectView) -> None:
    identity = connect.call("GET", "/").json()
    assert identity.keys() == {"version", "commit", "kafka_cluster_id"}
    assert identity["version"].startswith("4.3.")


def test_health_is_reported(connect: ConnectView) -> None:
    response = connect.call("GET", "/health")
    assert (response.status_code, response.json()["status"]) == (200, "healthy")


def test_the_debezium_plug_ins_are_listed(connect: ConnectView) -> None:
    plugins = {one["class"]: (one["type"], one["version"]) for one in connect.call("GET", "/connector-plugins").json()}
    assert plugins[POSTGRES_SOURCE] == ("source", "3.6.0.Final")
    assert plugins[JDBC_SINK] == ("sink", "3.6.0.Final")


def test_an_unknown_path_is_404_with_a_json_body(connect: ConnectView) -> None:
    response = connect.call("GET", "/nothing/here")
    assert response.status_code == 404
    assert response.json() == {"error_code": 404, "message": "HTTP 404 Not Found"}


def test_an_unknown_method_is_405(connect: ConnectView) -> None:
    assert connect.call("PATCH", "/connectors").status_code == 405


@pytest.mark.parametrize("path", ["", "/config", "/tasks", "/offsets"])
def test_an_unknown_connector_is_404(connect: ConnectView, path: str) -> None:
    response = connect.call("GET", f"/connectors/nobody{path}")
    assert (response.status_code, response.json()["message"]) == (404, "Connector nobody not found")


def test_an_unknown_connector_has_topics_nevertheless(connect: ConnectView) -> None:
    assert connect.call("GET", "/connectors/nobody/topics").json() == {"nobody": {"topics": []}}


def test_the_plain_list_has_names(running: dict[str, str], connect: ConnectView) -> None:
    assert running["name"] in connect.call("GET", "/connectors").json()


def test_the_expanded_list_has_the_requested_parts(running: dict[str, str], connect: ConnectView) -> None:
    name = running["name"]
    both = connect.call("GET", "/connectors?expand=status&expand=info").json()[name]
    assert both["status"] == connect.call("GET", f"/connectors/{name}/status").json()
    assert both["info"] == connect.call("GET", f"/connectors/{name}").json()
    assert connect.call("GET", "/connectors?expand=status").json()[name].keys() == {"status"}
    assert connect.call("GET", "/connectors?expand=nonsense").json()[name] == {}


def test_a_status_shows_worker_and_version(running: dict[str, str], connect: ConnectView) -> None:
    status = connect.call("GET", f"/connectors/{running['name']}/status").json()
    assert status["type"] == "source"
    assert status["connector"].keys() == {"state", "worker_id", "version"}
    (task,) = status["tasks"]
    assert task["id"] == 0
    assert task == connect.call("GET", f"/connectors/{running['name']}/tasks/0/status").json()


def test_tasks_are_shown_with_references(running: dict[str, str], connect: ConnectView) -> None:
    (task,) = connect.call("GET", f"/connectors/{running['name']}/tasks").json()
    assert task["id"] == {"connector": running["name"], "task": 0}
    assert task["config"]["database.password"] == running["database.password"]
    assert task["config"]["task.class"] == "io.debezium.connector.postgresql.PostgresConnectorTask"
    unknown = connect.call("GET", f"/connectors/{running['name']}/tasks/1/status")
    assert unknown.json()["message"] == f"No status found for task {running['name']}-1"


def test_a_running_source_creates_a_topic_per_table(running: dict[str, str], connect: ConnectView) -> None:
    path, prefix = f"/connectors/{running['name']}/topics", running["topic.prefix"]
    expected = {f"{prefix}.public.orders", f"{prefix}.public.Odd_N_me"}
    seen = eventually(lambda: connect.call("GET", path).json(), lambda body: len(body[running["name"]]["topics"]) == 2)
    assert set(seen[running["name"]]["topics"]) == expected


def test_offsets_belong_to_the_topic_prefix_and_are_deleted_only_when_stopped(
    running: dict[str, str], connect: ConnectView
) -> None:
    path = f"/connectors/{running['name']}/offsets"
    (offset,) = eventually(lambda: connect.call("GET", path).json()["offsets"], lambda found: len(found) == 1)
    assert offset["partition"] == {"server": running["topic.prefix"]}
    refused = connect.call("DELETE", path)
    assert refused.status_code == 400
    assert "must be in the STOPPED state" in refused.json()["message"]
    connect.call("PUT", f"/connectors/{running['name']}/stop")
    connect.wait_for_states(running["name"], "STOPPED")
    eventually(lambda: connect.call("DELETE", path).status_code, lambda status: status == 200)
    # a worker lists a deleted offset as null until it has read its own deletion from the topic of offsets
    eventually(lambda: connect.call("GET", path).json(), lambda body: body == {"offsets": []})
