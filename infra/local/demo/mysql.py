"""From MySQL to PostgreSQL, where the run has started a MySQL: the same job once more, for another kind of database."""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import pymysql

from infra.local.demo import topics as demo_topics
from infra.local.demo.api import BOUND_SECONDS, Json, wait_until
from infra.local.demo.data import PREFIX, TARGET_SCHEMA
from infra.local.demo.leftovers import ENVIRONMENT
from infra.local.demo.report import StepFailed, counted, require
from infra.local.demo.run import Run, states

TABLE, ROWS = "Kunden Süd", 300
TARGET_TABLE = "mysql customers"
_SECONDS = 30
_LARGEST = 2**64 - 1

_CREATE = """
    CREATE TABLE `Kunden Süd` (
        `Nr.` bigint unsigned PRIMARY KEY, name varchar(80) NOT NULL, kind enum('a','b c') NOT NULL,
        balance decimal(20,4), born date, seen datetime(3) NOT NULL, token binary(16) NOT NULL, profile json,
        active tinyint(1) NOT NULL
    )
"""
_INSERT = "INSERT INTO `Kunden Süd` VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
_CHANGES = (
    "UPDATE `Kunden Süd` SET name = CONCAT('geändert 🎈 ', `Nr.`), balance = NULL WHERE `Nr.` <= 40",
    "DELETE FROM `Kunden Süd` WHERE `Nr.` BETWEEN 101 AND 120",
    "UPDATE `Kunden Süd` SET `Nr.` = `Nr.` + 1000000, token = 0x00FF WHERE `Nr.` BETWEEN 201 AND 205",
)
CHANGED = 65

_COMPARED: Sequence[tuple[str, str]] = (
    ("CAST(`Nr.` AS CHAR)", '"Nr."::text'),
    ("name", "name"),
    ("kind", "kind"),
    ("CAST(balance AS CHAR)", "balance::text"),
    ("DATE_FORMAT(born, '%Y-%m-%d')", "to_char(born, 'YYYY-MM-DD')"),
    ("DATE_FORMAT(seen, '%Y-%m-%d %H:%i:%s.%f')", "to_char(seen, 'YYYY-MM-DD HH24:MI:SS.US')"),
    ("HEX(token)", "upper(encode(token, 'hex'))"),
    ("profile->>'$.n'", "profile::jsonb->>'n'"),
    ("CAST(active AS CHAR)", "active::text"),
)
"""Each column as the same text in both databases."""
_ALL_ROWS = "SELECT {columns} FROM {table}"


@dataclass(frozen=True, kw_only=True)
class MySQLDatabase:
    """The source: a database and the account that Headgate uses for it. `superuser` is a `mysql://` URL."""

    name: str
    account: str
    password: str = field(repr=False)
    superuser: str = field(repr=False)

    @property
    def config(self) -> Mapping[str, Any]:
        """The connection as the API takes it."""
        place = urlsplit(self.superuser)
        address = {"host": place.hostname, "port": place.port}
        return {**address, "database_name": self.name, "username": self.account}

    def run(self, *statements: str) -> Sequence[tuple[Any, ...]]:
        """Runs statements as the superuser; the rows of the last one."""
        with connected(self.superuser, self.name) as connection:
            return _run(connection, *statements)


def connected(superuser: str, database: str | None = None) -> "pymysql.Connection[Any]":
    """A connection that commits after each statement, with a time limit for each."""
    place = urlsplit(superuser)
    return pymysql.connect(
        host=place.hostname,
        port=place.port or 3306,
        user=place.username,
        password=unquote(place.password or ""),
        database=database,
        autocommit=True,
        connect_timeout=_SECONDS,
        read_timeout=_SECONDS,
    )


