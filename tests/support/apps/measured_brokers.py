"""Brokers that are measured: how far connectors are, their consumer groups say. A pipeline and a delivery on them."""

from dataclasses import replace

import pytest

from chalicelib.domain.cluster import MetricsProvider
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.pipeline import Pipeline
from chalicelib.services.connectors.service import ConnectorService
from tests.support.apps.in_process_app import InProcessApp


def register_measured_brokers(app: InProcessApp) -> None:
    """Register the double of Kafka so that ticks measure it: for the Connect cluster that is registered next."""
    stream = replace(app.stream_input(app.kafka.address), metrics_provider=MetricsProvider.CONSUMER_GROUPS)
    app.services.stream_clusters.create(app.context(), stream)


def measured_pipeline(app: InProcessApp) -> Pipeline:
    """A running pipeline on such brokers, which have no topics but its own."""
    register_measured_brokers(app)
    for topic in list(app.kafka.state.topics):
        app.kafka.state.delete_topic(topic)
    return app.deployed_pipeline()


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A pipeline whose brokers are measured: it runs and has sent a heartbeat."""
    pipeline = measured_pipeline(app)
    app.kafka.state.create_topic(str(pipeline.capture.heartbeat_topic))
    app.tick()
    return pipeline


@pytest.fixture
def delivery(app: InProcessApp, pipeline: Pipeline) -> Delivery:
    """A delivery of its first topic."""
    destination = app.destination()
    data = app.delivery_input(pipeline)
    delivery = app.services.deliveries.deploy(app.context(), destination.id, data)
    app.tick()
    return delivery


def metrics(service: ConnectorService[Pipeline] | ConnectorService[Delivery], resource_id: str) -> Metrics:
    (found,) = (one for one in service.list(limit=10, after=None).items if one.id == resource_id)
    return found.metrics or Metrics()
