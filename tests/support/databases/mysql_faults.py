"""MySQL sources with one fault each: how it is made, what readiness says, and what a real Debezium does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from chalicelib.domain.database import SslMode
from chalicelib.domain.providers.mysql.capture_options import SnapshotLocking
from chalicelib.domain.readiness import CheckOutcome


class Deployed(StrEnum):
    """What happens to a connector that is created all the same."""

    STOPS = "refused by Kafka Connect, or its task fails"
    LOSES = "runs, and rows are missing"
    STOPS_LATER = "runs, and fails when it starts again after an outage"
    WORKS = "runs, and every row arrives"


@dataclass(frozen=True, kw_only=True)
class MySQLFault:
    """`check` says so, or none where all pass. `server` are options of a server of its own, `statements` run in the
    shop's database as root. `tables`, `heartbeat`, `plan` and `address` are what the capture and the source have
    chosen. `change` changes the one row that the snapshot brings. `mended`: the statements that readiness recommends
    repair it. Servers have the fault from version `since` on, and from `gone_from` on no more.
    """

    check: str
    deployed: Deployed
    outcome: CheckOutcome = CheckOutcome.FAIL
    server: Mapping[str, str] = field(default_factory=dict)
    statements: Sequence[str] = ()
    tables: Sequence[str] = ("orders",)
    heartbeat: str | None = None
    change: str = "UPDATE orders SET customer = 'two'"
    plan: Mapping[str, Any] = field(default_factory=dict)
    address: Mapping[str, Any] = field(default_factory=dict)
    mended: bool = True
    gone_from: int | None = None
    since: int = 0

    def is_had_by(self, version: int) -> bool:
        return self.since <= version < (self.gone_from or version + 1)


STOPS, LOSES, WORKS = Deployed.STOPS, Deployed.LOSES, Deployed.WORKS
WARN, PASS = CheckOutcome.WARN, CheckOutcome.PASS
NO_TLS = {"ssl_mode": SslMode.DISABLE}
HEARTBEAT = "CREATE TABLE heartbeat (id INT PRIMARY KEY, ts TIMESTAMP NULL)"
HEARTBEAT_RIGHTS = "GRANT INSERT, UPDATE ON heartbeat TO {role}"
MADE_KEY = ["CREATE TABLE keyless (id INT, note VARCHAR(20))", "INSERT INTO keyless VALUES (1, 'one')"]
WITHOUT_LOCK = {"locking": SnapshotLocking.NONE}

SERVER_FAULTS: Mapping[str, MySQLFault] = {
    "no binary log": MySQLFault(
        check="log_bin",
        deployed=STOPS,
        server={
            "skip-log-bin": "ON",
            "gtid-mode": "OFF",
            "enforce-gtid-consistency": "OFF",
            "log-slave-updates": "OFF",
        },
        mended=False,
    ),
    "statements in the log": MySQLFault(check="binlog_format", deployed=STOPS, server={"binlog-format": "STATEMENT"}),
    "mixed log": MySQLFault(check="binlog_format", deployed=STOPS, server={"binlog-format": "MIXED"}),
    "minimal rows": MySQLFault(check="binlog_row_image", deployed=STOPS, server={"binlog-row-image": "MINIMAL"}),
    "rows without large values": MySQLFault(
        check="binlog_row_image", deployed=STOPS, server={"binlog-row-image": "NOBLOB"}
    ),
    "partial JSON values": MySQLFault(
        check="binlog_row_value_options",
        deployed=LOSES,
        server={"binlog-row-value-options": "PARTIAL_JSON"},
        statements=["ALTER TABLE orders ADD COLUMN document JSON", "UPDATE orders SET document = '{}'"],
    ),
    "log of another database only": MySQLFault(
        check="binlog_status", deployed=LOSES, server={"binlog-do-db": "other"}, mended=False
    ),
    "log without another database": MySQLFault(
        check="", outcome=PASS, deployed=WORKS, server={"binlog-ignore-db": "other"}
    ),
    "server without an id": MySQLFault(check="server_id", deployed=STOPS, server={"server-id": "0"}),
    "keys that the server has made and hides": MySQLFault(
        check="hidden_keys",
        deployed=STOPS,
        server={"sql-generate-invisible-primary-key": "ON", "show-gipk-in-create-table-and-information-schema": "OFF"},
        statements=MADE_KEY,
        tables=("keyless",),
        change="UPDATE keyless SET note = 'two'",
        since=80_030,
    ),
    "keys that the server has made and shows": MySQLFault(
        check="",
        outcome=PASS,
        deployed=WORKS,
        server={"sql-generate-invisible-primary-key": "ON"},
        statements=MADE_KEY,
        tables=("keyless",),
        change="UPDATE keyless SET note = 'two'",
        since=80_030,
    ),
    "compressed transactions": MySQLFault(
        check="binlog_transaction_compression",
        outcome=WARN,
        deployed=WORKS,
        server={"binlog-transaction-compression": "ON"},
        since=80_020,
    ),
    "log that is hardly kept": MySQLFault(
        check="binlog_retention", deployed=Deployed.STOPS_LATER, server={"binlog-expire-logs-seconds": "2"}
    ),
    "log that is kept for a day": MySQLFault(
        check="binlog_retention", deployed=WORKS, outcome=WARN, server={"binlog-expire-logs-seconds": "86400"}
    ),
    "no global transaction ids": MySQLFault(
        check="gtid_mode",
        deployed=WORKS,
        outcome=WARN,
        server={"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"},
    ),
    "encryption that is required and disabled": MySQLFault(
        check="connection",
        deployed=STOPS,
        server={"require-secure-transport": "ON"},
        address=NO_TLS,
        mended=False,
    ),
}
"""Each on a server of its own."""

ACCOUNT_FAULTS: Mapping[str, MySQLFault] = {
    "no REPLICATION SLAVE": MySQLFault(
        check="grant_replication_slave", deployed=STOPS, statements=["REVOKE REPLICATION SLAVE ON *.* FROM {role}"]
    ),
    "no REPLICATION CLIENT": MySQLFault(
        check="grant_replication_client", deployed=STOPS, statements=["REVOKE REPLICATION CLIENT ON *.* FROM {role}"]
    ),
    "no SELECT": MySQLFault(
        # The snapshot brings nothing, and the first change is one of a table that the connector does not know.
        check="grant_select",
        deployed=STOPS,
        statements=["REVOKE SELECT ON *.* FROM {role}"],
    ),
    "SELECT on a column only": MySQLFault(
        check="grant_select",
        deployed=STOPS,
        statements=["REVOKE SELECT ON *.* FROM {role}", "GRANT SELECT (id, customer) ON orders TO {role}"],
    ),
    "another table of which one column may be read": MySQLFault(
        check="definitions",
        deployed=STOPS,
        statements=[
            "CREATE TABLE salaries (id INT PRIMARY KEY, amount INT)",
            "REVOKE SELECT ON *.* FROM {role}",
            "GRANT SELECT ON orders TO {role}",
            "GRANT SELECT (id) ON salaries TO {role}",
        ],
    ),
    "another table that may be written only": MySQLFault(
        check="",
        outcome=PASS,
        deployed=WORKS,
        statements=[
            "CREATE TABLE inbox (id INT PRIMARY KEY)",
            "REVOKE SELECT ON *.* FROM {role}",
            "GRANT SELECT ON orders TO {role}",
            "GRANT INSERT ON inbox TO {role}",
        ],
    ),
    "role that is not active": MySQLFault(
        check="default_roles",
        deployed=STOPS,
        statements=[
            "CREATE ROLE {database}_reader",
            "GRANT SELECT, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {database}_reader",
            "REVOKE ALL PRIVILEGES, GRANT OPTION FROM {role}",
            "GRANT {database}_reader TO {role}",
        ],
    ),
    "role that is active": MySQLFault(
        check="",
        outcome=PASS,
        deployed=WORKS,
        statements=[
            "CREATE ROLE {database}_reader",
            "GRANT SELECT, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {database}_reader",
            "REVOKE ALL PRIVILEGES, GRANT OPTION FROM {role}",
            "GRANT {database}_reader TO {role}",
            "SET DEFAULT ROLE ALL TO {role}",
        ],
    ),
    "no RELOAD": MySQLFault(check="snapshot_lock", deployed=STOPS, statements=["REVOKE RELOAD ON *.* FROM {role}"]),
    "LOCK TABLES and no RELOAD": MySQLFault(
        check="snapshot_lock",
        deployed=STOPS,
        statements=["REVOKE RELOAD ON *.* FROM {role}", "GRANT LOCK TABLES ON *.* TO {role}"],
    ),
    "heartbeat table that may not be written": MySQLFault(
        check="heartbeat",
        deployed=STOPS,
        statements=[HEARTBEAT],
        heartbeat="heartbeat",
    ),
    "three connections and a heartbeat table": MySQLFault(
        check="connections",
        deployed=STOPS,
        statements=[HEARTBEAT, HEARTBEAT_RIGHTS, "ALTER USER {role} WITH MAX_USER_CONNECTIONS 3"],
        heartbeat="heartbeat",
    ),
    "four connections and a heartbeat table": MySQLFault(
        check="connections",
        outcome=WARN,
        deployed=WORKS,
        statements=[HEARTBEAT, HEARTBEAT_RIGHTS, "ALTER USER {role} WITH MAX_USER_CONNECTIONS 4"],
        heartbeat="heartbeat",
    ),
    "no RELOAD and no lock": MySQLFault(
        check="",
        outcome=PASS,
        deployed=WORKS,
        statements=["REVOKE RELOAD ON *.* FROM {role}"],
        plan=WITHOUT_LOCK,
    ),
    "LOCK TABLES beside RELOAD": MySQLFault(
        check="snapshot_lock",
        outcome=WARN,
        deployed=WORKS,
        statements=["GRANT LOCK TABLES ON *.* TO {role}"],
    ),
    "one connection": MySQLFault(
        check="connections", deployed=STOPS, statements=["ALTER USER {role} WITH MAX_USER_CONNECTIONS 1"]
    ),
    "two connections": MySQLFault(
        check="connections", deployed=STOPS, statements=["ALTER USER {role} WITH MAX_USER_CONNECTIONS 2"]
    ),
    "three connections": MySQLFault(
        check="connections",
        outcome=WARN,
        deployed=WORKS,
        statements=["ALTER USER {role} WITH MAX_USER_CONNECTIONS 3"],
    ),
    "first login without encryption": MySQLFault(
        check="auth_plugin", outcome=WARN, deployed=WORKS, address=NO_TLS, mended=False
    ),
    "sha256_password without encryption": MySQLFault(
        check="auth_plugin",
        deployed=STOPS,
        statements=["ALTER USER {role} IDENTIFIED WITH sha256_password BY '{password}'"],
        address=NO_TLS,
        mended=False,
    ),
    "mysql_native_password without encryption": MySQLFault(
        check="",
        outcome=PASS,
        deployed=WORKS,
        statements=["ALTER USER {role} IDENTIFIED WITH mysql_native_password BY '{password}'"],
        address=NO_TLS,
        gone_from=90_000,
    ),
    "password that has expired": MySQLFault(
        check="connection", deployed=STOPS, statements=["ALTER USER {role} PASSWORD EXPIRE"], mended=False
    ),
    "locked account": MySQLFault(
        check="connection", deployed=STOPS, statements=["ALTER USER {role} ACCOUNT LOCK"], mended=False
    ),
    "encryption that the account requires": MySQLFault(
        check="connection",
        deployed=STOPS,
        statements=["ALTER USER {role} REQUIRE SSL"],
        address=NO_TLS,
        mended=False,
    ),
    "client certificate": MySQLFault(
        check="connection", deployed=STOPS, statements=["ALTER USER {role} REQUIRE X509"], mended=False
    ),
}
"""Each with an account of its own."""

TABLE_FAULTS: Mapping[str, MySQLFault] = {
    "table that does not exist": MySQLFault(check="tables", deployed=LOSES, tables=("missing",), mended=False),
    "view": MySQLFault(
        check="tables",
        deployed=LOSES,
        statements=["CREATE VIEW seen AS SELECT * FROM orders"],
        tables=("seen",),
        mended=False,
    ),
    "MyISAM": MySQLFault(
        check="engine", outcome=WARN, deployed=WORKS, statements=["ALTER TABLE orders ENGINE = MyISAM"]
    ),
    "no primary key": MySQLFault(
        check="primary_key",
        outcome=WARN,
        deployed=WORKS,
        statements=["ALTER TABLE orders DROP PRIMARY KEY"],
        mended=False,
    ),
    "rows that a foreign key deletes": MySQLFault(
        check="fk_cascades",
        outcome=WARN,
        deployed=LOSES,
        statements=[
            "INSERT IGNORE INTO orders VALUES (1, 'one', 1.50)",
            "CREATE TABLE items (id INT PRIMARY KEY, o BIGINT)",
            "ALTER TABLE items ADD FOREIGN KEY (o) REFERENCES orders (id) ON DELETE CASCADE",
            "INSERT INTO items VALUES (1, 1)",
        ],
        tables=("items",),
        change="DELETE FROM orders",
        mended=False,
        gone_from=90_600,
    ),
    "partition that is truncated": MySQLFault(
        check="partitions",
        outcome=WARN,
        deployed=LOSES,
        statements=["ALTER TABLE orders PARTITION BY RANGE (id) (PARTITION first VALUES LESS THAN (9))"],
        change="ALTER TABLE orders TRUNCATE PARTITION first",
        mended=False,
    ),
    "definition with two double quotes": MySQLFault(
        check="",
        outcome=PASS,
        deployed=WORKS,
        statements=["""CREATE TABLE screws (id INT PRIMARY KEY, size ENUM('5" small', '7" large'))"""],
    ),
    "the server's own id": MySQLFault(check="", outcome=PASS, deployed=WORKS, plan={"server_id": 1}),
}
"""Each in a database of its own."""

SHARED_SERVER = {**ACCOUNT_FAULTS, **TABLE_FAULTS}
FAULTS = {**SERVER_FAULTS, **SHARED_SERVER}

_ASKED_DIFFERENTLY = (
    *("no REPLICATION SLAVE", "no REPLICATION CLIENT", "no SELECT", "SELECT on a column only", "no RELOAD"),
    *("role that is not active", "two connections", "minimal rows", "partial JSON values"),
)
MYSQL_9_FAULTS = {name: fault for name, fault in FAULTS.items() if fault.since > 80_015 or name in _ASKED_DIFFERENTLY}
"""Those that MySQL 8.0.15 does not have, and those about which MySQL 9 is asked by other statements."""
