"""What readiness asks of the tables that are to be captured."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.postgresql.capture_tables import columns_differing_by_case, table_issues
from chalicelib.domain.providers.postgresql.capture_types import CURSOR
from chalicelib.domain.providers.postgresql.facts import Persistence, RawTable, ServerFacts
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.readiness import (
    Check,
    Judge,
    Judgement,
    failed,
    for_plan,
    listed,
    passed,
    statements,
    warned,
)
from chalicelib.domain.table import IssueCode, IssueSeverity, colliding_topics

_TYPE_CODES = (IssueCode.TYPE_NOT_CAPTURED, IssueCode.TYPE_STOPS_TASK, IssueCode.TYPE_CHANGES_VALUE)


def captured(facts: ServerFacts, plan: CapturePlan | None) -> tuple[RawTable, ...]:
    """The tables to judge: those of the plan that exist, without the columns that it leaves out.

    Without a plan, all that were read.
    """
    if plan is None:
        return facts.tables
    found = [table for name in plan.tables if (table := facts.table(name)) is not None]
    return tuple(_without(table, plan) for table in found) if plan.excluded_columns else tuple(found)


def _without(table: RawTable, plan: CapturePlan) -> RawTable:
    excluded = {column.column_name for column in plan.excluded_columns if column.table == table.name}
    kept = tuple(column for column in table.raw_columns if column.name not in excluded)
    return replace(table, raw_columns=kept)


def tables_exist(facts: ServerFacts, plan: CapturePlan) -> Judgement:
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
    fault: Fault,
    fix: Callable[[RawTable, ServerFacts], str],
    expected: str,
    *,
    note: str = "",
    only_warns: bool = False,
) -> Judge[ServerFacts, CapturePlan]:
    """A judge of each captured table that names those with the fault, each with its fix, and `note` below."""

    def judge(facts: ServerFacts, plan: CapturePlan | None) -> Judgement | None:
        tables = captured(facts, plan)
        if not tables:
            return None
        faults = [(table, found) for table in tables if (found := fault(table)) is not None]
        if not faults:
            return passed("all tables", expected)
        named = name_list(f"{table.name}{f' ({found})' if found else ''}" for table, found in faults)
        current = named if plan is not None else f"{len(faults)} of {len(tables)} tables: {named}"
        fixes = statements([fix(table, facts) for table, _ in faults])
        return (warned if only_warns else failed)(current, expected, f"{fixes}\n{note}".rstrip())

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
    return [i.column for i in table_issues(table) if i.code in _TYPE_CODES and i.severity is not IssueSeverity.INFO]


def topic_names(_facts: ServerFacts, plan: CapturePlan) -> Judgement:
    pairs = colliding_topics(plan.tables)
    if not pairs:
        return passed("all different", "all different")
    return failed(
        f"one topic for {name_list(sorted(pairs))}",
        "all different",
        "Capture these tables in pipelines with different topic_prefix: in a topic's name every character outside "
        "A-Z, a-z, 0-9, '.', '_' and '-' becomes '_'.",
    )


def _grant_select(table: RawTable, facts: ServerFacts) -> str:
    """Of the whole table, or of the columns that are captured where some are left out."""
    whole = facts.table(table.name)
    is_whole = whole is None or len(whole.raw_columns) == len(table.raw_columns)
    columns = "" if is_whole else f" ({', '.join(quoted(column.name) for column in table.raw_columns)})"
    return f"GRANT SELECT{columns} ON TABLE {quoted_table(table.name)} TO {quoted(facts.role.name)};"


def _see_all_rows(table: RawTable, facts: ServerFacts) -> str:
    name = quoted(f"{facts.role.name}_reads_all"[:63])
    role = quoted(facts.role.name)
    return f"CREATE POLICY {name} ON {quoted_table(table.name)} FOR SELECT TO {role} USING (true);"


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
            _unreadable,
            _grant_select,
            "SELECT on every captured column",
        ),
        description="The role may read every captured column. Without it the connector runs and not one row arrives.",
    ),
    Check(
        key="row_security",
        name="Row level security",
        judge=each_table(
            lambda t: "" if t.row_security_active else None,
            _see_all_rows,
            "hides no row from the role",
            note="The policy shows every row of the table to this one role, also where row level security is forced. "
            "A role with BYPASSRLS sees every row of every table: that is a decision about security.",
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
            note="SET LOGGED writes the whole table anew and locks it (ACCESS EXCLUSIVE) until it is done: "
            "run it when the application can wait.",
        ),
        description="Changes of the tables reach the write-ahead log.",
    ),
    Check(
        key="primary_key",
        name="Primary keys",
        severity=IssueSeverity.WARN,
        judge=each_table(
            lambda t: None if t.primary_key_columns else "",
            _alters("ADD PRIMARY KEY (COLUMNS)"),
            "a primary key",
            note="It builds an index under a lock (ACCESS EXCLUSIVE). For a large table: CREATE UNIQUE INDEX "
            "CONCURRENTLY, then ADD PRIMARY KEY USING INDEX.",
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
        severity=IssueSeverity.WARN,
        judge=each_table(
            _with_columns(_lossy),
            lambda t, _facts: f"-- {t.name}: see the issues of this table; leave it out or accept the loss",
            "arrive unchanged",
            only_warns=True,
        ),
        description="Values of every column arrive as they are.",
    ),
)
