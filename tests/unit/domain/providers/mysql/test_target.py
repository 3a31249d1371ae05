"""The verdict on targets from facts. What MySQL itself does is part of the integration tests."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import DeliveryVerdict, TableMapping, TableWriting, WriteMode
from chalicelib.domain.providers.mysql.target import judge_target
from chalicelib.domain.providers.mysql.target_facts import (
    MySQLPrivilege,
    MySQLTargetColumn,
    MySQLTargetFacts,
    MySQLTargetTable,
    MySQLUniqueIndex,
)
from chalicelib.domain.providers.mysql.target_provider import MySQLTarget
from chalicelib.domain.table import Column, SourceTable, TableName
from tests.support.entities import make_source_table

COPY = TableName("dwh", "orders")
MAPPING = TableMapping(topic="t.shop.orders", schema_name="dwh", table_name="orders")
EMPTY = MySQLTargetFacts(
    version_number=80015,
    account="sink@%",
    database="dwh",
    collation="utf8mb4_0900_ai_ci",
    privileges={COPY: frozenset(MySQLPrivilege)},
)
KEY = MySQLUniqueIndex(name="PRIMARY", columns=("id",))


def source(*types: str) -> SourceTable:
    columns = [Column(name="id", type="bigint", nullable=False, ordinal=1)]
    columns += (Column(name=f"c{at}", type=one, nullable=True, ordinal=at + 2) for at, one in enumerate(types))
    return make_source_table(columns=tuple(columns))


def target(*types: str, **fields: Any) -> MySQLTargetTable:
    columns = [MySQLTargetColumn(name="id", ordinal=1, type="bigint", nullable=False)]
    columns += (MySQLTargetColumn(name=f"c{at}", ordinal=at + 2, type=one) for at, one in enumerate(types))
    return MySQLTargetTable(**{"name": COPY, "columns": tuple(columns), "unique_indexes": (KEY,), **fields})


def verdict(of: SourceTable, into: MySQLTargetTable | None, writing: dict[str, Any], **facts: Any) -> DeliveryVerdict:
    judged = replace(EMPTY, tables=(into,) if into else (), **facts)
    return judge_target(TableWriting(mappings=(MAPPING,), **writing), 1, {MAPPING.topic: of}, judged)


def codes(judged: DeliveryVerdict) -> list[str]:
    return [problem.code for problem in judged.problems]


INSERTS = {"write_mode": WriteMode.INSERT}
NOT_READY = ["TARGET_NOT_READY"]


@pytest.mark.parametrize(
    ("into", "writing", "facts", "expected"),
    [
        pytest.param(target(), {}, {}, [], id="table with the key"),
        pytest.param(None, {}, {}, [], id="table that the sink makes"),
        pytest.param(target(), {}, {"variables": {"innodb_read_only": "ON"}}, NOT_READY, id="reader of a cluster"),
        pytest.param(target(), {}, {"variables": {"read_only": "1"}}, NOT_READY, id="replica"),
        pytest.param(
            target(), {}, {"variables": {"read_only": "1"}, "writes_anyway": True}, [], id="replica, a superuser"
        ),
        pytest.param(
            target(),
            {},
            {"variables": {"super_read_only": "ON"}, "writes_anyway": True},
            NOT_READY,
            id="superuser of a replica that takes nothing",
        ),
        pytest.param(
            None, INSERTS, {"variables": {"group_replication_group_name": "a"}}, NOT_READY, id="group that needs keys"
        ),
        pytest.param(
            None,
            INSERTS,
            {"variables": {"sql_require_primary_key": "ON", "sql_generate_invisible_primary_key": "ON"}},
            [],
            id="server that makes keys itself",
        ),
        pytest.param(target(engine=None), {}, {}, NOT_READY, id="view"),
        pytest.param(target(engine="MEMORY"), {}, {}, [], id="engine that forgets at a restart is a warning"),
        pytest.param(
            target(unique_indexes=(KEY, MySQLUniqueIndex(name="u", columns=("c0",)))), {}, {}, NOT_READY, id="unique"
        ),
        pytest.param(
            target(unique_indexes=(KEY, MySQLUniqueIndex(name="u", columns=("c0",)))), INSERTS, {}, [], id="inserts"
        ),
    ],
)
def test_a_target_has_these_problems(
    into: MySQLTargetTable | None, writing: dict[str, Any], facts: dict[str, Any], expected: list[str]
) -> None:
    assert codes(verdict(source(), into, writing, **facts)) == expected


@pytest.mark.parametrize(("auto_evolve", "missing"), [(True, "ALTER"), (False, None)])
def test_a_table_that_the_sink_makes_needs_every_right_that_it_will_use(
    *, auto_evolve: bool, missing: str | None
) -> None:
    rights = {COPY: frozenset(MySQLPrivilege) - {MySQLPrivilege.ALTER}}
    judged = verdict(source(), None, {"auto_evolve": auto_evolve}, privileges=rights)
    assert [missing in problem.message for problem in judged.problems if missing] == [True] * bool(missing)
    nothing = verdict(source(), None, {"delete_enabled": False}, privileges={})
    assert "GRANT CREATE, SELECT, INSERT, UPDATE, ALTER ON `dwh`.`orders` TO `sink`@`%`;" in nothing.problems[0].message


def test_an_index_of_which_the_key_is_a_part_is_no_problem_and_one_that_is_a_part_of_the_key_is() -> None:
    two = replace(source("bigint"), primary_key_columns=("id", "c0"))
    key = MySQLUniqueIndex(name="PRIMARY", columns=("c0", "id"))
    for columns, expected in ((("c0", "id", "c1"), []), (("c0",), NOT_READY), (None, NOT_READY)):
        into = target("bigint", unique_indexes=(key, MySQLUniqueIndex(name="u", columns=columns)))
        assert codes(verdict(two, into, {})) == expected


def test_types_that_stop_the_delivery_are_a_problem_of_their_own() -> None:
    judged = verdict(source("text[]"), target("text"), {})
    assert codes(judged) == ["TYPE_UNSUPPORTED"]


def test_of_types_of_a_kind_of_source_that_was_not_measured_nothing_is_known() -> None:
    other: Any = "another kind"
    unknown = replace(source("text"), provider=other)
    judged = verdict(unknown, target("int"), {})
    assert (codes(judged), [warning.code for warning in judged.warnings]) == ([], ["TYPES_NOT_CHECKED"])
    assert list(MySQLTarget().target_statements(TableWriting(mappings=(MAPPING,)), {MAPPING.topic: unknown})) == []


def test_a_table_is_found_in_another_case_only_where_the_server_folds_names() -> None:
    into = target(name=TableName("dwh", "ORDERS"))
    assert codes(verdict(source(), into, {"auto_create": False})) == NOT_READY
    folds = {"lower_case_table_names": "1"}
    assert codes(verdict(source(), into, {"auto_create": False}, variables=folds)) == []


def test_the_statement_makes_long_columns_texts_where_a_row_would_be_too_long() -> None:
    wide = replace(source("varchar(9000)", "varchar(9000)", "varbinary(100)"), provider=DatabaseProvider.MYSQL)
    (proposed,) = MySQLTarget().target_statements(TableWriting(mappings=(MAPPING,)), {MAPPING.topic: wide})
    assert proposed.statement == (
        "CREATE TABLE `dwh`.`orders` (\n  `id` bigint NOT NULL,\n  `c0` longtext NULL,\n  `c1` varchar(9000) NULL,\n"
        "  `c2` varbinary(100) NULL,\n  PRIMARY KEY (`id`)\n) CHARACTER SET utf8mb4;"
    )


def test_without_upserts_the_statement_has_no_key() -> None:
    writing = TableWriting(mappings=(MAPPING,), write_mode=WriteMode.INSERT)
    (proposed,) = MySQLTarget().target_statements(writing, {MAPPING.topic: source("text")})
    assert "PRIMARY KEY" not in proposed.statement


def test_the_identity_of_a_server_says_whether_it_folds_names() -> None:
    provider, known = MySQLTarget(), {"server_uuid": "u"}
    assert provider.server_identity(EMPTY) is None
    plain = provider.server_identity(replace(EMPTY, variables=known))
    folding = provider.server_identity(replace(EMPTY, variables={**known, "lower_case_table_names": "2"}))
    assert plain == "mysql:u"
    assert folding not in (None, plain)
