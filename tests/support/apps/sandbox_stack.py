"""The servers around the Headgate of a sandbox: doubles of Kafka and Connect, receivers of messages, a PostgreSQL."""

import base64
import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.local import doubles
from infra.local.app.addresses import StackAddresses
from infra.local.app.environment import Keys, environment
from infra.local.app.first_admin import FirstAdmin
from infra.local.doubles.notification_receivers import NotificationReceiver
from infra.local.process.ports import kept_ports
from tests.support.alerting.notifications import chat_receivers
from tests.support.databases.postgresql import RunningPostgreSQL, running_postgresql

ADMIN = FirstAdmin(email="admin@example.com", password="correct horse battery staple", made_here=False)
DATABASE, ROLE, ROLE_PASSWORD = "market", "capturer", "planted-capturer-password"
TARGET, WRITER, WRITER_PASSWORD = "warehouse", "writer", "planted-writer-password"
_DATABASES = (
    f"CREATE ROLE {ROLE} LOGIN REPLICATION PASSWORD '{ROLE_PASSWORD}'",
    f"CREATE ROLE {WRITER} LOGIN PASSWORD '{WRITER_PASSWORD}'",
    f"CREATE DATABASE {DATABASE}",
    f"CREATE DATABASE {TARGET}",
    f"GRANT CREATE ON DATABASE {DATABASE} TO {ROLE}",
)
_SOURCE_TABLES = (
    f"CREATE SCHEMA shop AUTHORIZATION {ROLE}",
    "CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer text NOT NULL, amount numeric(10, 2))",
    "CREATE TABLE shop.customers (id bigint PRIMARY KEY, name text)",
    "CREATE TABLE shop.lines (order_id bigint, position int, article text)",
    "CREATE TABLE shop.paths (id bigint PRIMARY KEY, way point, around circle)",
    "INSERT INTO shop.orders SELECT n, repeat('x', 200), n FROM generate_series(1, 500) n",
    *(f"ALTER TABLE shop.{table} OWNER TO {ROLE}" for table in ("orders", "customers", "lines", "paths")),
    "ANALYZE",
)
_TARGET_SCHEMAS = (f"CREATE SCHEMA mart AUTHORIZATION {WRITER}", f"CREATE SCHEMA lake AUTHORIZATION {WRITER}")


@dataclass(frozen=True, kw_only=True)
class SandboxStack:
    """What a Headgate of the sandbox uses, and the environment with which it finds all of it."""

    port: int
    postgresql: RunningPostgreSQL
    doubles: doubles.Doubles
    service_credential: str
    chat: NotificationReceiver
    bot: NotificationReceiver
    variables: dict[str, str]


@contextlib.contextmanager
def running_stack(state: Path) -> Iterator[SandboxStack]:
    """The servers around a Headgate that will serve at `port`."""
    port = kept_ports(state / "ports.json", ["headgate"])["headgate"]
    url, credential = f"http://127.0.0.1:{port}", secrets.token_urlsafe(24)
    keys = Keys(master_key=base64.b64encode(os.urandom(32)).decode(), service_credential=credential)
    many = {"max_replication_slots": "120", "max_wal_senders": "120", "max_connections": "300"}
    with contextlib.ExitStack() as ends:
        database = ends.enter_context(running_postgresql(many))
        _make_databases(database)
        started = doubles.start(headgate_url=url, service_credential=credential)
        ends.callback(started.stop)
        addresses = StackAddresses(kafka=started.kafka, connect=started.connect, postgres="")
        chat, bot, hosts = chat_receivers(ends)
        yield SandboxStack(
            port=port,
            postgresql=database,
            doubles=started,
            service_credential=credential,
            chat=chat,
            bot=bot,
            variables=environment(ADMIN, keys, addresses) | hosts,
        )


def _make_databases(server: RunningPostgreSQL) -> None:
    for database, statements in (("postgres", _DATABASES), (DATABASE, _SOURCE_TABLES), (TARGET, _TARGET_SCHEMAS)):
        with server.connect(database) as connection:
            for statement in statements:
                connection.execute(statement.encode())
