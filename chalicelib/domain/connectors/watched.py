"""How the connectors of pipelines and deliveries are watched. `monitoring` cannot say it: those entities use it."""

from datetime import timedelta

from chalicelib.domain.debezium import DEFAULT_HEARTBEAT_MS
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.watched_connector import WatchedConnector
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.pipeline import Pipeline, SnapshotMode

MIN_CAPTURE_QUIET = timedelta(seconds=30)
HEARTBEATS_MISSED = 3
"""A capture stands still when it is quiet for longer than three of its heartbeats, and at least for half a minute."""

SINK_QUIET = timedelta(seconds=180)
"""A sink commits what it has delivered every `offset.flush.interval.ms` of its worker, by default each minute. This is
three times as long.
"""

_NO_HEARTBEATS = (
    "Its heartbeats are switched off (heartbeat_interval_ms 0), so an idle capture looks like one that stands still."
)
_SNAPSHOT_ONLY = "Its snapshot_mode is initial_only: it is quiet once its snapshot is complete."


def watched_connector(resource: Pipeline | Delivery) -> WatchedConnector:
    if isinstance(resource, Pipeline):
        return _watched_capture(resource)
    return WatchedConnector(
        connector=resource.connector_name,
        kind=ConnectorKind.SINK,
        topics=tuple(dict.fromkeys(resource.topics)),
        quiet=SINK_QUIET,
        destination_id=resource.destination_id,
    )


def _watched_capture(pipeline: Pipeline) -> WatchedConnector:
    """The heartbeat of an idle capture is what shows that it moves."""
    capture, notice = pipeline.capture, None
    if capture.snapshot_mode is SnapshotMode.INITIAL_ONLY:
        notice = _SNAPSHOT_ONLY
    elif capture.heartbeat_topic is None:
        notice = _NO_HEARTBEATS
    interval = capture.options.heartbeat_interval_ms
    heartbeat = timedelta(milliseconds=DEFAULT_HEARTBEAT_MS if interval is None else interval)
    return WatchedConnector(
        connector=pipeline.connector_name,
        kind=ConnectorKind.SOURCE,
        topics=capture.topics,
        heartbeat_topic=capture.heartbeat_topic,
        quiet=max(MIN_CAPTURE_QUIET, HEARTBEATS_MISSED * heartbeat),
        notice=notice,
    )
