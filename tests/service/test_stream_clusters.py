"""Stream clusters: brokers that cannot be reached, and brokers of another Kafka."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress, SaslMechanism, SecurityProtocol
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.health import HealthStatus
from chalicelib.errors import Conflict, Invalid, Unavailable
from chalicelib.kit.masking import Secret
from chalicelib.services.stream_clusters import StreamClusterService
from infra.local.doubles.kafka import KafkaDouble
from tests.support.apps.in_process_app import InProcessApp
from tests.support.faults import places

UNREACHABLE = "127.0.0.1:1"
Endpoint = OpenedEndpoint[KafkaAddress]


@pytest.fixture(scope="module")
def another() -> Iterator[KafkaDouble]:
    """Brokers of another Kafka cluster."""
    double = KafkaDouble(cluster_id="another").start()
    yield double
    double.stop()


def service(app: InProcessApp) -> StreamClusterService:
    """The service; connections to brokers at `UNREACHABLE` fail at once."""

    def make_kafka(endpoint: Endpoint) -> Kafka:
        if endpoint.address.bootstrap_servers == UNREACHABLE:
            raise Unavailable("The brokers do not answer.")
        return app.services.clients.make_kafka(endpoint)

    return with_kafka(app, make_kafka)


def with_kafka(app: InProcessApp, make_kafka: Callable[[Endpoint], Kafka]) -> StreamClusterService:
    return replace(app.services.stream_clusters, clients=replace(app.services.clients, make_kafka=make_kafka))


def registered(app: InProcessApp, address: str) -> StreamCluster:
    return service(app).create(app.context(), app.stream_input(address))


def moved(app: InProcessApp, cluster: StreamCluster, address: str) -> StreamCluster:
    return service(app).update(app.context(), cluster.id, app.stream_input(address))


def test_brokers_that_cannot_be_reached_are_registered_as_unhealthy(app: InProcessApp) -> None:
    made = registered(app, UNREACHABLE)
    assert (made.health.status, made.health.checked_at) == (HealthStatus.UNHEALTHY, app.clock.now)
    assert made.health.last_error is not None
    back = moved(app, made, app.kafka.address)
    assert (back.health.status, back.kafka_cluster_id is None, back.version) == (HealthStatus.HEALTHY, False, 2)


def test_an_address_that_is_not_allowed_is_an_error(app: InProcessApp) -> None:
    with pytest.raises(Invalid):
        registered(app, "169.254.169.254:9092")


def test_unused_brokers_may_be_replaced_by_another_kafka(app: InProcessApp, another: KafkaDouble) -> None:
    made = registered(app, app.kafka.address)
    assert moved(app, made, another.address).kafka_cluster_id == "another"
    assert moved(app, made, UNREACHABLE).kafka_cluster_id is None


def test_brokers_in_use_cannot_be_replaced_by_another_kafka(app: InProcessApp, another: KafkaDouble) -> None:
    used = app.services.stream_clusters.get(app.cluster.stream_cluster_id)
    with pytest.raises(Conflict) as refused:
        moved(app, used, another.address)
    assert refused.value.code == "RESOURCE_IN_USE"
    cluster = app.cluster
    assert refused.value.details == {"used_by": [{"type": "connect_cluster", "id": cluster.id, "name": cluster.name}]}
    away = moved(app, used, UNREACHABLE)
    assert (away.health.status, away.kafka_cluster_id) == (HealthStatus.UNHEALTHY, used.kafka_cluster_id)


def test_brokers_are_not_replaced_when_workers_are_registered_meanwhile(
    app: InProcessApp, another: KafkaDouble
) -> None:
    made = app.stream

    def register_first(endpoint: Endpoint) -> Kafka:
        app.register_connect(app.connect.url)
        return app.services.clients.make_kafka(endpoint)

    racing = with_kafka(app, register_first)
    with pytest.raises(Conflict) as refused:
        racing.update(app.context(), made.id, app.stream_input(another.address))
    assert refused.value.code == "RESOURCE_IN_USE"
    assert app.services.stream_clusters.get(made.id) == made


def test_values_that_are_not_secret_are_replaced_completely(app: InProcessApp) -> None:
    made = registered(app, UNREACHABLE)
    data = replace(app.stream_input(UNREACHABLE, security_protocol=SecurityProtocol.SSL), name="other")
    now = service(app).update(app.context(), made.id, data)
    assert (now.name, now.address.security_protocol, now.created_at) == ("other", SecurityProtocol.SSL, made.created_at)


def test_the_stored_password_of_brokers_is_never_sent_to_another_place(app: InProcessApp) -> None:
    request = app.stream_input(
        UNREACHABLE,
        security_protocol=SecurityProtocol.SASL_SSL,
        sasl_mechanism=SaslMechanism.SCRAM_SHA_512,
        username="headgate",
    )
    data = replace(request, secrets={"password": Secret("stored")})
    address = replace(request.address, bootstrap_servers="127.0.0.1:2")
    cluster = service(app).create(app.context(), data)
    asked: list[Endpoint] = []

    def unreachable(endpoint: Endpoint) -> Kafka:
        asked.append(endpoint)
        raise Unavailable("The brokers do not answer.")

    clusters = with_kafka(app, unreachable)
    with pytest.raises(Invalid) as refused:
        clusters.update(app.context(), cluster.id, replace(data, secrets={}, address=address))
    assert places(refused.value.details) == [
        {"location": ["body", "credentials", "password"], "type": "required_for_new_target"}
    ]
    assert (asked, clusters.get(cluster.id)) == ([], cluster)
    clusters.update(app.context(), cluster.id, replace(data, secrets={"password": Secret("given")}, address=address))
    assert [endpoint.password for endpoint in asked] == [Secret("given")]
