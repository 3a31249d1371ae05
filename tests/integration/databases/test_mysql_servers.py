"""The MySQL of local stacks and tests: ready for capture, on loopback only, and safe to stop at any moment."""

import contextlib
import platform
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pymysql
import pytest
from pymysql.constants import ER

from infra.local.app.errors import SetupMissing
from infra.local.stack import sandbox_stack
from infra.local.stack.sandbox_stack import SandboxStack
from tests.support.databases.mysql import (
    MySQLServer,
    MySQLShop,
    mysql_in,
    mysql_or_skip,
    open_mysql_shop,
    run,
    running_mysql,
)
from tests.support.databases.mysql_9 import find_mysql_9
from tests.support.databases.server_state import fresh_state

ACCOUNT_IS_LOCKED = 3118


def test_a_new_server_is_ready_for_capture(mysql_server: MySQLServer) -> None:
    settings = {
        name: mysql_server.value(f"@@{name}")
        for name in (
            *("log_bin", "binlog_format", "binlog_row_image", "binlog_row_metadata", "gtid_mode", "server_id"),
            *("enforce_gtid_consistency", "binlog_expire_logs_seconds", "character_set_server", "local_infile"),
        )
    }
    assert settings == {
        "log_bin": 1,
        "binlog_format": "ROW",
        "binlog_row_image": "FULL",
        "binlog_row_metadata": "MINIMAL",
        "gtid_mode": "ON",
        "enforce_gtid_consistency": "ON",
        "binlog_expire_logs_seconds": 30 * 24 * 3600,
        "server_id": 1,
        "character_set_server": "utf8mb4",
        "local_infile": 0,
    }
    assert mysql_server.value("version()").startswith("8.0.")


def test_root_has_a_password_and_nobody_else_may_sign_in(mysql_server: MySQLServer) -> None:
    assert len(mysql_server.superuser_password) > 20
    for user, password in (("root", ""), ("root", "guess"), ("", ""), ("mysql.session", "")):
        with pytest.raises(pymysql.OperationalError) as refused:
            mysql_server.connect(user, password)
        assert refused.value.args[0] in (ER.ACCESS_DENIED_ERROR, ACCOUNT_IS_LOCKED)


def test_the_password_is_in_no_log(mysql_server: MySQLServer) -> None:
    files = [mysql_server.log, *mysql_server.data.glob("mysql-bin.*")]
    assert len(files) > 2
    assert [file for file in files if mysql_server.superuser_password.encode() in file.read_bytes()] == []


def test_it_listens_on_one_port_of_loopback_and_on_no_socket(mysql_server: MySQLServer) -> None:
    process = psutil.Process(mysql_server.process.pid)
    listening = [one.laddr for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN]
    assert listening == [("127.0.0.1", mysql_server.port)]
    assert process.net_connections("unix") == []


def test_passwords_of_its_default_kind_work_with_tls_and_without(mysql_shop: MySQLShop) -> None:
    with mysql_shop.as_role() as connection:
        assert run(connection, "SHOW STATUS LIKE 'Ssl_cipher'")[0][1] != ""
    with mysql_shop.as_role(ssl_disabled=True) as connection:
        assert run(connection, "SHOW STATUS LIKE 'Ssl_cipher'")[0][1] == ""
    (plugin,) = mysql_shop.run("SELECT plugin FROM mysql.user WHERE user = '{role}'")
    assert plugin == ("caching_sha2_password",)


