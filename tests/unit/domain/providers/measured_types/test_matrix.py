"""What was measured of types is complete, and discovery or a preview names every difference in it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from pydantic import TypeAdapter

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import TableMapping, TableWriting
from chalicelib.domain.providers.jdbc.target_types import Stop, TargetTypes
from chalicelib.domain.providers.measured_types.model import (
    ArrivalOutcome,
    Into,
    Measured,
    MeasuredValues,
    measured_values,
)
from chalicelib.domain.providers.measured_types.names import measured_names, without_modifiers
from chalicelib.domain.providers.mysql import capture_tables as mysql_tables
from chalicelib.domain.providers.mysql import target as mysql_target
from chalicelib.domain.providers.mysql.delivery_types import plain
from chalicelib.domain.providers.mysql.facts import MySQLRawColumn, MySQLRawTable
from chalicelib.domain.providers.mysql.target_columns import TYPES as INTO_MYSQL
from chalicelib.domain.providers.mysql.target_facts import MySQLPrivilege, MySQLTargetFacts
from chalicelib.domain.providers.postgresql import capture_tables as postgresql_tables
from chalicelib.domain.providers.postgresql import target as postgresql_target
from chalicelib.domain.providers.postgresql.facts import (
    PostgreSQLRawColumn,
    PostgreSQLRawTable,
    PostgreSQLTargetFacts,
    SchemaFacts,
)
from chalicelib.domain.providers.postgresql.target_columns import TYPES as INTO_POSTGRESQL
from chalicelib.domain.table import Column, SourceTable, TableName
from tests.support.entities import NOW
from tests.types import page
from tests.types.__main__ import COLUMNS, all_cases

MYSQL, POSTGRESQL = DatabaseProvider.MYSQL, DatabaseProvider.POSTGRESQL
INTO = {MYSQL: INTO_MYSQL, POSTGRESQL: INTO_POSTGRESQL}
NAME = TableName("types", "measured")


class Row(NamedTuple):
    """A line of the tables, with the source's table as discovery has seen it."""

    source: DatabaseProvider
    values: MeasuredValues
    table: SourceTable

    @property
    def column(self) -> Column:
        return self.table.columns[-1]


def _table(source: DatabaseProvider, raw: Any) -> SourceTable:
    key = {"name": "id", "ordinal": 1}
    if source is MYSQL:
        column = TypeAdapter(MySQLRawColumn).validate_python(raw)
        columns = (MySQLRawColumn(**key, type="int", nullable=False), column)
        found = MySQLRawTable(name=NAME, raw_columns=columns, primary_key_columns=("id",))
        (table,) = mysql_tables.source_tables([found], "s", NOW)
        return table
    other = TypeAdapter(PostgreSQLRawColumn).validate_python(raw)
    id_ = replace(
        other,
        **key,
        type="integer",
        base=replace(other.base, name="integer", kind="base", is_array=False, dimensions=0),
        generated=None,
    )
    (table,) = postgresql_tables.source_tables(
        [PostgreSQLRawTable(name=NAME, raw_columns=(id_, other), primary_key_columns=("id",))], "s", NOW
    )
    return table


def _rows() -> Iterator[Row]:
    columns = json.loads(COLUMNS.read_text())
    for source, case in all_cases():
        values = next((one for one in measured_values(source).get(case.type, ()) if one.values == case.values), None)
        if values and case.name in columns[str(source)]:
            yield Row(source, values, _table(source, columns[str(source)][case.name]))


ROWS = tuple(_rows())
TARGETS = tuple((row, target) for row in ROWS for target in DatabaseProvider)


def _id(value: Any) -> str | None:
    if isinstance(value, Row):
        return f"{value.source} {value.values.type} {value.values.values}"
    return None


def test_every_case_is_measured_and_nothing_else_is() -> None:
    cases = {(source, case.type, case.values) for source, case in all_cases()}
    lines = {
        (source, values.type, values.values)
        for source in DatabaseProvider
        for of_type in measured_values(source).values()
        for values in of_type
    }
    assert lines == cases
    assert len(ROWS) == len(cases) > 400


def test_the_page_of_the_documents_says_what_was_measured() -> None:
    assert page.PAGE.read_text() == page.text()


