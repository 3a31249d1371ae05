"""What readiness asks of the tables that are to be captured."""

from collections.abc import Callable, Sequence

from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import PublicationMode
from chalicelib.domain.providers.postgresql.capture_tables import columns_differing_by_case, table_issues
from chalicelib.domain.providers.postgresql.capture_types import CURSOR
from chalicelib.domain.providers.postgresql.facts import Persistence, RawTable, ServerFacts
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.readiness import Check, Finding, Judge, failed, for_plan, listed, passed, statements, warned
from chalicelib.domain.table import IssueCode, Severity, colliding_topics

_TYPE_CODES = (IssueCode.TYPE_NOT_CAPTURED, IssueCode.TYPE_STOPS_TASK, IssueCode.TYPE_CHANGES_VALUE)


def captured(facts: ServerFacts, plan: CapturePlan | None) -> tuple[RawTable, ...]:
    """The tables to judge: those of the plan that exist; without a plan, all that were read."""
    return facts.tables if plan is None else tuple(t for name in plan.tables if (t := facts.table(name)) is not None)


def tables_exist(facts: ServerFacts, plan: CapturePlan) -> Finding:
    missing = [name for name in plan.tables if facts.table(name) is None]
    other = [f"{table.name} ({table.kind})" for table in captured(facts, plan) if not table.kind.is_table]
    if not missing and not other:
        return passed(f"{len(plan.tables)} found", "all exist")
    return failed(
        listed({"missing": missing, "not a table": other}),
        "all exist",
        "Take these out of the pipeline, or discover the source again and choose existing tables.",
    )


Fault = Callable[[RawTable], str | None]
"""Returns None for a table without the fault, else what is wrong in a few words (its name comes before them)."""


def each_table(
    fault: Fault, fix: Callable[[RawTable, ServerFacts], str], expected: str, *, only_warns: bool = False
) -> Judge[ServerFacts, CapturePlan]:
    """A judge of each captured table that names those with the fault, each with its fix."""

    def judge(facts: ServerFacts, plan: CapturePlan | None) -> Finding | None:
        tables = captured(facts, plan)
        if not tables:
            return None
        faults = [(table, found) for table in tables if (found := fault(table)) is not None]
        if not faults:
            return passed("all tables", expected)
        current = name_list(f"{table.name}{f' ({found})' if found else ''}" for table, found in faults)
        fixes = statements([fix(table, facts) for table, _ in faults])
        return (warned if only_warns else failed)(current, expected, fixes)

    return judge


def _unreadable(table: RawTable) -> str | None:
    hidden = table.unreadable_columns
    if not hidden:
        return None
    return "" if len(hidden) == len(table.raw_columns) else f"columns {name_list(hidden)}"


def _with_columns(find: Callable[[RawTable], Sequence[str | None]]) -> Fault:
    """A fault of the columns that are found; no fault when none is."""
    return lambda table: f"columns {name_list(columns)}" if (columns := find(table)) else None


def _differing_by_case(table: RawTable) -> Sequence[str]:
    return columns_differing_by_case(table.raw_columns)


def _rename(table: RawTable, _facts: ServerFacts) -> str:
    name = _differing_by_case(table)[-1]
    return f"ALTER TABLE {quoted_table(table.name)} RENAME COLUMN {quoted(name)} TO {quoted(name.lower() + '_2')};"


def _cursors(table: RawTable) -> Sequence[str]:
    return [column.name for column in table.raw_columns if column.base.name == CURSOR and not column.base.is_array]


def _lossy(table: RawTable) -> Sequence[str | None]:
    return [i.column for i in table_issues(table) if i.code in _TYPE_CODES and i.severity is not Severity.INFO]


def replica_identity(facts: ServerFacts, plan: CapturePlan | None) -> Finding | None:
    """An update of a published table carries a key; without one, the *owners* of the table can update it no more."""
    tables = [table for table in captured(facts, plan) if table.kind.is_table]
    if not tables:
        return None
    faults, expected = [table for table in tables if not table.identity_usable], "FULL, or DEFAULT with a primary key"
    if not faults or not _publishes_old_rows(facts, plan):
        return passed("all tables", expected)
    return failed(
        name_list(f"{table.name} ({table.replica_identity})" for table in faults),
        expected,
        statements([f"ALTER TABLE {quoted_table(table.name)} REPLICA IDENTITY FULL;" for table in faults])
        + "\nOr give the table a primary key. Do it before the deploy: once the tables are published, "
        "UPDATE and DELETE on these tables fail for everybody.",
    )


