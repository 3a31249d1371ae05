"""Whether a delivery's targets can take what its topics bring: judged before a sink is made, from what was read there.

What the mappings say by themselves is judged in `delivery_rules`. Facts behind the rules here: Debezium's JDBC sink 3.6
quotes names as they are, makes tables but no schemas, and upserts with `INSERT ... ON CONFLICT (key) DO UPDATE`, never
with OVERRIDING. PostgreSQL asks for SELECT besides, for ON CONFLICT and for a DELETE with a condition.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.delivery import DeliveryOptions, Mapping
from chalicelib.domain.delivery_rules import DeliveryWarning
from chalicelib.domain.providers.postgresql.column_types import auto_created_type_warning, without_modifiers
from chalicelib.domain.providers.postgresql.facts import RawColumn, RelationKind, SchemaFacts, TargetFacts, TargetTable
from chalicelib.domain.providers.postgresql.readiness_check import named, quoted, quoted_table
from chalicelib.domain.table import Column, IssueCode, Severity, SourceTable, TableIssue, TableName
from chalicelib.errors import Invalid

_Problem = tuple[str, str]
_Warning = tuple[str, str]
MAX_LISTED = 20
"""At most so many problems stand in the details of one error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetVerdict:
    """Everything that forbids a delivery into these tables, and everything worth a warning."""

    problems: tuple[Invalid, ...]
    warnings: tuple[DeliveryWarning, ...]

    def require(self) -> None:
        """Raise the first problem, if there is one."""
        if self.problems:
            raise self.problems[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One mapping with everything that it is judged by. `table` is None when the target does not exist yet."""

    source: SourceTable
    target: TableName
    table: TargetTable | None
    options: DeliveryOptions
    facts: TargetFacts

    @property
    def captured(self) -> tuple[Column, ...]:
        """The source's columns whose values arrive."""
        lost = {issue.column for issue in self.source.issues if issue.code is IssueCode.TYPE_NOT_CAPTURED}
        return tuple(column for column in self.source.columns if column.name not in lost)


def judge_target(
    mappings: Sequence[tuple[Mapping, SourceTable]], options: DeliveryOptions, facts: TargetFacts
) -> TargetVerdict:
    """Judges each mapping, whose source table is beside it. `facts` were read for all their targets.

    A problem is an Invalid with the code `TARGET_NOT_READY` or `TYPE_UNSUPPORTED`, ready to be raised: one for each
    code, whose message is that of the first mapping concerned. Its `details` are `{"mappings": [index], "problems":
    [{"mapping": index, "message"}]}`.
    """
    problems: dict[str, list[tuple[int, str]]] = {}
    warnings: list[DeliveryWarning] = []
    for index, (mapping, source) in enumerate(mappings):
        table = facts.table(mapping.target)
        case = _Case(source=source, target=mapping.target, table=table, options=options, facts=facts)
        for code, message in _problems(case):
            problems.setdefault(code, []).append((index, message))
        warnings += [DeliveryWarning(code=code, message=message) for code, message in _warnings(case)]
    return TargetVerdict(
        problems=tuple(_as_error(code, found) for code, found in problems.items()), warnings=tuple(warnings)
    )


def _as_error(code: str, found: Sequence[tuple[int, str]]) -> Invalid:
    details = {
        "mappings": sorted({index for index, _ in found}),
        "problems": [{"mapping": index, "message": message} for index, message in found[:MAX_LISTED]],
    }
    return Invalid(found[0][1], code=code, details=details)


def _problems(case: _Case) -> Iterator[_Problem]:
    where = _place_problem(case)
    if where is not None:
        yield "TARGET_NOT_READY", where
    elif case.table is not None:
        for rule in (_privileges, _upsert_key, _missing_columns, _unfilled_columns, _unwritable_columns):
            message = rule(case, case.table)
            if message is not None:
                yield "TARGET_NOT_READY", message
    yield from _type_problems(case)


def _type_problems(case: _Case) -> Iterator[_Problem]:
    stopping = [i.column for i in case.source.issues if i.code is IssueCode.TYPE_STOPS_TASK and _stops(case, i)]
    if stopping:
        yield (
            "TYPE_UNSUPPORTED",
            (f"Columns {named(stopping)} of {case.source.name} have types that stop the delivery."),
        )


def _stops(case: _Case, issue: TableIssue) -> bool:
    """Whether this target makes the condition of the issue true (see `column_types`)."""
    if issue.severity is not Severity.WARN:
        return issue.severity is Severity.FAIL
    column = next((column for column in case.source.columns if column.name == issue.column), None)
    if column is not None and without_modifiers(column.type) == "point":
        return "postgis" not in case.facts.extensions
    return case.table is not None


def _place_problem(case: _Case) -> str | None:
    """Why there is no usable table at this place, and none can be made."""
    schema = case.facts.schema(case.target.schema_name)
    role, schema_sql = quoted(case.facts.role), quoted(case.target.schema_name)
    if case.facts.in_recovery:
        return "The destination is a standby and takes no writes: register the address of its primary."
    if schema is None:
        return f"The schema does not exist and the sink makes none. CREATE SCHEMA {schema_sql} AUTHORIZATION {role};"
    if not schema.usage:
        return f"The role may not use the schema. GRANT USAGE ON SCHEMA {schema_sql} TO {role};"
    return _missing_table(case, schema) if case.table is None else _not_a_table(case.table)


def _missing_table(case: _Case, schema: SchemaFacts) -> str | None:
    if not case.options.auto_create:
        return f"{case.target} does not exist and auto_create is off: create it, or turn auto_create on."
    if not schema.create:
        grant = f"GRANT CREATE ON SCHEMA {quoted(schema.name)} TO {quoted(case.facts.role)};"
        return f"{case.target} does not exist, and the role may not create tables in the schema. {grant}"
    return None


def _not_a_table(table: TargetTable) -> str | None:
    if table.kind in (RelationKind.TABLE, RelationKind.PARTITIONED):
        return None
    return f"{table.name} is a {table.kind}, not a table: choose another table_name."


def _privileges(case: _Case, table: TargetTable) -> str | None:
    needed = (
        ("INSERT", True, table.can_insert),
        ("UPDATE", case.options.upserts, table.can_update),
        ("DELETE", case.options.deletes, table.can_delete),
        ("SELECT", case.options.upserts or case.options.deletes, table.can_select),
    )
    missing = [privilege for privilege, is_needed, granted in needed if is_needed and not granted]
    if not missing:
        return None
    listed = ", ".join(missing)
    grant = f"GRANT {listed} ON TABLE {quoted_table(table.name)} TO {quoted(case.facts.role)};"
    return f"The role lacks {listed} on {table.name}. {grant}"


def _upsert_key(case: _Case, table: TargetTable) -> str | None:
    key = case.source.primary_key_columns
    if not case.options.upserts or not key or any(set(unique) == set(key) for unique in table.unique_keys):
        return None
    columns = ", ".join(quoted(name) for name in key)
    return (
        f"{table.name} has no unique key on exactly {named(key)}, and upsert needs one. "
        f"ALTER TABLE {quoted_table(table.name)} ADD PRIMARY KEY ({columns});"
    )


def _missing_columns(case: _Case, table: TargetTable) -> str | None:
    present = {column.name for column in table.columns}
    missing = [column.name for column in case.captured if column.name not in present]
    if not missing:
        return None
    if not case.options.auto_evolve:
        return f"{table.name} lacks columns {named(missing)} and auto_evolve is off: add them, or turn auto_evolve on."
    if not table.owned:
        owner = f"ALTER TABLE {quoted_table(table.name)} OWNER TO {quoted(case.facts.role)};"
        return f"{table.name} lacks columns {named(missing)} and only its owner may add them: add them, or {owner}"
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
        f"Columns {named(unfilled)} of {table.name} are NOT NULL without a default, and the topic does not bring them: "
        "give them a default or let them be null."
    )


