"""Rows of a source and of its target, in one spelling, and the steps that tests of two kinds of databases share."""

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from time import sleep as pause
from typing import Any
from uuid import UUID

import psycopg
import pymysql

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.apps.real_mysql import RealMySQLDatabase, open_database
from tests.support.databases.mysql import MySQLServer
from tests.support.databases.mysql_target import SINK_RIGHTS
from tests.support.waiting import eventually

Rows = list[str]
_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 - to make a duration of a time


def as_text(value: Any) -> str:
    """A value in one spelling, from whichever driver it comes."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - (value.utcoffset() or timedelta())).isoformat(timespec="microseconds")
    spellings: tuple[tuple[Any, Callable[[Any], str]], ...] = (
        (bool, lambda flag: str(int(flag))),
        ((float, Decimal), lambda number: _plain(Decimal(number))),
        (time, lambda at: str(_DAY.combine(_DAY, at) - _DAY)),
        ((bytes, memoryview), lambda raw: bytes(raw).hex()),
        (UUID, lambda one: repr(str(one))),
        (str, repr),
    )
    text = next((spell(value) for kind, spell in spellings if isinstance(value, kind)), str(value))
    return text if len(text) < 200 else f"{len(text)} characters {hashlib.sha256(text.encode()).hexdigest()}"


def _plain(number: Decimal) -> str:
    """All of its digits, without zeros at the end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def lines(rows: Sequence[Sequence[Any]], documents: Sequence[int] = ()) -> Rows:
    """Rows as text, ordered. `documents` are the columns with JSON."""
    return sorted(
        " | ".join(
            json.dumps(json.loads(one), sort_keys=True) if at in documents and one is not None else as_text(one)
            for at, one in enumerate(row)
        )
        for row in rows
    )


def in_mysql(database: RealMySQLDatabase, table: str, columns: Sequence[str], documents: Sequence[int] = ()) -> Rows:
    """The rows there; none while the table does not exist."""
    listed = ", ".join(f"`{column}`" for column in columns)
    try:
        return lines(database.run(f"SELECT {listed} FROM `{table}`"), documents)
    except pymysql.Error:
        return []


def in_postgresql(database: RealDatabase, table: str, columns: Sequence[str], documents: Sequence[int] = ()) -> Rows:
    listed = ", ".join(f'"{column}"' + "::text" * (at in documents) for at, column in enumerate(columns))
    try:
        return lines(database.run(f'SELECT {listed} FROM shop."{table}"'), documents)
    except psycopg.Error:
        return []


def tick(headgate: RealHeadgate) -> None:
    """A tick, and some time for it."""
    headgate.tick()
    pause(1)


def until_healthy(headgate: RealHeadgate, delivery: Json) -> None:
    """Ticks run until the delivery does: one that has to wait for sinks of another dialect is started by one."""

    def state() -> str:
        tick(headgate)
        return str(headgate.get(f"/deliveries/{delivery['id']}/status?fresh=true")["observed_state"])

    eventually(state, lambda seen: seen == "RUNNING", seconds=60)


def open_target(server: MySQLServer, purpose: str) -> RealMySQLDatabase:
    """A database that a delivery may write to and make tables in."""
    return open_database(server, purpose, rights=SINK_RIGHTS)


def until_equal(expected: Callable[[], Rows], arrived: Callable[[], Rows], seconds: float = 60) -> None:
    def differing() -> list[Rows]:
        wanted, found = expected(), arrived()
        return [[row for row in one if row not in other] for one, other in ((wanted, found), (found, wanted))]

    eventually(differing, lambda rows: rows == [[], []], seconds=seconds)
    assert len(arrived()) == len(expected())