def test_a_shop_s_role_reads_its_table_and_the_state_of_the_binary_log(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("INSERT INTO orders VALUES (1, 'Ада 😀', 12.50)")
    with mysql_shop.as_role() as connection:
        assert run(connection, "SELECT customer FROM orders") == (("Ада 😀",),)
        ((file, position, *_),) = run(connection, "SHOW MASTER STATUS")
        assert file.startswith("mysql-bin.")
        assert position > 0
        with pytest.raises(pymysql.OperationalError):
            run(connection, "DELETE FROM orders")


def test_another_reader_of_the_binary_log_is_seen_with_its_server_id(mysql_shop: MySQLShop) -> None:
    with mysql_shop.reading(4711):
        hosts = mysql_shop.run("SHOW SLAVE HOSTS")
        assert [row[0] for row in hosts] == [4711]
        commands = mysql_shop.run("SELECT command FROM information_schema.processlist WHERE user = '{role}'")
        assert commands == (("Binlog Dump",),)
    assert mysql_shop.run("SHOW SLAVE HOSTS") == ()


def test_what_clients_ask_for_is_recorded(mysql_shop: MySQLShop) -> None:
    with mysql_shop.server.general_log() as statements:
        with mysql_shop.as_role() as connection:
            run(connection, "SELECT 'one\ntwo'")
        assert statements == []
        mysql_shop.run("SELECT 'as root'")
    ours = [one for one in statements if one.user == mysql_shop.role]
    assert [one.text for one in ours if one.command == "Query"][-1] == "SELECT 'one\ntwo'"
    assert [one.command for one in ours].count("Connect") == 1
    assert "SELECT 'as root'" in {one.text for one in statements if one.user == "root"}
    assert len({one.connection for one in statements}) == 2


def test_options_of_a_test_come_on_top_and_two_servers_differ_in_their_id(mysql_server: MySQLServer) -> None:
    with running_mysql({"server-id": "77", "binlog-row-image": "MINIMAL", "gtid-mode": "OFF"}) as other:
        assert [other.value(f"@@{name}") for name in ("server_id", "binlog_row_image", "gtid_mode")] == [
            77,
            "MINIMAL",
            "OFF",
        ]
        ids = [server.value("@@server_uuid") for server in (mysql_server, other)]
        assert len({uuid.UUID(one) for one in ids}) == 2
        assert other.port != mysql_server.port


@pytest.fixture
def own_server() -> Iterator[MySQLServer]:
    with mysql_or_skip() as server:
        yield server


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_rows_id_and_password_outlive_the_server(own_server: MySQLServer, end: str) -> None:
    own_server.run("CREATE DATABASE kept", "CREATE TABLE kept.rows_ (id INT PRIMARY KEY)")
    own_server.run("INSERT INTO kept.rows_ VALUES (1)")
    own_server.run("FLUSH LOGS")
    before = own_server.value("@@server_uuid")
    if end == "kill":
        own_server.process.kill()
    else:
        own_server.process.stop()
    with pytest.raises(pymysql.OperationalError):
        own_server.connect()
    own_server.process.start()
    assert own_server.run("SELECT id FROM kept.rows_") == ((1,),)
    assert own_server.value("@@server_uuid") == before


def test_a_state_is_used_again_on_the_same_port(mysql_server: MySQLServer) -> None:
    with fresh_state("mysql") as state:
        with mysql_in(state) as server:
            server.run("CREATE DATABASE kept")
            first = server.port, server.superuser_password
        with mysql_in(state) as server:
            assert (server.port, server.superuser_password) == first
            assert ("kept",) in server.run("SHOW DATABASES")
    assert first[0] != mysql_server.port


@pytest.mark.usefixtures("mysql_server")
def test_the_sandbox_has_a_mysql_when_it_is_asked_for_and_keeps_its_data(capsys: pytest.CaptureFixture[str]) -> None:
    def start(*, with_mysql: bool) -> contextlib.AbstractContextManager[SandboxStack]:
        return sandbox_stack.start(
            state, headgate_url="http://127.0.0.1:1", service_credential="x", with_mysql=with_mysql
        )

    with fresh_state("sandbox") as state:
        with start(with_mysql=True) as stack:
            assert [server.plan.name for server in stack.servers] == ["PostgreSQL", "MySQL"]
            url = stack.addresses.mysql
            run_at(url, "CREATE DATABASE kept")
        with start(with_mysql=False) as stack:
            assert [server.plan.name for server in stack.servers] == ["PostgreSQL"]
            assert stack.addresses.mysql is None
        with mysql_in(state) as left_behind, start(with_mysql=True) as stack:
            assert not left_behind.process.is_running
            assert stack.addresses.mysql == url
            assert ("kept",) in run_at(url, "SHOW DATABASES")
    assert "stopping a server that an earlier run left behind" in capsys.readouterr().err


def run_at(url: str | None, statement: str) -> Sequence[tuple[Any, ...]]:
    """Runs a statement at a URL as a stack prints it."""
    parts = urlsplit(url or "")
    with pymysql.connect(
        host=parts.hostname, port=parts.port or 0, user=parts.username, password=parts.password or ""
    ) as connection:
        return run(connection, statement)


def test_a_mysql_9_is_a_source_as_well(mysql_9: MySQLServer) -> None:
    assert int(mysql_9.value("version()").split(".")[0]) >= 9
    assert [mysql_9.value(f"@@{name}") for name in ("log_bin", "gtid_mode", "binlog_row_image")] == [1, "ON", "FULL"]
    ((file, *_),) = mysql_9.run("SHOW BINARY LOG STATUS")
    assert file.startswith("mysql-bin.")
    with open_mysql_shop(mysql_9) as shop:
        with shop.reading(4711):
            assert [row[0] for row in shop.run("SHOW REPLICAS")] == [4711]
        with mysql_9.general_log() as statements, shop.as_role() as connection:
            run(connection, "SELECT 1")
        assert "SELECT 1" in {one.text for one in statements if one.user == shop.role}


@pytest.mark.parametrize("absent", ["apt-get", "dpkg"])
def test_what_mysql_9_needs_and_is_not_here_is_said_in_words(
    absent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for tool in {"apt-get", "dpkg"} - {absent}:
        (tmp_path / tool).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(SetupMissing, match=f"MySQL 9 comes out of Debian's packages, and {absent} is not here"):
        find_mysql_9()