def _publishes_old_rows(facts: ServerFacts, plan: CapturePlan | None) -> bool:
    """Whether updates or deletes are, or will be, published."""
    publication = facts.publication(plan.publication_name) if plan is not None else None
    if publication is None:
        return plan is None or plan.publication_mode is PublicationMode.FILTERED
    return publication.updates or publication.deletes


def topic_names(_facts: ServerFacts, plan: CapturePlan) -> Finding:
    pairs = colliding_topics(plan.tables)
    if not pairs:
        return passed("all different", "all different")
    return failed(
        f"one topic for {name_list(sorted(pairs))}",
        "all different",
        "Capture these tables in pipelines with different topic_prefix: in a topic's name every character outside "
        "A-Z, a-z, 0-9, '.', '_' and '-' becomes '_'.",
    )


def _grants(of: Callable[[RawTable], str]) -> Callable[[RawTable, ServerFacts], str]:
    return lambda table, facts: f"GRANT {of(table)} TO {quoted(facts.role.name)};"


def _alters(what: str) -> Callable[[RawTable, ServerFacts], str]:
    return lambda table, _facts: f"ALTER TABLE {quoted_table(table.name)} {what};"


TABLE_CHECKS: tuple[Check[ServerFacts, CapturePlan], ...] = (
    Check(
        key="tables",
        name="Tables exist",
        judge=for_plan(tables_exist),
        description="Every captured table exists. The connector would run and send nothing for one that does not.",
    ),
    Check(
        key="schema_usage",
        name="Use of the schemas",
        judge=each_table(
            lambda t: None if t.schema_usage else "",
            _grants(lambda t: f"USAGE ON SCHEMA {quoted(t.name.schema_name)}"),
            "USAGE on every schema",
        ),
        description="The role may use the tables' schemas. Without it the connector runs and not one row arrives.",
    ),
    Check(
        key="select_privilege",
        name="Read privilege",
        judge=each_table(
            _unreadable, _grants(lambda t: f"SELECT ON TABLE {quoted_table(t.name)}"), "SELECT on every column"
        ),
        description="The role may read every column. Without it the connector runs and not one row arrives.",
    ),
    Check(
        key="row_security",
        name="Row level security",
        judge=each_table(
            lambda t: "" if t.row_security_active else None,
            lambda _t, facts: f"ALTER ROLE {quoted(facts.role.name)} BYPASSRLS;",
            "does not apply to the role",
        ),
        description="No policy hides rows from the role. Rows would be missing and changes lost.",
    ),
    Check(
        key="logged_tables",
        name="Logged tables",
        judge=each_table(
            lambda t: None if t.persistence is Persistence.PERMANENT else str(t.persistence),
            _alters("SET LOGGED"),
            "changes are written to the log",
        ),
        description="Changes of the tables reach the write-ahead log.",
    ),
    Check(
        key="replica_identity",
        name="Replica identity",
        judge=replica_identity,
        description="Updates and deletes of published tables can say which row they mean. Where they cannot, "
        "PostgreSQL refuses them, and the application that owns the table breaks.",
    ),
    Check(
        key="primary_key",
        name="Primary keys",
        severity=Severity.WARN,
        judge=each_table(
            lambda t: None if t.primary_key_columns else "",
            _alters("ADD PRIMARY KEY (COLUMNS)"),
            "a primary key",
            only_warns=True,
        ),
        description="Tables with a key can be delivered by replacing rows; others only by adding rows.",
    ),
    Check(
        key="column_names",
        name="Column names",
        judge=each_table(_with_columns(_differing_by_case), _rename, "differ by more than case"),
        description="No two columns of a table differ only by upper and lower case: the capture stops there.",
    ),
    Check(
        key="cursor_columns",
        name="Columns of cursors",
        judge=each_table(_with_columns(_cursors), lambda t, _facts: f"-- Leave {t.name} out of the pipeline", "none"),
        description="No column holds names of cursors (refcursor). The capture would run and never get past its rows.",
    ),
    Check(
        key="topic_names",
        name="Topic names",
        judge=for_plan(topic_names),
        description="Each captured table has a topic of its own.",
    ),
    Check(
        key="column_types",
        name="Column types",
        severity=Severity.WARN,
        judge=each_table(
            _with_columns(_lossy),
            lambda t, _facts: f"-- {t.name}: see the issues of this table; leave it out or accept the loss",
            "arrive unchanged",
            only_warns=True,
        ),
        description="Values of every column arrive as they are.",
    ),
)
