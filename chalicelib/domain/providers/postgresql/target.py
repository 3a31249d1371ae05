"""Whether a delivery's targets can take the rows of its topics: judged before a sink is made, from what was read there.

`jdbc/checks.py` judges the mappings alone. Facts behind the rules here: Debezium's JDBC sink 3.6 quotes names as they
are, creates tables but no schemas, and upserts with `INSERT ... ON CONFLICT (key) DO UPDATE`, never with OVERRIDING.
PostgreSQL also requires SELECT for ON CONFLICT and for a DELETE with a condition.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import DeliveryVerdict, TableWriting
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.jdbc.verdicts import Coded, as_errors
from chalicelib.domain.providers.postgresql import target_warnings
from chalicelib.domain.providers.postgresql.facts import PostgreSQLTargetFacts, SchemaFacts, TargetTable
from chalicelib.domain.providers.postgresql.sink_config import MAX_NAME_BYTES, is_carried_column
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.providers.postgresql.target_columns import TYPES
from chalicelib.domain.table import Column, SourceTable, TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One mapping with all that decides about it. `table` is None when the target does not exist yet."""

    source: SourceTable
    target: TableName
    table: TargetTable | None
    writing: TableWriting
    facts: PostgreSQLTargetFacts

    @property
    def captured(self) -> tuple[Column, ...]:
        return self.source.captured_columns


def judge_target(
    writing: TableWriting, tasks_max: int, tables: Mapping[str, SourceTable], facts: PostgreSQLTargetFacts
) -> DeliveryVerdict:
    """Judges each mapping; `tables` are the source tables by topic. `facts` were read for all targets.

    A problem has the code `TARGET_NOT_READY` or `TYPE_UNSUPPORTED`: see `jdbc/verdicts.py`.
    """
    problems: list[tuple[int, Coded]] = []
    warnings: list[ConfigWarning] = []
    for index, mapping in enumerate(writing.mappings):
        source, table = tables[mapping.topic], facts.table(mapping.target)
        case = _Case(source=source, target=mapping.target, table=table, writing=writing, facts=facts)
        problems += ((index, problem) for problem in _problems(case))
        warnings += target_warnings.of_table(source, mapping.target, table, writing, facts)
    warnings += target_warnings.of_server(tasks_max, facts)
    return DeliveryVerdict(problems=as_errors(problems), warnings=tuple(warnings))


def _problems(case: _Case) -> Iterator[Coded]:
    unusable = _column_names(case) or _unusable_target(case)
    if unusable is not None:
        yield "TARGET_NOT_READY", unusable
    elif case.table is not None:
        for rule in (_privileges, _upsert_key, _missing_columns, _unfilled_columns, _unwritable_columns):
            message = rule(case, case.table)
            if message is not None:
                yield "TARGET_NOT_READY", message
    yield from _type_problems(case)


def _type_problems(case: _Case) -> Iterator[Coded]:
    target_columns = {column.name: column.type for column in case.table.columns} if case.table else None
    if message := TYPES.refusal(case.source, target_columns, has_extension="postgis" in case.facts.extensions):
        yield "TYPE_UNSUPPORTED", message


def _column_names(case: _Case) -> str | None:
    refused = [column.name for column in case.captured if not is_carried_column(column.name)]
    if not refused:
        return None
    return (
        f"Columns {name_list(refused)} have names that the sink cannot carry to PostgreSQL: a quotation mark, a blank "
        f"at an end, or more than {MAX_NAME_BYTES} bytes. Leave them out of the pipeline (exclude_columns), or rename "
        "them."
    )


