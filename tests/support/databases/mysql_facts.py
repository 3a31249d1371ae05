"""Facts of a MySQL server that is ready for capture, and the verdict on them with something changed."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import (
    BinlogStatus,
    ConnectionUse,
    Grants,
    MySQLRawColumn,
    MySQLRawTable,
    MySQLServerFacts,
    Readers,
)
from chalicelib.domain.providers.mysql.readiness.checks import CHECKS
from chalicelib.domain.readiness import ReadinessReport, judge
from chalicelib.domain.table import TableName
from tests.support.databases import readiness

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ORDERS = TableName("shop", "orders")
UUID = "0cc7fc2d-eaa4-11f1-b7b7-02fc00000001"
COLUMN = MySQLRawColumn(name="id", ordinal=1, type="bigint", nullable=False)
TABLE = MySQLRawTable(name=ORDERS, raw_columns=(COLUMN,), primary_key_columns=("id",))
RIGHTS = frozenset({"SELECT", "RELOAD", "REPLICATION SLAVE", "REPLICATION CLIENT", "PROCESS"})
VARIABLES: Mapping[str, str] = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_value_options": "",
    "binlog_expire_logs_seconds": "2592000",
    "expire_logs_days": "0",
    "gtid_mode": "ON",
    "server_id": "1",
    "server_uuid": UUID,
    "lower_case_table_names": "0",
    "log_replica_updates": "ON",
    "max_connections": "151",
    "max_allowed_packet": "67108864",
    "net_write_timeout": "60",
    "wait_timeout": "28800",
    "time_zone": "SYSTEM",
    "system_time_zone": "UTC",
}
FACTS = MySQLServerFacts(
    version="8.4.3 (MySQL Community Server - GPL)",
    version_number=80403,
    host="db.example",
    variables=VARIABLES,
    grants=Grants(account="cdc@%", global_privileges=RIGHTS),
    binlog=BinlogStatus(file="mysql-bin.000001", position=157),
    readers=Readers(sees_all=True),
    connections=ConnectionUse(maximum=151),
    tables=(TABLE,),
)
PLAN = MySQLCapturePlan(tables=(ORDERS,), server_id=200_000_001)
HEARTBEAT = MySQLRawTable(
    name=TableName("shop", "heartbeat"),
    raw_columns=(COLUMN, replace(COLUMN, name="ts", type="timestamp", nullable=True)),
    primary_key_columns=("id",),
)
BEATING = replace(PLAN, heartbeat_table=HEARTBEAT.name)


def with_variables(**changed: str | None) -> dict[str, Any]:
    """The variables with these changes, for `judged`; None for one that the server does not have."""
    merged = {**VARIABLES, **changed}
    return {"variables": {name: value for name, value in merged.items() if value is not None}}


def judged(plan: MySQLCapturePlan | None = PLAN, **changes: Any) -> ReadinessReport:
    """The verdict on facts that are ready, with these changes."""
    return judge(CHECKS, replace(FACTS, **changes), plan, NOW)


def failing(plan: MySQLCapturePlan | None = PLAN, **changes: Any) -> set[str]:
    return readiness.failing(judged(plan, **changes))


def warning(plan: MySQLCapturePlan | None = PLAN, **changes: Any) -> set[str]:
    return readiness.warning(judged(plan, **changes))
