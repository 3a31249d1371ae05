"""What Connect says about plug-ins, configs and its Kafka, before a connector is created."""

from dataclasses import replace

import pytest

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.errors import Invalid, Unavailable
from chalicelib.services.connectors.validation import ConnectorValidation
from infra.local.doubles.connect_plugins import POSTGRES_SOURCE
from infra.local.doubles.kafka import KafkaDouble
from tests.support.apps.in_process_app import InProcessApp

NAME = "headgate-source-1"


@pytest.fixture
def validation(app: InProcessApp) -> ConnectorValidation:
    return app.services.pipeline_connector.validation


@pytest.fixture
def built(app: InProcessApp) -> BuiltConfig:
    """A valid config of a source connector."""
    pipeline, owner = app.pipeline(), app.services.pipeline_connector
    return owner.config(pipeline, owner.load_dependencies(pipeline))


def without(built: BuiltConfig, key: str) -> BuiltConfig:
    return replace(built, lines={name: value for name, value in built.lines.items() if name != key})


def test_an_installed_plug_in_is_accepted_and_another_one_is_named(
    app: InProcessApp, validation: ConnectorValidation
) -> None:
    validation.require(app.context(), app.cluster, POSTGRES_SOURCE)
    with pytest.raises(Invalid) as refused:
        validation.require(app.context(), app.cluster, "com.example.Other")
    assert (refused.value.code, refused.value.details) == ("PLUGIN_MISSING", {"connector_class": "com.example.Other"})


def test_a_valid_config_has_no_errors(app: InProcessApp, validation: ConnectorValidation, built: BuiltConfig) -> None:
    assert validation.validate(app.context(), app.cluster, NAME, built).error_count == 0
    validation.require_valid(app.context(), app.cluster, NAME, built, deployed=True)


def test_a_refused_config_is_reported_by_field(
    app: InProcessApp, validation: ConnectorValidation, built: BuiltConfig
) -> None:
    incomplete = without(built, "topic.prefix")
    found = validation.validate(app.context(), app.cluster, NAME, incomplete)
    assert [error["field"] for error in found.errors] == ["topic.prefix"]
    with pytest.raises(Invalid) as refused:
        validation.require_valid(app.context(), app.cluster, NAME, incomplete, deployed=True)
    assert refused.value.code == "CONNECTOR_CONFIG_INVALID"
    assert refused.value.details == {"errors": list(found.errors)}


def known(app: InProcessApp) -> tuple[StreamCluster, ConnectCluster]:
    """Both clusters, with the id of their Kafka."""
    return replace(app.stream, kafka_cluster_id="kafka"), replace(app.cluster, kafka_cluster_id="kafka")


def test_clusters_whose_kafka_is_known_are_compared_without_a_call(
    app: InProcessApp, validation: ConnectorValidation
) -> None:
    stream, cluster = known(app)
    app.connect.calls.clear()
    validation.require_same_kafka(app.context(), stream, cluster)
    with pytest.raises(Invalid):
        validation.require_same_kafka(app.context(), stream, replace(cluster, kafka_cluster_id="another"))
    assert app.connect.calls.count() == 0


def test_workers_whose_kafka_is_not_known_are_asked(app: InProcessApp, validation: ConnectorValidation) -> None:
    stream, cluster = app.stream, replace(app.cluster, kafka_cluster_id=None)
    validation.require_same_kafka(app.context(), stream, cluster)
    with pytest.raises(Invalid):
        validation.require_same_kafka(app.context(), replace(stream, kafka_cluster_id="another"), cluster)
    with app.connect_down(), pytest.raises(Unavailable):
        validation.require_same_kafka(app.context(), stream, cluster)


def test_brokers_whose_kafka_is_not_known_are_asked(app: InProcessApp, validation: ConnectorValidation) -> None:
    another = KafkaDouble(cluster_id="another").start()
    try:
        address = replace(app.stream.address, bootstrap_servers=another.address)
        stream = replace(app.stream, kafka_cluster_id=None, address=address)
        with pytest.raises(Invalid):
            validation.require_same_kafka(app.context(), stream, app.cluster)
    finally:
        another.stop()
