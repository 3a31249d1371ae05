"""Facts of a PostgreSQL server that is ready for capture, and the verdict on them with something changed."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import (
    PostgreSQLRawColumn,
    PostgreSQLRawTable,
    PostgreSQLServerFacts,
    PublicationFacts,
    PublishedTable,
    RoleFacts,
    TypeFacts,
)
from chalicelib.domain.providers.postgresql.readiness.checks import CHECKS
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.readiness import ReadinessReport, judge
from chalicelib.domain.table import TableName
from tests.support.databases import readiness

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ORDERS = TableName("shop", "orders")
COLUMN = PostgreSQLRawColumn(name="id", ordinal=1, type="bigint", base=TypeFacts(name="bigint"), nullable=False)
TABLE = PostgreSQLRawTable(name=ORDERS, raw_columns=(COLUMN,), primary_key_columns=("id",), owned=True)
FACTS = PostgreSQLServerFacts(
    version="18.4",
    version_number=180004,
    database="shop",
    wal_level="logical",
    max_slot_wal_keep_megabytes=10240,
    role=RoleFacts(name="cdc"),
    tables=(TABLE,),
)
FIRST_PLAN = PostgreSQLCapturePlan(tables=(ORDERS,), slot_name="slot", publication_name="pub")
"""Of a pipeline that has never been deployed."""
PLAN = replace(FIRST_PLAN, made=frozenset({"slot", "publication"}))
"""Of one that has made, or will make, slot and publication."""
HEARTBEAT = PostgreSQLRawTable(
    name=TableName("shop", "heartbeat"),
    raw_columns=(COLUMN, replace(COLUMN, name="ts", type="timestamp with time zone")),
    primary_key_columns=("id",),
    owned=True,
    has_unique_id=True,
    can_write_heartbeat=True,
)
BEATING = replace(PLAN, heartbeat_table=HEARTBEAT.name)
EXISTING = replace(PLAN, publication_mode=PublicationMode.EXISTING)
PUBLICATION = PublicationFacts(name="pub", tables=(PublishedTable(name=ORDERS),), table_count=1)


def judged(plan: PostgreSQLCapturePlan | None = PLAN, **changes: Any) -> ReadinessReport:
    """The verdict on facts that are ready, with these changes."""
    return judge(CHECKS, replace(FACTS, **changes), plan, NOW)


def failing(plan: PostgreSQLCapturePlan | None = PLAN, **changes: Any) -> set[str]:
    return readiness.failing(judged(plan, **changes))


def warning(plan: PostgreSQLCapturePlan | None = PLAN, **changes: Any) -> set[str]:
    return readiness.warning(judged(plan, **changes))
