"""What readiness asks of the old rows: replica identity, large values, partitions and child tables."""

from dataclasses import replace

from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawTable, PostgreSQLServerFacts
from chalicelib.domain.providers.postgresql.readiness.tables import captured
from chalicelib.domain.providers.postgresql.replica_identity import (
    LATER_PARTITIONS,
    PRICE,
    full_identity,
    is_hypertable,
    lacks_identity,
    later_partitions_need_full,
    lost_large_values,
    missed_children,
)
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.readiness import Check, Judgement, passed, table_check
from chalicelib.domain.table import IssueSeverity

_Check = Check[PostgreSQLServerFacts, PostgreSQLCapturePlan | None]


def _where_old_rows_are_published(check: _Check) -> _Check:
    """The check, which passes where neither updates nor deletes are, or will be, published."""

    def judge(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement | None:
        judgement = check.judge(facts, plan)
        if judgement is None or _publishes_old_rows(facts, plan):
            return judgement
        return passed("neither updates nor deletes are published", judgement.expected)

    return replace(check, judge=judge)


def _publishes_old_rows(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> bool:
    publication = facts.publication(plan.publication_name) if plan is not None else None
    if publication is None:
        # Debezium publishes every kind of change; that the owner's publication is missing is said by another check.
        return plan is None or plan.publication_mode is PublicationMode.FILTERED
    return publication.updates or publication.deletes


def _leave_out(table: PostgreSQLRawTable, _facts: PostgreSQLServerFacts) -> str:
    if is_hypertable(table):
        return f"-- Leave {table.name} out of the pipeline: Headgate does not capture hypertables"
    return f"-- Leave {table.name} out of the pipeline and capture its child tables"


@_where_old_rows_are_published
@table_check(
    "replica_identity",
    name="Replica identity",
    description="Updates and deletes of published tables can say which row they mean. Where they cannot, "
    "PostgreSQL refuses them, and the application that owns the table breaks.",
    tables=captured,
    fix=lambda table, _facts: full_identity(table, table.without_identity),
    expected="FULL, or DEFAULT with a primary key",
    note="Or give the table a primary key. Do it before the deploy: once the tables are published, UPDATE "
    f"and DELETE on these tables fail for everybody. {PRICE}",
)
def replica_identity(table: PostgreSQLRawTable) -> str | None:
    if not lacks_identity(table):
        return None
    count = table.without_identity.count
    return f"{count} of {table.partitions} partitions" if count else str(table.replica_identity)


@_where_old_rows_are_published
@table_check(
    "large_values",
    name="Large values",
    description="A large value that an update leaves alone is not in the log. Debezium reads it again by the "
    "primary key; where it cannot, a placeholder would replace the value in every target, without any error.",
    tables=captured,
    fix=lambda table, _facts: full_identity(table, table.not_full),
    expected="REPLICA IDENTITY FULL, or a key of integers, numeric, texts, uuid or boolean with plain names",
    note=f"{PRICE} Or leave the columns out (exclude_columns).",
)
def large_values(table: PostgreSQLRawTable) -> str | None:
    return lost_large_values(table)


@_where_old_rows_are_published
@table_check(
    "later_partitions",
    name="Later partitions",
    description="A partition that is made later can be captured as it is made.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda table, _facts: f"-- {table.name}: ALTER TABLE PARTITION REPLICA IDENTITY FULL; for each new one",
    expected="partitions inherit a key that is enough",
    note=LATER_PARTITIONS,
)
def later_partitions(table: PostgreSQLRawTable) -> str | None:
    return "" if later_partitions_need_full(table) else None


@table_check(
    "child_tables",
    name="Child tables",
    description="No other table inherits from a captured one. The snapshot would bring the rows of such child "
    "tables, and none of their changes would follow.",
    tables=captured,
    fix=_leave_out,
    expected="no table inherits from a captured one",
)
def child_tables(table: PostgreSQLRawTable) -> str | None:
    return missed_children(table)
