"""What readiness asks of the old rows: replica identity, large values, partitions and child tables."""

from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import RawTable, ServerFacts
from chalicelib.domain.providers.postgresql.readiness.tables import each_table
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
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.readiness import Check, Judge, Judgement, passed
from chalicelib.domain.table import IssueSeverity


def _where_old_rows_are_published(judge: Judge[ServerFacts, CapturePlan]) -> Judge[ServerFacts, CapturePlan]:
    """A judge that passes where neither updates nor deletes are, or will be, published."""

    def judge_published(facts: ServerFacts, plan: CapturePlan | None) -> Judgement | None:
        judgement = judge(facts, plan)
        if judgement is None or _publishes_old_rows(facts, plan):
            return judgement
        return passed("neither updates nor deletes are published", judgement.expected)

    return judge_published


def _publishes_old_rows(facts: ServerFacts, plan: CapturePlan | None) -> bool:
    publication = facts.publication(plan.publication_name) if plan is not None else None
    if publication is None:
        return plan is None or plan.publication_mode is PublicationMode.FILTERED
    return publication.updates or publication.deletes


def _missing_identity(table: RawTable) -> str | None:
    if not lacks_identity(table):
        return None
    count = table.without_identity.count
    return f"{count} of {table.partitions} partitions" if count else str(table.replica_identity)


def _leave_out(table: RawTable, _facts: ServerFacts) -> str:
    if is_hypertable(table):
        return f"-- Leave {table.name} out of the pipeline: Headgate does not capture hypertables"
    return f"-- Leave {table.name} out of the pipeline and capture its child tables"


IDENTITY_CHECKS: tuple[Check[ServerFacts, CapturePlan], ...] = (
    Check(
        key="replica_identity",
        name="Replica identity",
        judge=_where_old_rows_are_published(
            each_table(
                _missing_identity,
                lambda table, _facts: full_identity(table, table.without_identity),
                "FULL, or DEFAULT with a primary key",
                note="Or give the table a primary key. Do it before the deploy: once the tables are published, UPDATE "
                f"and DELETE on these tables fail for everybody. {PRICE}",
            )
        ),
        description="Updates and deletes of published tables can say which row they mean. Where they cannot, "
        "PostgreSQL refuses them, and the application that owns the table breaks.",
    ),
    Check(
        key="large_values",
        name="Large values",
        judge=_where_old_rows_are_published(
            each_table(
                lost_large_values,
                lambda table, _facts: full_identity(table, table.not_full),
                "REPLICA IDENTITY FULL, or a key of integers, numeric, texts, uuid or boolean with plain names",
                note=f"{PRICE} Or leave the columns out (exclude_columns).",
            )
        ),
        description="A large value that an update leaves alone is not in the log. Debezium reads it again by the "
        "primary key; where it cannot, a placeholder would replace the value in every target, without any error.",
    ),
    Check(
        key="later_partitions",
        name="Later partitions",
        severity=IssueSeverity.WARN,
        judge=_where_old_rows_are_published(
            each_table(
                lambda table: "" if later_partitions_need_full(table) else None,
                lambda table, _facts: f"-- {table.name}: ALTER TABLE PARTITION REPLICA IDENTITY FULL; for each new one",
                "partitions inherit a key that is enough",
                note=LATER_PARTITIONS,
                only_warns=True,
            )
        ),
        description="A partition that is made later can be captured as it is made.",
    ),
    Check(
        key="child_tables",
        name="Child tables",
        judge=each_table(missed_children, _leave_out, "no table inherits from a captured one"),
        description="No other table inherits from a captured one. The snapshot would bring the rows of such child "
        "tables, and none of their changes would follow.",
    ),
)
