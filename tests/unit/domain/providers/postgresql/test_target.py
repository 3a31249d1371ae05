"""The verdict on targets from facts. What PostgreSQL itself does is part of the integration tests."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import DeliveryVerdict, TableMapping, TableWriting, WriteMode
from chalicelib.domain.providers.postgresql.capture_tables import source_tables
from chalicelib.domain.providers.postgresql.facts import (
    PostgreSQLRawColumn,
    PostgreSQLRawTable,
    PostgreSQLTargetFacts,
    SchemaFacts,
    TargetTable,
    TypeFacts,
)
from chalicelib.domain.providers.postgresql.target import judge_target
from chalicelib.domain.table import SourceTable, TableName, TypeKind
from chalicelib.errors import Invalid

NOW = datetime(2026, 1, 31, tzinfo=UTC)
COPY = TableName("copy", "orders")
MAPPING = TableMapping(topic="t.shop.orders", schema_name="copy", table_name="orders")
WRITING = TableWriting(mappings=(MAPPING,))

OTHER_KIND = cast(DatabaseProvider, "another kind")


def column(name: str, type_name: str, kind: TypeKind = TypeKind.BASE, *, nullable: bool = True) -> PostgreSQLRawColumn:
    facts = TypeFacts(name=type_name.removesuffix("[]"), kind=kind, is_array=type_name.endswith("[]"))
    return PostgreSQLRawColumn(name=name, ordinal=1, type=type_name, base=facts, nullable=nullable)


KEY = column("id", "bigint", nullable=False)


def source(*columns: PostgreSQLRawColumn) -> SourceTable:
    raw = PostgreSQLRawTable(name=TableName("shop", "orders"), raw_columns=(KEY, *columns), primary_key_columns=("id",))
    return source_tables([raw], "s", NOW)[0]


def target(*columns: PostgreSQLRawColumn) -> TargetTable:
    return TargetTable(name=COPY, columns=(KEY, *columns), unique_keys=(("id",),))


EMPTY = PostgreSQLTargetFacts(version_number=180004, role="sink", schemas=(SchemaFacts(name="copy"),))


def verdict(of: SourceTable, into: TargetTable | None, **facts: object) -> DeliveryVerdict:
    judged = replace(EMPTY, tables=(into,) if into else (), **facts)  # type: ignore[arg-type]
    return judge_target(WRITING, 1, {MAPPING.topic: of}, judged)


def codes(judged: DeliveryVerdict) -> list[str]:
    return [problem.code for problem in judged.problems]


SUMS, SHAPE, POINT = column("sums", "numeric[]"), column("shape", "polygon"), column("place", "point")
BIT, MOODS = column("x", "bit(1)"), column("x", "shop.mood[]", TypeKind.ENUM)
DOMAIN = PostgreSQLRawColumn(
    name="sums", ordinal=2, type="shop.sums", base=TypeFacts(name="numeric", is_array=True, is_domain=True)
)
POSTGIS = {"extensions": frozenset({"postgis"})}
UNSUPPORTED, NOT_READY = ["TYPE_UNSUPPORTED"], ["TARGET_NOT_READY"]


@pytest.mark.parametrize(
    ("columns", "into", "facts", "expected"),
    [
        pytest.param((), target(), {"in_recovery": True}, NOT_READY, id="standby"),
        pytest.param((SUMS,), None, {}, UNSUPPORTED, id="a type that no target takes, no table"),
        pytest.param((SUMS,), target(SUMS), {}, UNSUPPORTED, id="a type that no target takes, existing table"),
        pytest.param((BIT,), None, {}, [], id="bit(1), table that the sink creates"),
        pytest.param((BIT,), target(BIT), {}, UNSUPPORTED, id="bit(1), existing table"),
        pytest.param((MOODS,), None, {}, [], id="enums, table that the sink creates"),
        pytest.param((MOODS,), target(MOODS), {}, UNSUPPORTED, id="enums, existing table"),
        pytest.param((DOMAIN,), None, {}, UNSUPPORTED, id="a type behind a domain"),
        pytest.param((POINT,), None, {}, UNSUPPORTED, id="point without PostGIS"),
        pytest.param((POINT,), None, POSTGIS, [], id="point with PostGIS"),
        pytest.param((SHAPE,), replace(target(), owned=False), {}, [], id="a column that never arrives is not needed"),
        pytest.param(
            (SHAPE,), target(replace(SHAPE, nullable=False)), {}, NOT_READY, id="it cannot fill a required column"
        ),
    ],
)
def test_a_target_has_these_problems(
    columns: tuple[PostgreSQLRawColumn, ...], into: TargetTable | None, facts: dict[str, object], expected: list[str]
) -> None:
    assert codes(verdict(source(*columns), into, **facts)) == expected


@pytest.mark.parametrize("name", ['say"x', " lead", "trail ", "n" * 64, "ä" * 32])
def test_a_column_whose_name_the_sink_cannot_carry_is_a_problem(name: str) -> None:
    judged = verdict(source(column(name, "text")), target(column(name, "text")))
    assert codes(judged) == NOT_READY
    assert codes(verdict(source(column("a\\b:c?d'' `e", "text")), None)) == []


def test_null_that_the_target_refuses_is_a_warning() -> None:
    judged = verdict(source(column("note", "text")), target(column("note", "text", nullable=False)))
    assert [warning.code for warning in judged.warnings] == ["NULL_NOT_ACCEPTED"]
    assert judged.problems == ()


@pytest.mark.parametrize(
    ("source_type", "target_type", "expected"),
    [
        ("integer", "bigint", []),
        ("text", "character varying", []),
        ("character varying(5)", "text", []),
        ("jsonb", "json", []),
        ("real", "double precision", []),
        ("shop.mood", "copy.mood", []),
        ("numeric(5,2)", "numeric", []),
        ("money", "money", []),
        ("bigint", "integer", ["TYPE_DIFFERS"]),
        ("text", "character varying(5)", ["TYPE_DIFFERS"]),
        ("text", "integer", ["TYPE_DIFFERS"]),
        ("timestamp with time zone", "date", ["TYPE_DIFFERS"]),
        ("numeric(10,4)", "numeric(10,2)", ["TYPE_DIFFERS"]),
    ],
)
def test_a_type_that_may_not_fit_is_a_warning(source_type: str, target_type: str, expected: list[str]) -> None:
    judged = verdict(source(column("x", source_type)), target(column("x", target_type)))
    assert [warning.code for warning in judged.warnings] == expected


def test_a_user_defined_type_is_a_warning_only_when_the_table_is_created() -> None:
    mood = column("mood", "shop.mood", TypeKind.ENUM)
    (warning,) = verdict(source(mood), None).warnings
    assert (warning.code, "mood: " in warning.message) == ("AUTO_CREATE_CHANGES_TYPE", True)
    assert verdict(source(mood), target(mood)).warnings == ()


def test_of_types_of_a_kind_of_source_that_was_not_measured_nothing_is_known() -> None:
    other = replace(source(column("v", "point")), provider=OTHER_KIND)
    judged = verdict(other, target(column("v", "integer")))
    assert codes(judged) == []
    assert [warning.code for warning in judged.warnings] == ["TYPES_NOT_CHECKED"]


def test_problem_names_its_mappings_and_can_be_raised() -> None:
    mappings = (MAPPING, replace(MAPPING, schema_name="gone"))
    judged = judge_target(TableWriting(mappings=mappings), 1, {MAPPING.topic: source()}, EMPTY)
    with pytest.raises(Invalid) as caught:
        judged.require()
    assert caught.value.code == "TARGET_NOT_READY"
    assert isinstance(caught.value.details, dict)
    assert caught.value.details["mappings"] == [1]
    assert "CREATE SCHEMA" in caught.value.message


def test_keyless_table_may_be_inserted_into_anything_that_takes_inserts() -> None:
    keyless = replace(source(), primary_key_columns=())
    into = replace(target(), unique_keys=(), can_update=False, can_delete=False, can_select=False)
    inserts = replace(WRITING, write_mode=WriteMode.INSERT)
    assert judge_target(inserts, 1, {MAPPING.topic: keyless}, replace(EMPTY, tables=(into,))).problems == ()
