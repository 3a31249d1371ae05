"""What readiness asks of the tables that are to be captured."""

from collections.abc import Sequence
from dataclasses import replace

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.postgresql.capture_tables import columns_differing_by_case, table_issues
from chalicelib.domain.providers.postgresql.facts import Persistence, PostgreSQLRawTable, PostgreSQLServerFacts
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.readiness import Judgement, failed, for_plan, listed, passed, readiness_check, table_check
from chalicelib.domain.table import IssueCode, IssueSeverity, colliding_topics

_TYPE_CODES = (IssueCode.TYPE_NOT_CAPTURED, IssueCode.TYPE_STOPS_TASK, IssueCode.TYPE_CHANGES_VALUE)


def captured(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> tuple[PostgreSQLRawTable, ...]:
    """The tables to judge: those of the plan that exist, without the columns that it leaves out.

    Without a plan, all that were read.
    """
    if plan is None:
        return facts.tables
    tables = [table for name in plan.tables if (table := facts.table(name)) is not None]
    return tuple(_without(table, plan) for table in tables) if plan.excluded_columns else tuple(tables)


def _without(table: PostgreSQLRawTable, plan: PostgreSQLCapturePlan) -> PostgreSQLRawTable:
    excluded = {column.column_name for column in plan.excluded_columns if column.table == table.name}
    kept = tuple(column for column in table.raw_columns if column.name not in excluded)
    return replace(table, raw_columns=kept)


@readiness_check(
    "tables",
    name="Tables exist",
    description="Every captured table exists. The connector would run and send nothing for one that does not.",
)
@for_plan
def tables_exist(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement:
    missing = [name for name in plan.tables if facts.table(name) is None]
    other = [f"{table.name} ({table.kind})" for table in captured(facts, plan) if not table.kind.is_table]
    if not missing and not other:
        return passed(f"{len(plan.tables)} found", "all exist")
    return failed(
        listed({"missing": missing, "not a table": other}),
        "all exist",
        "Take these out of the pipeline, or discover the source again and choose existing tables.",
    )


def _columns(names: Sequence[str | None]) -> str | None:
    """The fault of these columns; none where there are none."""
    return f"columns {name_list(names)}" if names else None


def _rename(table: PostgreSQLRawTable, _facts: PostgreSQLServerFacts) -> str:
    name = columns_differing_by_case(table)[-1]
    return f"ALTER TABLE {quoted_table(table.name)} RENAME COLUMN {quoted(name)} TO {quoted(name.lower() + '_2')};"


@readiness_check("topic_names", name="Topic names", description="Each captured table has a topic of its own.")
@for_plan
def topic_names(_facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement:
    pairs = colliding_topics(plan.tables)
    if not pairs:
        return passed("all different", "all different")
    return failed(
        f"one topic for {name_list(sorted(pairs))}",
        "all different",
        "Capture these tables in pipelines with different topic_prefix: in a topic's name every character outside "
        "A-Z, a-z, 0-9, '.', '_' and '-' becomes '_'.",
    )


def _grant_select(table: PostgreSQLRawTable, facts: PostgreSQLServerFacts) -> str:
    """Of the whole table, or of the columns that are captured where some are left out."""
    whole = facts.table(table.name)
    is_whole = whole is None or len(whole.raw_columns) == len(table.raw_columns)
    columns = "" if is_whole else f" ({', '.join(quoted(column.name) for column in table.raw_columns)})"
    return f"GRANT SELECT{columns} ON TABLE {quoted_table(table.name)} TO {quoted(facts.role.name)};"


def _see_all_rows(table: PostgreSQLRawTable, facts: PostgreSQLServerFacts) -> str:
    name = quoted(f"{facts.role.name}_reads_all"[:63])
    role = quoted(facts.role.name)
    return f"CREATE POLICY {name} ON {quoted_table(table.name)} FOR SELECT TO {role} USING (true);"


@table_check(
    "schema_usage",
    name="Use of the schemas",
    description="The role may use the tables' schemas. Without it the connector runs and not one row arrives.",
    tables=captured,
    fix=lambda t, facts: f"GRANT USAGE ON SCHEMA {quoted(t.name.schema_name)} TO {quoted(facts.role.name)};",
    expected="USAGE on every schema",
)
def schema_usage(table: PostgreSQLRawTable) -> str | None:
    return None if table.schema_usage else ""


@table_check(
    "select_privilege",
    name="Read privilege",
    description="The role may read every captured column. Without it the connector runs and not one row arrives.",
    tables=captured,
    fix=_grant_select,
    expected="SELECT on every captured column",
)
def select_privilege(table: PostgreSQLRawTable) -> str | None:
    hidden = table.unreadable_columns
    return "" if hidden and len(hidden) == len(table.raw_columns) else _columns(hidden)


@table_check(
    "row_security",
    name="Row level security",
    description="No policy hides rows from the role. Rows would be missing and changes lost.",
    tables=captured,
    fix=_see_all_rows,
    expected="hides no row from the role",
    note="The policy shows every row of the table to this one role, also where row level security is forced. "
    "A role with BYPASSRLS sees every row of every table: that is a decision about security.",
)
def row_security(table: PostgreSQLRawTable) -> str | None:
    return "" if table.row_security_active else None


@table_check(
    "logged_tables",
    name="Logged tables",
    description="Changes of the tables reach the write-ahead log.",
    tables=captured,
    fix=lambda t, _facts: f"ALTER TABLE {quoted_table(t.name)} SET LOGGED;",
    expected="changes are written to the log",
    note="SET LOGGED writes the whole table anew and locks it (ACCESS EXCLUSIVE) until it is done: "
    "run it when the application can wait.",
)
def logged_tables(table: PostgreSQLRawTable) -> str | None:
    return None if table.persistence is Persistence.PERMANENT else str(table.persistence)


@table_check(
    "primary_key",
    name="Primary keys",
    description="Tables with a key can be delivered by replacing rows; others only by adding rows.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"ALTER TABLE {quoted_table(t.name)} ADD PRIMARY KEY (COLUMNS);",
    expected="a primary key",
    note="It builds an index under a lock (ACCESS EXCLUSIVE). For a large table: CREATE UNIQUE INDEX "
    "CONCURRENTLY, then ADD PRIMARY KEY USING INDEX.",
)
def primary_key(table: PostgreSQLRawTable) -> str | None:
    return None if table.primary_key_columns else ""


@table_check(
    "column_names",
    name="Column names",
    description="No two columns of a table differ only by upper and lower case: the capture stops there.",
    tables=captured,
    fix=_rename,
    expected="differ by more than case",
)
def column_names(table: PostgreSQLRawTable) -> str | None:
    return _columns(columns_differing_by_case(table))


@table_check(
    "cursor_columns",
    name="Columns that stop the capture",
    description="No column has a type at whose values the capture stops or stays, such as refcursor or arrays of bits.",
    tables=captured,
    fix=lambda t, _facts: f"-- {t.name}: leave these columns out (options.exclude_columns)",
    expected="none",
)
def cursor_columns(table: PostgreSQLRawTable) -> str | None:
    issues = [issue for issue in table_issues(table) if issue.severity is IssueSeverity.FAIL]
    return _columns([issue.column for issue in issues if issue.code is IssueCode.TYPE_STOPS_TASK])


@table_check(
    "column_types",
    name="Column types",
    description="Values of every column arrive as they are.",
    severity=IssueSeverity.WARN,
    tables=captured,
    fix=lambda t, _facts: f"-- {t.name}: see the issues of this table; leave it out or accept the loss",
    expected="arrive unchanged",
)
def column_types(table: PostgreSQLRawTable) -> str | None:
    issues = [issue for issue in table_issues(table) if issue.severity is not IssueSeverity.INFO]
    return _columns([issue.column for issue in issues if issue.code in _TYPE_CODES])
