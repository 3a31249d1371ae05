"""Under which names a type is looked up in the tables of what was measured."""

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.names import measured_names, members, modifiers, without_modifiers
from chalicelib.domain.table import CapturedType, Column, TypeKind

MYSQL, POSTGRESQL = DatabaseProvider.MYSQL, DatabaseProvider.POSTGRESQL


def column(type_name: str, *, nullable: bool = True, captured: CapturedType | None = None) -> Column:
    return Column(name="c", type=type_name, nullable=nullable, ordinal=1, captured=captured)


@pytest.mark.parametrize(
    ("type_name", "bare"),
    [
        ("numeric(10,2)", "numeric"),
        ("timestamp(3) with time zone", "timestamp with time zone"),
        ("interval day to second(3)", "interval"),
        ("int(10) unsigned zerofill", "int unsigned zerofill"),
        ("enum('a (b)','c')", "enum"),
        ("text", "text"),
    ],
)
def test_modifiers_are_taken_off(type_name: str, bare: str) -> None:
    assert without_modifiers(type_name) == bare


def test_the_numbers_of_a_type_are_its_modifiers() -> None:
    assert modifiers("decimal(10,2)") == (10, 2)
    assert modifiers("numeric(5,-2)") == (5, -2)
    assert modifiers("character varying(10485760)") == (10_485_760,)
    assert modifiers("enum('(1,2)')") == modifiers("text") == ()


def test_members_of_an_enum_are_read_as_values_have_them() -> None:
    assert members(r"enum('it''s','a,b','b\\c','')") == ("it's", "a,b", r"b\c", "")
    assert members("varchar(20)") == ()


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        pytest.param(column("bigint(20) unsigned"), {"bigint unsigned"}, id="unsigned"),
        pytest.param(column("int(10) unsigned zerofill"), {"int unsigned"}, id="filled with zeros"),
        pytest.param(column("decimal(65,30)"), {"decimal of more than 38 digits"}, id="many digits"),
        pytest.param(column("date", nullable=False), {"date", "date NOT NULL"}, id="a date that has to be there"),
        pytest.param(column("enum('a,b')"), {"enum", "enum with a comma in a member"}, id="a member with a comma"),
        pytest.param(column("set('a','b')"), {"set"}, id="a set"),
        pytest.param(column("geometrycollection"), {"geomcollection"}, id="another spelling"),
    ],
)
def test_a_column_of_mysql_has_these_names(subject: Column, expected: set[str]) -> None:
    assert set(measured_names(MYSQL, subject)) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        pytest.param(column("numeric(10,2)"), {"numeric(p,s)"}, id="with a size"),
        pytest.param(column("numeric"), {"numeric"}, id="without a size"),
        pytest.param(column("character varying(5)[]"), {"character varying[]"}, id="an array"),
        pytest.param(column("bit(83886080)"), {"bit of more than 64 bits"}, id="as many bits as there can be"),
        pytest.param(column("bit varying(83886080)"), {"bit varying"}, id="up to as many bits as there can be"),
        pytest.param(
            column("integer[]", captured=CapturedType(name="integer", dimensions=3)),
            {"integer[][]"},
            id="arrays inside",
        ),
        pytest.param(
            column("shop.mood", captured=CapturedType(name="shop.mood", kind=TypeKind.ENUM)), {"enum"}, id="an enum"
        ),
        pytest.param(column("public.citext"), {"citext"}, id="a type of an extension"),
        pytest.param(
            column("integer", captured=CapturedType(name="integer", generated=True)),
            {"generated column"},
            id="generated",
        ),
        pytest.param(
            column("date", captured=CapturedType(name="date", defaults_to_now=True)),
            {"date", "date that defaults to the current time"},
            id="the current day",
        ),
    ],
)
def test_a_column_of_postgresql_has_these_names(subject: Column, expected: set[str]) -> None:
    assert set(measured_names(POSTGRESQL, subject)) == expected
