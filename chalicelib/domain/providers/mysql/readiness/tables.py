"""What readiness asks of the tables that are to be captured."""

from collections.abc import Callable
from dataclasses import replace

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.capture_tables import engine_fault, table_issues, unlogged_keys
from chalicelib.domain.providers.mysql.capture_types import is_read_wrong
from chalicelib.domain.providers.mysql.facts import MySQLRawColumn, MySQLRawTable, MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.hosting import change_setting
from chalicelib.domain.providers.mysql.sql import quoted_table
from chalicelib.domain.readiness import Check, Judgement, failed, for_plan, listed, passed, readiness_check, table_check
from chalicelib.domain.table import IssueCode, IssueSeverity, colliding_topics

_TYPE_CODES = (IssueCode.TYPE_NOT_CAPTURED, IssueCode.TYPE_STOPS_TASK, IssueCode.TYPE_CHANGES_VALUE)


def captured(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> tuple[MySQLRawTable, ...]:
    """The tables to judge: those of the plan that exist and are no views, without the columns that it leaves out.

    Without a plan, all that were read.
    """
    if plan is None:
        return facts.tables
    tables = [table for name in plan.tables if (table := facts.table(name)) is not None and table.is_table]
    return tuple(_without(table, plan) for table in tables) if plan.excluded_columns else tuple(tables)


def _without(table: MySQLRawTable, plan: MySQLCapturePlan) -> MySQLRawTable:
    excluded = {column.column_name for column in plan.excluded_columns if column.table == table.name}
    return replace(table, raw_columns=tuple(column for column in table.raw_columns if column.name not in excluded))


@readiness_check(
    "tables",
    name="Tables exist",
    description="Every captured table exists. The connector would run and send nothing for one that does not, also "
    "where its database is missing.",
)
@for_plan
def tables_exist(facts: MySQLServerFacts, plan: MySQLCapturePlan) -> Judgement:
    # Whether a table that is denied exists is not known, and what to do about it is said by another check.
    missing = [name for name in plan.tables if facts.table(name) is None and name not in facts.denied]
    views = [table.name for name in plan.tables if (table := facts.table(name)) and not table.is_table]
    if not missing and not views:
        return passed(f"{len(plan.tables)} found", "all exist")
    return failed(
        listed({"missing": missing, "views": views}),
        "all exist",
        "Take these out of the pipeline, or discover the source again and choose existing tables.",
    )


@readiness_check("topic_names", name="Topic names", description="Each captured table has a topic of its own.")
@for_plan
def topic_names(_facts: MySQLServerFacts, plan: MySQLCapturePlan) -> Judgement:
    pairs = colliding_topics(plan.captured_tables)
    if not pairs:
        return passed("all different", "all different")
    return failed(
        f"one topic for {name_list(sorted(pairs))}",
        "all different",
        "Capture these tables in pipelines with different topic_prefix: in a topic's name every character outside "
        "A-Z, a-z, 0-9, '.', '_' and '-' becomes '_'.",
    )


@table_check(
    "engine",
    name="Storage engines",
    description="The tables are InnoDB's: a snapshot of others is not of one moment, and may miss what they lose.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"ALTER TABLE {quoted_table(t.name)} ENGINE = InnoDB;",
    expected="InnoDB",
    note="It writes the whole table anew and blocks writers until it is done.",
)
def engine(table: MySQLRawTable) -> str | None:
    return str(table.engine) if engine_fault(table) is not None else None


@table_check(
    "primary_key",
    name="Primary keys",
    description="Tables with a key can be delivered by replacing rows; others only by adding rows. Debezium takes no "
    "other unique key.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"ALTER TABLE {quoted_table(t.name)} ADD PRIMARY KEY (COLUMNS);",
    expected="a primary key",
    note="It writes the whole table anew. From MySQL 8.0.30 on, sql_generate_invisible_primary_key = ON gives new "
    "tables a hidden one.",
)
def primary_key(table: MySQLRawTable) -> str | None:
    return None if table.primary_key_columns else ""


@table_check(
    "hidden_keys",
    name="Hidden keys",
    description="The server shows the primary keys that it has made (sql_generate_invisible_primary_key). Otherwise "
    "the snapshot arrives, and the task stops at the first change: it has a column that the connector does not know.",
    tables=captured,
    fix=lambda _t, facts: change_setting(facts, "show_gipk_in_create_table_and_information_schema", "ON"),
    expected="shown to every session",
)
def hidden_keys(table: MySQLRawTable) -> str | None:
    return "" if table.key_is_hidden else None


@table_check(
    "fk_cascades",
    name="Foreign keys that change rows",
    description="No foreign key changes rows of a captured table by itself: those changes are not in the binary log "
    "before MySQL 9.6, and targets keep rows that were deleted.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"-- {t.name}: delete its rows in the application before those that they refer to",
    expected="none with CASCADE, SET NULL or SET DEFAULT",
    note="Or move to MySQL 9.6 with innodb_native_foreign_keys = OFF, where they are in the log.",
)
def fk_cascades(table: MySQLRawTable) -> str | None:
    keys = unlogged_keys(table)
    return name_list(keys) if keys else None


@table_check(
    "partitions",
    name="Partitions",
    description="No partition of a captured table is dropped or truncated: its rows would go without row events.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"-- {t.name}: delete rows with DELETE, or remove them from the targets yourself",
    expected="not partitioned, or partitions are never dropped",
)
def partitions(table: MySQLRawTable) -> str | None:
    return "" if table.partitioned else None


def _columns(table: MySQLRawTable, applies: Callable[[MySQLRawColumn], bool]) -> str | None:
    """The columns of which something is true, as a fault; none where there are none."""
    names = [column.name for column in table.raw_columns if applies(column)]
    return f"columns {name_list(names)}" if names else None


@table_check(
    "charset",
    name="Character sets",
    description="Texts are read in their own character set. With some sets the snapshot is right, and changes bring "
    "other letters without any error.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"ALTER TABLE {quoted_table(t.name)} CONVERT TO CHARACTER SET utf8mb4;",
    expected="utf8mb4, or another set that Debezium reads right",
    note="It writes the whole table anew and blocks writers until it is done.",
)
def charset(table: MySQLRawTable) -> str | None:
    return _columns(table, is_read_wrong)


@table_check(
    "column_types",
    name="Column types",
    description="Values of every column arrive as they are.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"-- {t.name}: see the issues of this table; leave it out or accept the loss",
    expected="arrive unchanged",
)
def column_types(table: MySQLRawTable) -> str | None:
    issues = [issue for issue in table_issues(table) if issue.severity is not IssueSeverity.INFO]
    changed = {issue.column for issue in issues if issue.code in _TYPE_CODES}
    return _columns(table, lambda c: c.name in changed and not is_read_wrong(c))


def _shown(
    key: str, *, name: str, description: str, expected: str, applies: Callable[[MySQLRawColumn], bool]
) -> Check[MySQLServerFacts, MySQLCapturePlan | None]:
    """A check that always passes: it shows columns that people should know of."""

    def judge(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
        named = [f"{table.name} ({text})" for table in captured(facts, plan) if (text := _columns(table, applies))]
        return passed(name_list(named) if named else "none", expected) if captured(facts, plan) else None

    return Check(key=key, name=name, description=description, judge=judge, severity=IssueSeverity.INFO)


generated = _shown(
    "generated",
    name="Generated columns",
    description="Values of generated columns arrive (measured). The column of a target must be an ordinary one.",
    expected="an ordinary column in each target",
    applies=lambda column: column.generated is not None,
)
invisible = _shown(
    "invisible",
    name="Invisible columns",
    description="Invisible columns are captured, and are visible in targets.",
    expected="known: SELECT * does not show them in the source",
    applies=lambda column: column.invisible,
)
