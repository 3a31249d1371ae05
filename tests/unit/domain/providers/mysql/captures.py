"""A deployed capture from a MySQL server that works, and looks at it with something changed."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.monitoring.source_state import CaptureState, Finding
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Capture, Pipeline, SnapshotMode
from chalicelib.domain.providers.mysql.binlog import ServerBinlog
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import (
    MySQLCaptureFacts,
    capture_state,
    lost_changes,
    with_offset,
)
from chalicelib.domain.table import TableName
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ORDERS, CUSTOMERS = TableName("shop", "orders"), TableName("shop", "customers")
A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
FILES = {"bin.000003": 900, "bin.000004": 1000, "bin.000005": 500}
SETTINGS = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_value_options": "",
}


def pipeline(mode: SnapshotMode = SnapshotMode.INITIAL, **fields: Any) -> Pipeline:
    properties = fields.pop("properties", {})
    capture = Capture(topic_prefix="p", tables=(ORDERS, CUSTOMERS), snapshot_mode=mode, properties=properties)
    state = {"desired_state": DesiredState.RUNNING, "provider": DatabaseProvider.MYSQL, "capture": capture}
    return make_pipeline(**{**state, **fields})


RUNNING = pipeline()
LOG = ServerBinlog(
    files=FILES,
    executed=GtidSet.parse(f"{A}:1-99"),
    purged=GtidSet.parse(f"{A}:1-20"),
    uses_gtids=True,
    retention_seconds=7 * 86_400,
)
WELL = MySQLCaptureFacts(server_uuid="one", binlog=LOG, settings=SETTINGS, readers=frozenset({"16"}))
PLAIN = replace(WELL, binlog=ServerBinlog(files=FILES, executed=GtidSet(), retention_seconds=7 * 86_400))
"""A server without GTIDs."""

OFFSET = {"ts_sec": int(NOW.timestamp()), "file": "bin.000005", "pos": 400, "gtids": f"{A}:1-98", "server_id": 1}
WITHOUT = {key: value for key, value in OFFSET.items() if key != "gtids"}
BEFORE = CaptureState(server="one", position="bin.000005:300", reader="16", log_end="bin.000005:450")


def look(
    facts: MySQLCaptureFacts = WELL,
    offset: Mapping[str, Any] | None = OFFSET,
    *,
    of: Pipeline = RUNNING,
    before: CaptureState | None = BEFORE,
    supported: bool = True,
) -> CaptureState:
    state = capture_state(facts, of, before, NOW)
    return with_offset(facts, of, before, state, StoredOffset(offset, supported=supported), NOW)


def codes(state: CaptureState) -> list[str]:
    return [finding.code.value for finding in state.findings]


def lost(
    facts: MySQLCaptureFacts,
    offset: Mapping[str, Any] | None = OFFSET,
    *,
    of: Pipeline = RUNNING,
    before: CaptureState | None = BEFORE,
    reads_on: bool = False,
) -> Finding | None:
    return lost_changes(facts, of, before, StoredOffset(offset), reads_on=reads_on)