def _unusable_target(case: _Case) -> str | None:
    """Why there is no usable table of this name, and none can be created."""
    schema = case.facts.schema(case.target.schema_name)
    role, schema_sql = quoted(case.facts.role), quoted(case.target.schema_name)
    if case.facts.in_recovery:
        return "The destination is a standby and takes no writes: register the address of its primary."
    if schema is None:
        made = f"CREATE SCHEMA {schema_sql} AUTHORIZATION {role};"
        return f"The schema does not exist and the sink makes none. {made}{_other_schemas(case)}"
    if not schema.usage:
        return f"The role may not use the schema. GRANT USAGE ON SCHEMA {schema_sql} TO {role};"
    if case.table is None:
        return _missing_table(case, schema)
    kind = case.table.kind
    return None if kind.is_table else f"{case.target} is a {kind}, not a table: choose another table_name."


def _missing_table(case: _Case, schema: SchemaFacts) -> str | None:
    if not case.writing.auto_create:
        return f"{case.target} does not exist and auto_create is off: create it, or turn auto_create on."
    if not schema.create:
        grant = f"GRANT CREATE ON SCHEMA {quoted(schema.name)} TO {quoted(case.facts.role)};"
        message = f"{case.target} does not exist, and the role may not create tables in the schema. {grant}"
        return f"{message}{_other_schemas(case)}"
    return None


def _other_schemas(case: _Case) -> str:
    """The other way than the statement before."""
    if not case.facts.open_schemas:
        return " There is no other schema in which the role may create tables."
    return f" Or choose a schema in which the role may create tables: {name_list(case.facts.open_schemas)}."


def _privileges(case: _Case, table: TargetTable) -> str | None:
    needed = (
        ("INSERT", True, table.can_insert),
        ("UPDATE", case.writing.upserts, table.can_update),
        ("DELETE", case.writing.deletes, table.can_delete),
        ("SELECT", case.writing.upserts or case.writing.deletes, table.can_select),
    )
    missing = [privilege for privilege, is_needed, granted in needed if is_needed and not granted]
    if not missing:
        return None
    listed = ", ".join(missing)
    grant = f"GRANT {listed} ON TABLE {quoted_table(table.name)} TO {quoted(case.facts.role)};"
    return f"The role lacks {listed} on {table.name}. {grant}"


def _upsert_key(case: _Case, table: TargetTable) -> str | None:
    key = case.source.primary_key_columns
    if not case.writing.upserts or not key or any(set(unique) == set(key) for unique in table.unique_keys):
        return None
    columns = ", ".join(quoted(name) for name in key)
    return (
        f"{table.name} has no unique key on exactly {name_list(key)}, and upsert needs one. "
        f"ALTER TABLE {quoted_table(table.name)} ADD PRIMARY KEY ({columns});"
    )


def _missing_columns(case: _Case, table: TargetTable) -> str | None:
    present = {column.name for column in table.columns}
    missing = [column.name for column in case.captured if column.name not in present]
    if not missing:
        return None
    if not case.writing.auto_evolve:
        return (
            f"{table.name} lacks columns {name_list(missing)} and auto_evolve is off: add them, or turn auto_evolve on."
        )
    if not table.owned:
        return (
            f"{table.name} lacks columns {name_list(missing)} and only its owner may add them: "
            f"let the owner run ALTER TABLE {quoted_table(table.name)} ADD COLUMN for each."
        )
    return None


def _unfilled_columns(case: _Case, table: TargetTable) -> str | None:
    arriving = {column.name for column in case.captured}
    unfilled = [
        column.name
        for column in table.columns
        if not column.nullable and not column.has_default and column.writable and column.name not in arriving
    ]
    if not unfilled:
        return None
    return (
        f"Columns {name_list(unfilled)} of {table.name} are NOT NULL without a default, and the topic does not bring "
        "them: give them a default or let them be null."
    )


def _unwritable_columns(case: _Case, table: TargetTable) -> str | None:
    arriving = {column.name for column in case.captured}
    fixed = [column.name for column in table.columns if not column.writable and column.name in arriving]
    if not fixed:
        return None
    return (
        f"Columns {name_list(fixed)} of {table.name} are generated by the target itself and take no values: "
        "make them plain columns (GENERATED BY DEFAULT AS IDENTITY takes values too)."
    )
