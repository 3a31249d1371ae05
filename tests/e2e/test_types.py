"""Values of types arrive as the tables say that discovery and previews read: some of the types, and, long, all."""

from collections.abc import Iterator

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.model import measured_lines
from infra.local.stack.real_stack import RealStack
from tests.support.databases.mysql import mysql_or_skip
from tests.types.__main__ import make_user_types
from tests.types.cases import MYSQL, POSTGRESQL, Case
from tests.types.lines import line_of, without_extension
from tests.types.measure import measure
from tests.types.mysql_cases import MYSQL_CASES
from tests.types.postgresql_cases import POSTGRESQL_CASES
from tests.types.servers import World, world_of

pytestmark = pytest.mark.real

SOME = {
    MYSQL: (
        "bigint unsigned",
        "decimal of more than 38 digits: numbers of more than 38 digits",
        "float: numbers of more than 6 digits",
        "bit(1)",
        "varchar: texts with NUL (0x00)",
        "text in koi8u",
        "binary",
        "date NOT NULL: zero dates (0000-00-00, 2024-00-00) in a column with a default",
        "timestamp that defaults to the current time",
        "time: times from 24:00:00 on",
        "year: years 0000",
        "enum with a comma in a member",
        "enum with an apostrophe in a member",
        "json: binary values",
        "point: shapes with a spatial reference system",
    ),
    POSTGRESQL: (
        "numeric: numbers of more than 17 digits",
        "real: values NaN and infinity",
        "timestamp with time zone: values infinity",
        "time without time zone: times 24:00",
        "bit(1)",
        "name",
        "enum: members with an apostrophe",
        "uuid",
        "generated column",
        "text[]",
        "integer[][]",
    ),
}


@pytest.fixture(scope="module")
def world(real_stack: RealStack) -> Iterator[World]:
    with mysql_or_skip() as server:
        world = world_of(real_stack, server)
        make_user_types(world)
        yield world


@pytest.mark.parametrize("source", SOME, ids=str)
def test_telling_types_arrive_as_it_was_measured(world: World, source: DatabaseProvider) -> None:
    cases = [case for case in _cases(source) if case.name in SOME[source]]
    assert len(cases) == len(SOME[source])
    assert _differing(world, source, cases) == []


@pytest.mark.long
@pytest.mark.parametrize("source", SOME, ids=str)
def test_all_types_arrive_as_it_was_measured(world: World, source: DatabaseProvider) -> None:
    cases = list(_cases(source))
    assert _differing(world, source, cases) == []


def _cases(source: DatabaseProvider) -> tuple[Case, ...]:
    return tuple(case for case in (MYSQL_CASES if source is MYSQL else POSTGRESQL_CASES) if not case.since)


def _differing(world: World, source: DatabaseProvider, cases: list[Case]) -> list[tuple[object, object]]:
    """Lines as they were measured now, each with the one of the tables."""
    known = {line[:2]: without_extension(line) for line in measured_lines(source)}
    lines = [line_of(result) for result in measure(world, source, cases)]
    return [(line, known.get(line[:2])) for line in lines if line != known.get(line[:2])]
