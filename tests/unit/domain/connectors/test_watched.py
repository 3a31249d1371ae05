"""How long a connector may be quiet, and which topics show that it moves."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.connectors.watched import watched_connector
from chalicelib.domain.delivery import Delivery, TableMapping, TableWriting
from chalicelib.domain.monitoring.watched_connector import WatchedConnector
from chalicelib.domain.pipeline import Capture, CaptureOptions, SnapshotMode
from chalicelib.domain.table import TableName
from tests.support.entities import make_pipeline

ORDERS, LINES = "shop.public.orders", "shop.public.lines"
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
PIPELINE = make_pipeline(
    capture=Capture(topic_prefix="shop", tables=(TableName("public", "orders"), TableName("public", "lines")))
)
DELIVERY = Delivery(
    id="00000000-0000-0000-0000-000000000002",
    name="d",
    destination_id="d",
    pipeline_id=PIPELINE.id,
    connect_cluster_id="c",
    writing=TableWriting(
        mappings=tuple(TableMapping(topic=topic, schema_name="public", table_name="t") for topic in (ORDERS, LINES))
    ),
    created_at=AT,
    updated_at=AT,
)


def capture(snapshot_mode: SnapshotMode = SnapshotMode.INITIAL, heartbeat: int | None = None) -> WatchedConnector:
    options = CaptureOptions(heartbeat_interval_ms=heartbeat)
    return watched_connector(
        replace(PIPELINE, capture=replace(PIPELINE.capture, snapshot_mode=snapshot_mode, options=options))
    )


@pytest.mark.parametrize(("heartbeat", "seconds"), [(None, 30), (5_000, 30), (60_000, 180)])
def test_a_capture_may_be_quiet_for_three_heartbeats_and_for_half_a_minute(heartbeat: int | None, seconds: int) -> None:
    assert capture(heartbeat=heartbeat).quiet == timedelta(seconds=seconds)


def test_a_capture_is_watched_by_its_data_and_its_heartbeats() -> None:
    found = capture()
    assert (found.topics, found.heartbeat_topic, found.notice) == ((ORDERS, LINES), "shop.headgate-heartbeat", None)


@pytest.mark.parametrize("found", [capture(heartbeat=0), capture(SnapshotMode.INITIAL_ONLY)])
def test_a_capture_without_lasting_heartbeats_says_that_its_standstill_is_not_known(found: WatchedConnector) -> None:
    assert found.notice


def test_a_sink_is_watched_by_its_group_and_may_be_quiet_for_three_minutes() -> None:
    found = watched_connector(DELIVERY)
    assert (found.topics, found.heartbeat_topic, found.quiet) == ((ORDERS, LINES), None, timedelta(seconds=180))
    assert found.group == f"connect-{DELIVERY.connector_name}"
