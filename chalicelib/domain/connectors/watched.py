"""How the connectors of pipelines and deliveries are watched."""

from datetime import timedelta

from chalicelib.domain.debezium import DEFAULT_HEARTBEAT_MS
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.watched import Watched
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.pipeline import Pipeline, SnapshotMode

HEARTBEATS_MISSED = 3
LEAST_QUIET = timedelta(seconds=30)
"""A capture stands still when it is quiet for longer than three of its heartbeats, and at least for so long."""

SINK_QUIET = timedelta(seconds=180)
"""A sink commits what it has delivered every `offset.flush.interval.ms` of its worker, by default each minute. This is
three times as long.
"""

_NO_HEARTBEATS = (
    "Its heartbeats are switched off (heartbeat_interval_ms 0), so an idle capture looks like one that stands still."
)
_SNAPSHOT_ONLY = "Its snapshot_mode is initial_only: it is quiet once its snapshot is complete."


def watched(resource: Pipeline | Delivery) -> Watched:
    """What is measured of its connector."""
    return watched_pipeline(resource) if isinstance(resource, Pipeline) else watched_delivery(resource)


def watched_pipeline(pipeline: Pipeline) -> Watched:
    """The heartbeat of an idle capture is what shows that it moves."""
    capture, notice = pipeline.capture, None
    if capture.snapshot_mode is SnapshotMode.INITIAL_ONLY:
        notice = _SNAPSHOT_ONLY
    elif capture.heartbeat_topic is None:
        notice = _NO_HEARTBEATS
    interval = capture.options.heartbeat_interval_ms
    heartbeat = timedelta(milliseconds=DEFAULT_HEARTBEAT_MS if interval is None else interval)
    return Watched(
        connector=pipeline.connector_name,
        kind=ConnectorKind.SOURCE,
        topics=capture.topics,
        heartbeat_topic=capture.heartbeat_topic,
        quiet=max(LEAST_QUIET, HEARTBEATS_MISSED * heartbeat),
        notice=notice,
    )


def watched_delivery(delivery: Delivery) -> Watched:
    return Watched(
        connector=delivery.connector_name,
        kind=ConnectorKind.SINK,
        topics=tuple(dict.fromkeys(delivery.topics)),
        quiet=SINK_QUIET,
    )
