"""What settings and names of a MySQL server mean for the targets in it."""

from collections.abc import Iterator
from dataclasses import replace

import pymysql
import pytest

from chalicelib.domain.delivery import TableMapping, TableWriting, WriteMode
from chalicelib.domain.providers.mysql.target import judge_target
from chalicelib.kit.clock import Deadline
from tests.support.databases.mysql import MySQLServer, run, running_mysql
from tests.support.databases.mysql_target import (
    CREATED,
    SOURCE,
    MySQLCopy,
    open_mysql_copy,
    problems,
    strict,
    upsert,
    warned,
)


@pytest.fixture(scope="module")
def other_server() -> Iterator[MySQLServer]:
    """A server of its own, for settings of the whole server."""
    with running_mysql({"max-allowed-packet": "4M"}) as server:
        yield server


@pytest.fixture
def other_copy(other_server: MySQLServer) -> Iterator[MySQLCopy]:
    with open_mysql_copy(other_server) as opened:
        yield opened
    other_server.run("SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")


@pytest.mark.parametrize("setting", ["read_only", "super_read_only"])
def test_a_server_that_takes_no_writes_is_a_problem(other_copy: MySQLCopy, setting: str) -> None:
    other_copy.run(CREATED)
    assert other_copy.verdict().problems == ()
    other_copy.server.run(f"SET GLOBAL {setting} = ON")
    assert "read-only" in problems(other_copy.verdict())[0]
    with pytest.raises(pymysql.Error), strict(other_copy) as sink:
        upsert(sink, "orders", id=1)
    other_copy.server.run("SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")


def test_an_account_that_writes_while_the_server_is_read_only_is_no_problem(other_copy: MySQLCopy) -> None:
    other_copy.run(CREATED, "GRANT CONNECTION_ADMIN ON *.* TO {role}")
    other_copy.server.run("SET GLOBAL read_only = ON")
    assert other_copy.verdict().problems == ()
    with strict(other_copy) as sink:
        upsert(sink, "orders", id=1)
    other_copy.server.run("SET GLOBAL read_only = OFF")


def test_a_server_that_takes_no_table_without_a_key_cannot_get_one_from_a_sink_that_inserts(
    other_copy: MySQLCopy,
) -> None:
    other_copy.server.run("SET GLOBAL sql_require_primary_key = ON")
    inserts = {"write_mode": WriteMode.INSERT}
    assert "no table without a primary key" in problems(other_copy.verdict(**inserts))[0]
    with pytest.raises(pymysql.Error), strict(other_copy) as sink:
        run(sink, "CREATE TABLE orders (id BIGINT)")
    assert other_copy.verdict().problems == ()
    other_copy.server.run("SET GLOBAL sql_require_primary_key = OFF")


def test_a_server_that_takes_small_packets_is_a_warning(other_copy: MySQLCopy) -> None:
    assert "max_allowed_packet = 67108864" in warned(other_copy.verdict())["SMALL_PACKET"]


def test_a_server_has_one_identity_under_each_of_its_names(mysql_copy: MySQLCopy, other_copy: MySQLCopy) -> None:
    by_address, client = mysql_copy.facts().server_uuid, mysql_copy.client
    endpoint = replace(client.endpoint, address=replace(client.endpoint.address, host="localhost"))
    by_name = replace(client, endpoint=endpoint, check_host=lambda _: ("127.0.0.1",))
    assert by_name.target_facts([], Deadline.after(15)).server_uuid == by_address
    assert other_copy.facts().server_uuid not in (None, by_address)


def test_two_mappings_of_one_table_are_found_by_the_server_s_own_rule_for_names(mysql_copy: MySQLCopy) -> None:
    mappings = tuple(
        TableMapping(topic=name, schema_name=mysql_copy.name, table_name=name) for name in ("orders", "Orders")
    )
    facts = mysql_copy.client.target_facts([one.target for one in mappings], Deadline.after(15))
    sources = {"orders": SOURCE, "Orders": SOURCE}
    assert judge_target(TableWriting(mappings=mappings), 1, sources, facts).problems == ()
    folding = replace(facts, variables={**facts.variables, "lower_case_table_names": "1"})
    (problem,) = judge_target(TableWriting(mappings=mappings), 1, sources, folding).problems
    assert isinstance(problem.details, dict)
    assert problem.details["mappings"] == [0, 1]