MYSQL_TYPES = (
    *("tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "char", "varchar"),
    *("tinytext", "text", "mediumtext", "longtext", "binary", "varbinary", "tinyblob", "blob", "mediumblob"),
    *("longblob", "date", "datetime", "timestamp", "time", "year", "enum", "set", "json", "geometry", "point"),
    *("linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geomcollection", "vector"),
)
"""All of MySQL 8.0 and 9: DATA_TYPE in information_schema.COLUMNS."""


def test_every_type_of_mysql_is_measured() -> None:
    assert {without_modifiers(row.column.type).partition(" ")[0] for row in ROWS if row.source is MYSQL} == set(
        MYSQL_TYPES
    )


NOT_FOR_COLUMNS = {
    "pg_node_tree",
    "pg_ndistinct",
    "pg_dependencies",
    "pg_mcv_list",
    "pg_brin_bloom_summary",
    "pg_brin_minmax_multi_summary",
    "gtsvector",
    "pg_ddl_command",
}


@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_a_column_is_found_under_the_name_that_was_measured(row: Row) -> None:
    names = measured_names(row.source, row.column)
    assert row.values.type in names or row.values.type.startswith("text in ") or row.values.type in NAMED_BY_NOTHING


NAMED_BY_NOTHING = ("column with a default", "identity column", "invisible column", "generated column")
"""All their values arrive equal as far as the type alone does not say more."""


def _discovered(row: Row) -> str:
    return " ".join(issue.message for issue in row.table.issues if issue.column == row.column.name)


def _previewed(row: Row, target: DatabaseProvider) -> tuple[str, bool]:
    """What a preview says while there is no target table, and whether it refuses the delivery for its types."""
    mapping = TableMapping(topic="t", schema_name="copies", table_name="measured")
    writing = TableWriting(mappings=(mapping,))
    if target is MYSQL:
        facts = MySQLTargetFacts(
            version_number=80015,
            account="r@%",
            database="copies",
            collation="utf8mb4_bin",
            privileges={mapping.target: frozenset(MySQLPrivilege)},
        )
        verdict = mysql_target.judge_target(writing, 1, {"t": row.table}, facts)
    else:
        schema = SchemaFacts(name="copies", usage=True, create=True)
        own = PostgreSQLTargetFacts(version_number=180000, role="r", schemas=(schema,))
        verdict = postgresql_target.judge_target(writing, 1, {"t": row.table}, own)
    refused = any(problem.code == "TYPE_UNSUPPORTED" for problem in verdict.problems)
    return " ".join(warning.message for warning in verdict.warnings), refused


_WORDS = {
    ArrivalOutcome.CHANGED: "changed",
    ArrivalOutcome.STOPS: "stop",
    ArrivalOutcome.CAPTURE_STOPS: "capture stops",
    ArrivalOutcome.ABSENT: "leaves this column out",
}


def _names(text: str, values: MeasuredValues, into: Into, ordinary: Into | None = None) -> bool:
    """Whether a text says what happens to these values in such a column. Where the same happens to ordinary values, it
    need not name them.
    """
    subject = values.values.lower()
    is_named = subject in text.lower() or (ordinary is not None and ordinary.outcomes == into.outcomes)
    return is_named and all(_WORDS[one] in text for one in into.outcomes if one is not ArrivalOutcome.EQUAL)


def _ordinary(row: Row, target: DatabaseProvider) -> Measured | None:
    """How ordinary values of the type arrive."""
    of_type = measured_values(row.source)[row.values.type]
    return next((values.targets[target] for values in of_type if not values.values), None)


@pytest.mark.parametrize(("row", "target"), TARGETS, ids=_id)
def test_discovery_or_the_preview_names_every_difference(row: Row, target: DatabaseProvider) -> None:
    measured = row.values.targets[target]
    previewed, refused = _previewed(row, target)
    said, ordinary = f"{_discovered(row)} {previewed}", _ordinary(row, target)
    made, created = (ordinary.made, ordinary.created) if ordinary else (None, None)
    # A table that exists is refused where the delivery was seen to stop.
    refuses_existing = INTO[target].stops_in(row.table, row.column, measured.made.column_type)
    assert measured.made.is_equal or refused or refuses_existing or _names(said, row.values, measured.made, made)
    assert measured.created.is_equal or refused or _names(said, row.values, measured.created, created)


@pytest.mark.parametrize(("row", "target"), TARGETS, ids=_id)
def test_nothing_is_said_about_values_that_arrive_equal(row: Row, target: DatabaseProvider) -> None:
    values, text = row.values.values.lower(), f"{_discovered(row)} {_previewed(row, target)[0]}".lower()
    if values and all(one.made.is_equal and one.created.is_equal for one in row.values.targets.values()):
        assert f"{values} arrive" not in text
        assert f"stops at {values}" not in text


@pytest.mark.parametrize(("row", "target"), TARGETS, ids=_id)
def test_the_type_to_make_is_the_one_that_was_measured(row: Row, target: DatabaseProvider) -> None:
    measured = row.values.targets[target]
    made = (measured.extended or measured.made).column_type
    equal = INTO[target].equal_type(row.table, row.column)
    assert equal in (made, plain(made)) or equal == "geometry" or made == ""


@pytest.mark.parametrize(("row", "target"), TARGETS, ids=_id)
def test_a_delivery_is_refused_where_it_stops_at_every_value(row: Row, target: DatabaseProvider) -> None:
    measured, types = row.values.targets[target], INTO[target]
    if row.values.values:
        return
    stop = dict(types.stops(row.table)).get(row.column)
    assert (stop in (Stop.ALWAYS, Stop.WITHOUT_EXTENSION)) == (measured.made.stops and measured.created.stops)
    if stop is Stop.CREATED_TABLE:
        assert measured.created.stops
        assert not measured.made.stops


def _others() -> Iterator[tuple[Row, DatabaseProvider, Into]]:
    for row, target in TARGETS:
        if not row.values.values:
            yield from ((row, target, into) for into in row.values.targets[target].others)


@pytest.mark.parametrize(("row", "target", "into"), _others(), ids=_id)
def test_a_column_of_another_type_is_judged_as_it_was_measured(row: Row, target: DatabaseProvider, into: Into) -> None:
    types: TargetTypes = INTO[target]
    warned = types.type_warning(row.table, row.column, into.column_type)
    if into.is_equal:
        assert warned is None or "longer" in warned or "not fit" in warned
    else:
        assert warned is not None
        assert _names(warned, row.values, into) or types.stops_in(row.table, row.column, into.column_type)


def test_some_of_everything_was_measured() -> None:
    outcomes = {outcome for row, target in TARGETS for outcome in _all(row.values.targets[target])}
    assert outcomes == set(ArrivalOutcome)


def _all(measured: Measured) -> frozenset[ArrivalOutcome]:
    return measured.made.outcomes | measured.created.outcomes