def remove_from_server(superuser: str) -> int:
    """Drops databases and accounts of earlier demonstrations; returns how many."""
    pattern = PREFIX.replace("_", r"\_") + "%"
    with connected(superuser) as connection:
        databases = _run(connection, f"SHOW DATABASES LIKE '{pattern}'")
        accounts = [row for row in _run(connection, "SELECT user FROM mysql.user") if row[0].startswith(PREFIX)]
        _run(connection, *(f"DROP DATABASE `{name}`" for (name,) in databases))
        _run(connection, *(f"DROP USER `{name}`" for (name,) in accounts))
    return len(databases) + len(accounts)


def make_source(run: Run, superuser: str) -> MySQLDatabase:
    """By hand, as its owner would."""
    with run.report.step("Make a MySQL database") as step:
        # An account of MySQL has at most 32 characters.
        name, password = f"{PREFIX}{run.stamp}", secrets.token_urlsafe(24)
        source = MySQLDatabase(name=name, account=name, password=password, superuser=superuser)
        run.api.watch_for(password)
        with connected(superuser) as connection:
            _run(
                connection,
                f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4",
                f"CREATE USER `{name}` IDENTIFIED BY '{password}'",
                f"GRANT SELECT, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO `{name}`",
                f"USE `{name}`",
                _CREATE,
            )
            with connection.cursor() as cursor:
                cursor.executemany(_INSERT, [_row(number) for number in (*range(1, ROWS), _LARGEST)])
        step.observe(f"{ROWS} rows in the table {TABLE}, with BIGINT UNSIGNED up to {_LARGEST}")
        return source


def register(run: Run, source: MySQLDatabase) -> Json:
    """A connection that others may use too, and a source that points at it."""
    with run.report.step("Register it as a connection and a source, test and discover it") as step:
        body = {"provider": "mysql", "config": source.config, "credentials": {"password": source.password}}
        connection = run.api.post("/connections", {"name": run.named("MySQL"), **body}, status=[201])
        tested = run.api.post(f"/connections/{connection['id']}/test")
        require(tested["success"], expected="a connection", actual=tested["checks"])
        pointing = {"name": run.named("MySQL"), "environment": ENVIRONMENT, "connection_id": connection["id"]}
        registered = run.api.post("/sources", pointing, status=[201])
        path = f"/sources/{registered['id']}"
        job = run.api.post(f"{path}/discover")
        done = wait_until(
            lambda: run.api.get(f"/jobs/{job['id']}"),
            lambda now: now["status"] in ("COMPLETED", "FAILED"),
            expected="a finished job",
        )
        require(done["status"] == "COMPLETED", expected="a COMPLETED job", actual=done)
        found = [row for row in run.api.every(f"{path}/tables") if row["table_name"] == TABLE]
        require([row["cdc_ready"] for row in found] == [True], expected=f"{TABLE} ready for capture", actual=found)
        step.observe(f"connected to MySQL {tested['server_version']}; {TABLE} is ready for capture")
        for issue in found[0]["cdc_issues"]:
            step.add_line(f"{issue['column'] or TABLE}: {issue['message']}")
        return registered


def deploy(run: Run, source: MySQLDatabase, registered: Json) -> Json:
    """From the table to its topic."""
    with run.report.step("Deploy a pipeline from it") as step:
        body = {
            "name": run.named("MySQL pipeline"),
            "source_id": registered["id"],
            "stream_cluster_id": run.stream["id"],
            "connect_cluster_id": run.connect["id"],
            "topic_prefix": f"{demo_topics.PREFIX}{run.stamp}-mysql",
            "tables": [{"schema_name": source.name, "table_name": TABLE}],
        }
        pipeline = run.api.post("/pipelines", body, status=[201])
        readiness = run.api.get(f"/sources/{registered['id']}/cdc-readiness", pipeline_id=pipeline["id"])
        require(readiness["status"] != "NOT_READY", expected="a source that is ready", actual=readiness)
        path = f"/pipelines/{pipeline['id']}"
        run.api.post(f"{path}/deploy", status=[200, 202])
        run.settled(path)
        step.observe(states(run.observed(path, "RUNNING")))
        step.add_line(f"{readiness['status']}, {counted(len(readiness['checks']), 'check')}")
        return pipeline


