"""The Connect double: what it counts, which plug-ins it has, how it starts and stops."""

from infra.local.doubles.connect import ConnectDouble
from infra.local.doubles.connect_plugins import CAMEL_SINK, JDBC, MYSQL_SOURCE, POSTGRES_SOURCE
from tests.support.apps.doubles import ConnectView, SecretEndpoint
from tests.support.waiting import eventually

Config = dict[str, str]


def test_a_put_of_an_unchanged_configuration_is_counted_as_a_start(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    connect.run(sink)
    assert double.starts("sink-1") == 1
    connect.call("PUT", "/connectors/sink-1/config", sink)
    eventually(lambda: double.starts("sink-1"), lambda starts: starts == 2)


def test_a_removed_plugin_is_neither_offered_nor_accepted(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    double.remove_plugin(JDBC.class_name)
    offered = [one["class"] for one in connect.call("GET", "/connector-plugins").json()]
    assert offered == [POSTGRES_SOURCE, MYSQL_SOURCE, CAMEL_SINK]
    assert connect.create(sink).status_code == 400
    double.add_plugin(JDBC)
    assert connect.create(sink).status_code == 201


def test_thousands_of_connectors_can_be_preloaded_and_listed(double: ConnectDouble, connect: ConnectView) -> None:
    names = [f"headgate-source-{number:032x}" for number in range(3000)]
    double.preload(names)
    double.preload(["broken"], state="FAILED")
    listed = connect.call("GET", "/connectors?expand=status").json()
    assert len(listed) == 3001
    assert listed[names[0]]["status"]["tasks"][0]["state"] == "RUNNING"
    assert connect.states("broken") == ("RUNNING", ["FAILED"])


def test_a_killed_worker_comes_back_with_what_it_had(double: ConnectDouble, connect: ConnectView, sink: Config) -> None:
    connect.run(sink)
    double.crash()
    double.boot()
    starting = connect.call("GET", "/connectors/sink-1")
    assert (starting.status_code, starting.headers["Content-Type"][:9]) == (404, "text/html")
    eventually(lambda: connect.call("GET", "/health").status_code, lambda status: status == 200)
    connect.wait_for_states("sink-1", "RUNNING", "RUNNING")


def test_a_connector_can_vanish_behind_the_control_planes_back(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    connect.create(sink)
    double.drop("sink-1")
    assert connect.call("GET", "/connectors/sink-1").status_code == 404
    assert double.calls.count("DELETE") == 0


def test_stopping_twice_is_as_good_as_once(double: ConnectDouble) -> None:
    double.stop()
    double.stop()
    assert double.names() == []


def test_a_secret_is_asked_for_with_the_service_credential(
    connect: ConnectView, secret_endpoint: SecretEndpoint, sink: Config
) -> None:
    secret_endpoint.credential = "another"
    answer = connect.create(sink)
    assert answer.status_code == 500
    assert "s3cret" not in answer.text
