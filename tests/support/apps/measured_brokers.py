"""Brokers that are measured: how far connectors are, their consumer groups say."""

from dataclasses import replace

from chalicelib.domain.cluster import MetricsProvider
from tests.support.apps.in_process_app import InProcessApp


def register_measured_brokers(app: InProcessApp) -> None:
    """Register the double of Kafka so that ticks measure it: for the Connect cluster that is registered next."""
    stream = replace(app.stream_input(app.kafka.address), metrics_provider=MetricsProvider.CONSUMER_GROUPS)
    app.services.stream_clusters.create(app.context(), stream)