def deliver(run: Run, pipeline: Json) -> None:
    """From the topic to the PostgreSQL of the demonstration."""
    with run.report.step("Deliver it to PostgreSQL") as step:
        topic = pipeline["topics"][0]
        wait_until(
            lambda: demo_topics.records(run.stack.kafka, [topic]),
            lambda counts: counts.get(topic, 0) >= (0 if run.sandbox else ROWS),
            expected=f"{ROWS} records in {topic}",
        )
        body = {
            "pipeline_id": pipeline["id"],
            "name": run.named("MySQL delivery"),
            "mappings": [{"topic": topic, "schema_name": TARGET_SCHEMA, "table_name": TARGET_TABLE}],
            "auto_create": True,
            "auto_evolve": True,
        }
        delivery = run.api.post(f"/destinations/{run.destination['id']}/deploy", body, status=[201, 202])
        path = f"/deliveries/{delivery['id']}"
        run.settled(path)
        step.observe(states(run.observed(path, "RUNNING")))


def compare(run: Run, source: MySQLDatabase) -> None:
    """Every row by content: those of the snapshot, then after changes."""
    with run.report.step(f"Compare MySQL and PostgreSQL, make {CHANGED} changes, and compare again") as step:
        before = _until_equal(run, source)
        source.run(*_CHANGES)
        after = _until_equal(run, source)
        step.observe(f"{before} rows, then {after} rows after the changes, equal in content on both sides")


def _until_equal(run: Run, source: MySQLDatabase) -> int:
    until = time.monotonic() + BOUND_SECONDS
    while (rows := _source_rows(source)) != (arrived := _target_rows(run)):
        if time.monotonic() > until:
            different = sorted(set(rows) ^ set(arrived))[:2]
            raise StepFailed(
                expected=f"equal tables within {BOUND_SECONDS:.0f} s",
                actual=f"{len(rows)} rows in MySQL, {len(arrived)} in PostgreSQL, such as {different}",
            )
        time.sleep(0.5)
    return len(rows)


def _source_rows(source: MySQLDatabase) -> list[str]:
    columns = ", ".join(mysql for mysql, _ in _COMPARED)
    return sorted(map(repr, source.run(_ALL_ROWS.format(columns=columns, table=f"`{TABLE}`"))))


def _target_rows(run: Run) -> list[str]:
    import psycopg

    columns = ", ".join(postgres for _, postgres in _COMPARED)
    query = _ALL_ROWS.format(columns=columns, table=f'"{TARGET_SCHEMA}"."{TARGET_TABLE}"')
    with run.target_database.as_superuser() as connection:
        try:
            return sorted(map(repr, connection.execute(query.encode()).fetchall()))
        except psycopg.errors.UndefinedTable:
            return []


def _row(number: int) -> tuple[Any, ...]:
    some = number % 1000
    token = bytes([some % 256, some // 256]) + bytes(14)
    born, seen = f"{1900 + some % 120}-02-{1 + some % 28:02}", f"2024-03-31 02:30:{some % 60:02}.{some:03}"
    names = ("Zoë", "李娜", "Søren 🙂", 'O\'Brien \\ "x"')
    balance = None if some % 7 == 0 else f"{some * 1234}.{some:04}"
    profile = f'{{"n": {some}, "städte": ["Zürich"]}}'
    return (
        number,
        f"{names[some % 4]} {number}",
        ("a", "b c")[some % 2],
        balance,
        born,
        seen,
        token,
        profile,
        some % 2,
    )


def _run(connection: "pymysql.Connection[Any]", *statements: str) -> Sequence[tuple[Any, ...]]:
    rows: Sequence[tuple[Any, ...]] = ()
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
            rows = cursor.fetchall()
    return rows


def steps(run: Run) -> None:
    """All of them; nothing where the run has no MySQL."""
    if run.stack.mysql is None:
        return
    source = make_source(run, run.stack.mysql)
    pipeline = deploy(run, source, register(run, source))
    deliver(run, pipeline)
    if not run.sandbox:
        compare(run, source)