def _unwritable_columns(case: _Case, table: TargetTable) -> str | None:
    arriving = {column.name for column in case.captured}
    fixed = [column.name for column in table.columns if not column.writable and column.name in arriving]
    if not fixed:
        return None
    return (
        f"Columns {named(fixed)} of {table.name} are generated by the target itself and take no values: "
        "make them plain columns (GENERATED BY DEFAULT AS IDENTITY takes values too)."
    )


def _warnings(case: _Case) -> Iterator[_Warning]:
    if case.table is None:
        made = ((column, auto_created_type_warning(column.type)) for column in case.captured)
        yield from _grouped("AUTO_CREATE_CHANGES_TYPE", case, made)
        return
    present = {column.name: column for column in case.table.columns}
    pairs = [(column, present[column.name]) for column in case.captured if column.name in present]
    yield from _grouped("NULL_NOT_ACCEPTED", case, ((column, _null_warning(column, to)) for column, to in pairs))
    yield from _grouped("TYPE_DIFFERS", case, ((column, _type_warning(column, to)) for column, to in pairs))


def _grouped(code: str, case: _Case, found: Iterable[tuple[Column, str | None]]) -> Iterator[_Warning]:
    """One warning for each sentence, naming all of its columns."""
    columns: dict[str, list[str]] = {}
    for column, sentence in found:
        if sentence is not None:
            columns.setdefault(sentence, []).append(column.name)
    for sentence, names in columns.items():
        yield code, f"{case.source.name} to {case.target}, {named(names)}: {sentence}"


def _type_warning(column: Column, to: RawColumn) -> str | None:
    if _fits(column.type, to.type):
        return None
    return f"{column.type} is written into {to.type}; the delivery stops at a value that does not fit."


def _null_warning(column: Column, target: RawColumn) -> str | None:
    if column.nullable and not target.nullable:
        return "null is allowed at the source and not at the target; the delivery stops at the first one."
    return None


_WIDENING: tuple[tuple[str, ...], ...] = (
    ("smallint", "integer", "bigint", "numeric"),
    ("real", "double precision"),
    ("character", "character varying", "text"),
    ("json", "jsonb"),
    ("jsonb", "json"),
)
"""Each type can be written into those after it in the same row."""


def _fits(source: str, target: str) -> bool:
    """Whether every value of the source's type fits the target's. Types of users are left to their owners."""
    from_type, to_type = without_modifiers(source), without_modifiers(target)
    if from_type == to_type or "." in from_type or "." in to_type:
        return True
    if from_type == "text" and to_type == "character varying":
        return target == to_type
    return any(from_type in row and to_type in row and row.index(from_type) < row.index(to_type) for row in _WIDENING)
