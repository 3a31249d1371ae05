"""The clients of Connect and Kafka against the doubles of the sandbox."""

from collections.abc import Iterator

import pytest

from chalicelib.clients.connect.client import AlreadyExists, Connect, OutcomeUnknown
from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.connector_config import config_hash
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.observation import ObservedState, observe
from chalicelib.errors import Invalid
from chalicelib.kit.clock import Deadline, utc_now
from infra.local.doubles import Doubles, start
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.apps.connect_worker import connect_endpoint
from tests.support.waiting import eventually

NAME = "headgate-sink-00000000000040008000000000000001"
SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
CONFIG = {
    "connector.class": SINK,
    "tasks.max": "1",
    "topics": "p.s.t",
    OWNER_KEY: "sink/1",
    "connection.url": "jdbc:postgresql://127.0.0.1:1/d",
}
POLICY = AddressPolicy(allow_loopback=True)


@pytest.fixture(scope="module")
def running() -> Iterator[Doubles]:
    doubles = start(headgate_url="http://127.0.0.1:1", service_credential="none")
    yield doubles
    doubles.stop()


@pytest.fixture
def doubles(running: Doubles) -> Iterator[Doubles]:
    yield running
    running.connect_double.faults.clear()
    for name in running.connect_double.names():
        running.connect_double.drop(name)


@pytest.fixture
def connect(doubles: Doubles) -> Iterator[Connect]:
    client = Connect(connect_endpoint(doubles.connect), check_host=POLICY)
    yield client
    client.close()


def deadline() -> Deadline:
    return Deadline.after(20)


def observed_state(connect: Connect) -> ObservedState:
    return observe(connect.find_status(NAME, deadline()), now=utc_now()).state


def test_a_connector_is_created_read_and_deleted(connect: Connect) -> None:
    connect.create_stopped(NAME, CONFIG, deadline())
    eventually(lambda: observed_state(connect) is ObservedState.STOPPED)
    found = connect.find_config(NAME, deadline())
    assert found is not None
    assert config_hash(found) == config_hash(CONFIG)
    with pytest.raises(AlreadyExists):
        connect.create_stopped(NAME, CONFIG, deadline())
    assert connect.delete(NAME, deadline()) is True
    eventually(lambda: observed_state(connect) is ObservedState.NOT_DEPLOYED)
    assert connect.delete(NAME, deadline()) is False


def test_a_lost_reply_is_an_unknown_outcome_and_a_read_finds_the_connector(connect: Connect, doubles: Doubles) -> None:
    doubles.connect_double.plant(FaultEffect.LOSE_REPLY, "POST", "/connectors$")
    with pytest.raises(OutcomeUnknown):
        connect.create_stopped(NAME, CONFIG, deadline())
    assert connect.find_config(NAME, deadline()) is not None


def test_a_failed_task_has_a_diagnosis_in_the_listing(connect: Connect, doubles: Doubles) -> None:
    doubles.connect_double.preload([NAME], config={"connector.class": SINK})
    trace = "x\nCaused by: org.postgresql.util.PSQLException: FATAL: sorry, too many clients already\n"
    doubles.connect_double.show(NAME, "FAILED", task=0, trace=trace)
    status = connect.statuses(deadline())[NAME]
    assert observe(status, now=utc_now()).state is ObservedState.FAILED
    assert status.tasks[0].diagnosis is Diagnosis.TOO_MANY


def test_root_and_plugins_are_understood(connect: Connect) -> None:
    assert connect.root(deadline()).kafka_cluster_id
    assert SINK in {plugin.class_name for plugin in connect.plugins(deadline())}


def test_a_class_that_is_not_installed_is_missing(connect: Connect) -> None:
    with pytest.raises(Invalid) as raised:
        connect.validate("x.Unheard", {**CONFIG, "name": NAME}, deadline())
    assert raised.value.code == "PLUGIN_MISSING"


def test_a_wrong_value_is_reported_for_its_field(connect: Connect) -> None:
    errors = connect.validate(SINK, {**CONFIG, "name": NAME, "tasks.max": "many"}, deadline())
    assert [error.field for error in errors] == ["tasks.max"]


def test_connect_and_kafka_report_the_same_cluster(connect: Connect, doubles: Doubles) -> None:
    kafka = Kafka(OpenedEndpoint(KafkaAddress(bootstrap_servers=doubles.kafka)), check_host=POLICY)
    assert kafka.cluster_id(deadline()) == connect.root(deadline()).kafka_cluster_id
    assert isinstance(kafka.topics(deadline()), frozenset)
    kafka.close()
