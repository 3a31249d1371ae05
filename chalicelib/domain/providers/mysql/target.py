"""Whether a delivery's targets in MySQL can take the rows of its topics: judged before a sink is made.

`jdbc/checks.py` judges the mappings alone. Facts behind the rules here, each seen with Debezium 3.6 and MySQL 8.0: the
sink upserts with `INSERT ... ON DUPLICATE KEY UPDATE`, which takes any unique index and needs SELECT; it compares names
of columns exactly, the server does not; a server that takes no row may say nothing (BLACKHOLE).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import DeliveryVerdict, TableWriting
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.jdbc.verdicts import Coded, as_errors
from chalicelib.domain.providers.mysql import target_keys, target_warnings
from chalicelib.domain.providers.mysql.sink_config import is_carried, is_too_long
from chalicelib.domain.providers.mysql.sql import quoted, quoted_account, quoted_table
from chalicelib.domain.providers.mysql.target_columns import TYPES
from chalicelib.domain.providers.mysql.target_facts import MySQLPrivilege, MySQLTargetFacts, MySQLTargetTable
from chalicelib.domain.providers.mysql.target_sizes import MAX_ROW_BYTES, fits_page, row_bytes
from chalicelib.domain.table import Column, SourceTable, TableName

_KEEPS_NOTHING = frozenset({"BLACKHOLE", "ARCHIVE", "CSV", "EXAMPLE", "FEDERATED"})
"""Engines that lose rows, or cannot replace them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One mapping with all that decides about it. `table` is None when the target does not exist yet."""

    source: SourceTable
    target: TableName
    table: MySQLTargetTable | None
    writing: TableWriting
    facts: MySQLTargetFacts

    @property
    def captured(self) -> tuple[Column, ...]:
        return self.source.captured_columns

    def grant(self, missing: list[str]) -> str:
        listed = ", ".join(missing)
        return f"GRANT {listed} ON {quoted_table(self.target)} TO {quoted_account(self.facts.account)};"


def judge_target(
    writing: TableWriting, tasks_max: int, tables: Mapping[str, SourceTable], facts: MySQLTargetFacts
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
        warnings += target_warnings.of_table(source, mapping.target, table, writing)
    warnings += target_warnings.of_server(tasks_max, facts)
    return DeliveryVerdict(problems=as_errors(problems), warnings=tuple(warnings))


def _problems(case: _Case) -> Iterator[Coded]:
    unusable = _server(case) or _folded_twice(case) or _column_names(case)
    if unusable is None:
        unusable = _missing_table(case) if case.table is None else _unusable_table(case.table)
    if unusable is not None:
        yield "TARGET_NOT_READY", unusable
    elif case.table is not None:
        for rule in _RULES:
            message = rule(case, case.table)
            if message is not None:
                yield "TARGET_NOT_READY", message
    yield from _type_problems(case)


def _type_problems(case: _Case) -> Iterator[Coded]:
    target_columns = {column.name: column.type for column in case.table.columns} if case.table else None
    if message := TYPES.refusal(case.source, target_columns):
        yield "TYPE_UNSUPPORTED", message


def _server(case: _Case) -> str | None:
    facts = case.facts
    if facts.is_on("innodb_read_only"):
        return "The destination is a reader and takes no writes: register the address of its writer."
    if facts.is_on("super_read_only") or (facts.is_on("read_only") and not facts.writes_anyway):
        return (
            "The destination is read-only, as replicas are: register the address of its source, or let an "
            "administrator run SET GLOBAL super_read_only = OFF, read_only = OFF;"
        )
    return None


def _folded_twice(case: _Case) -> str | None:
    if not case.facts.folds_case:
        return None
    folded = [target.table_name.lower() for target in case.writing.targets]
    if folded.count(case.target.table_name.lower()) == 1:
        return None
    return f"On this server names differ not by case alone: another mapping writes to {case.target} too."


def _column_names(case: _Case) -> str | None:
    names = [column.name for column in case.captured]
    refused = [name for name in names if not is_carried(name) or is_too_long(name)]
    if refused:
        return (
            f"Columns {name_list(refused)} have names that the sink cannot carry to MySQL: a backtick, a backslash, a "
            "colon, a question mark, a blank at an end, a character such as an emoji, or more than 64 characters. "
            "Leave them out of the pipeline (exclude_columns), or rename them."
        )
    folded = [name.lower() for name in names]
    twice = [name for name in names if folded.count(name.lower()) > 1]
    return f"Columns {name_list(twice)} differ by case alone, and are one column in MySQL." if twice else None


def _missing_table(case: _Case) -> str | None:
    """Why the sink may not or cannot make the table."""
    if not case.writing.auto_create:
        return f"{case.target} does not exist and auto_create is off: create it, or turn auto_create on."
    needed = [MySQLPrivilege.CREATE, *_needed(case.writing)]
    if case.writing.auto_evolve:
        needed.append(MySQLPrivilege.ALTER)
    missing = [str(one) for one in needed if not case.facts.may(one, case.target)]
    if missing:
        listed = ", ".join(missing)
        message = f"{case.target} does not exist, and the account lacks {listed} for it. {case.grant(missing)}"
        return f"{message} Or choose a database in which it may create tables."
    return _no_key(case) or _created_key(case) or _created_row(case)


def _no_key(case: _Case) -> str | None:
    facts = case.facts
    requires = facts.is_on("sql_require_primary_key") or bool(facts.variables.get("group_replication_group_name"))
    if case.writing.upserts or not requires or facts.is_on("sql_generate_invisible_primary_key"):
        return None
    return (
        f"{case.target} does not exist, the server takes no table without a primary key, and the sink gives it none "
        "when it only inserts: create it first, with a key of its own such as BIGINT AUTO_INCREMENT PRIMARY KEY."
    )


def _created_key(case: _Case) -> str | None:
    if not case.writing.upserts:
        return None
    return target_keys.created_key_problem(case.source, case.target, case.facts.collation)


def _created_row(case: _Case) -> str | None:
    types = [type_name for column in case.captured if (type_name := TYPES.equal_type(case.source, column))]
    if not fits_page(types):
        return (
            f"{case.source.name} has {len(types)} columns, and a table of MySQL has room for about 197 of texts: leave "
            "some out of the pipeline (exclude_columns)."
        )
    if row_bytes(types) > MAX_ROW_BYTES:
        return (
            f"{case.target} does not exist, and the sink would make rows of up to {row_bytes(types)} bytes of the "
            f"{MAX_ROW_BYTES} that MySQL allows: create it first, with text for long columns (target_ddl)."
        )
    return None


def _unusable_table(table: MySQLTargetTable) -> str | None:
    if table.engine is None:
        return f"{table.name} is a view, not a table: choose another table_name."
    if table.engine.upper() in _KEEPS_NOTHING:
        return (
            f"{table.name} has the engine {table.engine}, which loses rows or cannot replace them. "
            f"ALTER TABLE {quoted_table(table.name)} ENGINE = InnoDB;"
        )
    return None


def _needed(writing: TableWriting) -> list[MySQLPrivilege]:
    needs = (
        (MySQLPrivilege.SELECT, writing.upserts or writing.deletes),
        (MySQLPrivilege.INSERT, True),
        (MySQLPrivilege.UPDATE, writing.upserts),
        (MySQLPrivilege.DELETE, writing.deletes),
    )
    return [privilege for privilege, is_needed in needs if is_needed]


def _privileges(case: _Case, table: MySQLTargetTable) -> str | None:
    missing = [str(one) for one in _needed(case.writing) if not case.facts.may(one, case.target)]
    if not missing:
        return None
    return f"The account lacks {', '.join(missing)} on {table.name}. {case.grant(missing)}"


def _upsert_key(case: _Case, table: MySQLTargetTable) -> str | None:
    key = case.source.primary_key_columns
    if not case.writing.upserts or not key or target_keys.has_key(case.source, table):
        return None
    columns = ", ".join(map(quoted, key))
    return (
        f"{table.name} has no unique key on exactly {name_list(key)}, and upsert needs one: without it each change "
        f"becomes another row. ALTER TABLE {quoted_table(table.name)} ADD PRIMARY KEY ({columns});"
    )


def _colliding_indexes(case: _Case, table: MySQLTargetTable) -> str | None:
    if not case.writing.upserts:
        return None
    names = target_keys.colliding_indexes(case.source, table)
    if not names:
        return None
    statement = ", ".join(f"DROP INDEX {quoted(name)}" for name in names if name != "PRIMARY")
    fix = f"ALTER TABLE {quoted_table(table.name)} {statement};" if statement else "Use the source's key."
    return (
        f"{table.name} has unique indexes beside the key of the delivery ({name_list(names)}). A row that meets "
        f"another one there overwrites it, silently. {fix}"
    )


def _key_collations(case: _Case, table: MySQLTargetTable) -> str | None:
    merged = target_keys.merged_keys(case.source, table) if case.writing.upserts else {}
    if not merged:
        return None
    collations = name_list(dict.fromkeys(merged.values()))
    return (
        f"The key {name_list(merged)} of {table.name} has the collation {collations}, in "
        "which a, A and á are one key: rows overwrite each other, silently. "
        + target_keys.safe_collation_statement(table, list(merged))
    )


def _columns_in_other_case(case: _Case, table: MySQLTargetTable) -> str | None:
    exact = {column.name for column in table.columns}
    folded = {column.name.lower(): column.name for column in table.columns}
    others = [
        folded[column.name.lower()]
        for column in case.captured
        if column.name not in exact and column.name.lower() in folded
    ]
    if not others:
        return None
    return f"Columns {name_list(others)} of {table.name} are spelled in another case than at the source: rename them."


def _missing_columns(case: _Case, table: MySQLTargetTable) -> str | None:
    present = {column.name.lower() for column in table.columns}
    missing = [column.name for column in case.captured if column.name.lower() not in present]
    if not missing:
        return None
    lacks = f"{table.name} lacks columns {name_list(missing)}"
    if not case.writing.auto_evolve:
        return f"{lacks} and auto_evolve is off: add them, or turn auto_evolve on."
    if not case.facts.may(MySQLPrivilege.ALTER, case.target):
        return f"{lacks}, and the account may not add them. {case.grant([MySQLPrivilege.ALTER])}"
    return None


def _unfilled_columns(case: _Case, table: MySQLTargetTable) -> str | None:
    arriving = {column.name for column in case.captured}
    unfilled = [column.name for column in table.columns if column.needs_value and column.name not in arriving]
    if not unfilled:
        return None
    return (
        f"Columns {name_list(unfilled)} of {table.name} are NOT NULL without a default, and the topic does not bring "
        "them: give them a default or let them be null."
    )


def _unwritable_columns(case: _Case, table: MySQLTargetTable) -> str | None:
    arriving = {column.name for column in case.captured}
    fixed = [column.name for column in table.columns if column.generated and column.name in arriving]
    if not fixed:
        return None
    return f"Columns {name_list(fixed)} of {table.name} are generated by the target itself: make them plain columns."


_RULES = (
    _privileges,
    _upsert_key,
    _colliding_indexes,
    _key_collations,
    _columns_in_other_case,
    _missing_columns,
    _unfilled_columns,
    _unwritable_columns,
)
