"""What was read from a MySQL server, not judged yet. Names are as the server spells them, unquoted.

MySQL has databases and no schemas: `TableName.schema_name` is the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from chalicelib.domain.table import TableName


class Generated(StrEnum):
    """How a generated column is stored (information_schema.COLUMNS.EXTRA)."""

    STORED = "stored"
    VIRTUAL = "virtual"


class Hosting(StrEnum):
    """Who runs the server: it decides how a setting is changed, and which locks it allows."""

    SELF_MANAGED = "self-managed"
    PERCONA = "Percona Server"
    RDS = "Amazon RDS"
    AURORA = "Amazon Aurora"
    CLOUD_SQL = "Google Cloud SQL"
    AZURE = "Azure Database for MySQL"

    @property
    def is_managed(self) -> bool:
        """Whether a global read lock is refused there, so that Debezium would lock all captured tables instead."""
        return self not in (Hosting.SELF_MANAGED, Hosting.PERCONA)


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLRawColumn:
    """One column. `type` is COLUMN_TYPE (`int unsigned`, `enum('a','b')`); `ordinal` counts from 1.

    `character_set` and `collation` are null for other types than texts. `default` is null where there is none, or
    NULL. `spatial_reference` is the SRID that a spatial column is restricted to.
    """

    name: str
    ordinal: int
    type: str
    nullable: bool = True
    default: str | None = None
    generated: Generated | None = None
    invisible: bool = False
    auto_increment: bool = False
    character_set: str | None = None
    collation: str | None = None
    spatial_reference: int | None = None
    can_select: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A foreign key of a table (the child). A rule is CASCADE, SET NULL, SET DEFAULT, RESTRICT or NO ACTION."""

    name: str
    referenced: TableName
    update_rule: str
    delete_rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """A unique key besides the primary one. `columns` is null where an expression is part of it."""

    name: str
    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLRawTable:
    """A table, or a view where `engine` is null. `partitioned`: partitions can be dropped without row events.

    `foreign_keys` are its own. `estimated_rows` and `estimated_size_bytes` are from the statistics of the server;
    the size is without secondary indexes.
    """

    name: TableName
    raw_columns: tuple[MySQLRawColumn, ...] = ()
    engine: str | None = "InnoDB"
    collation: str | None = None
    partitioned: bool = False
    primary_key_columns: tuple[str, ...] = ()
    unique_keys: tuple[UniqueKey, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    estimated_rows: int | None = None
    estimated_size_bytes: int | None = None

    @property
    def unreadable_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.raw_columns if not column.can_select)

    @property
    def is_table(self) -> bool:
        return self.engine is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What the account may do: privileges on `*.*` in upper case, those of its active roles included.

    `inactive_roles` are granted and not active in a new session. `unread`: SHOW GRANTS could not be read.
    """

    account: str = ""
    global_privileges: frozenset[str] = frozenset()
    inactive_roles: tuple[str, ...] = ()
    unread: bool = False

    def has(self, *privileges: str) -> bool:
        """Whether one of these is granted on everything."""
        return not self.global_privileges.isdisjoint({*privileges, "ALL PRIVILEGES"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogStatus:
    """SHOW BINARY LOG STATUS, earlier SHOW MASTER STATUS: where the binary log ends, and what is written to it.

    `denied`: the account lacks REPLICATION CLIENT. `file` is null where the server writes none. An empty set of
    databases means that there is no such filter.
    """

    denied: bool = False
    file: str | None = None
    position: int | None = None
    only_databases: frozenset[str] = frozenset()
    ignored_databases: frozenset[str] = frozenset()

    def is_filtered(self, database: str) -> bool:
        """Whether changes of this database are left out of the binary log."""
        return database in self.ignored_databases or bool(self.only_databases and database not in self.only_databases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """Who reads the binary log. `server_ids` are those of registered replicas; null without REPLICATION SLAVE.

    `dump_threads` counts sessions that read it, as far as the account sees them.
    """

    server_ids: frozenset[int] | None = None
    dump_threads: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLServerFacts:
    """Everything that readiness is judged by. `tables` are those asked for that exist.

    `version_number` is 80015 for 8.0.15. `variables` are global ones, by name in lower case; one that the server does
    not have is absent. `is_replica` is null where the account may not see it. `replica_of_unlogged`: it replicates and
    does not write what it gets to its own binary log. `transactions_seconds` are the ages of open transactions, the
    oldest first; null without PROCESS. `retention_hours` is the setting of Amazon RDS and Aurora; absent elsewhere is
    `retention_known` false.
    """

    version: str
    version_number: int
    variables: Mapping[str, str] = field(default_factory=dict)
    hosting: Hosting = Hosting.SELF_MANAGED
    encrypted: bool = True
    authentication: str = "caching_sha2_password"
    grants: Grants = field(default_factory=Grants)
    binlog: BinlogStatus = field(default_factory=BinlogStatus)
    replicas: Replicas = field(default_factory=Replicas)
    is_replica: bool | None = False
    threads_connected: int = 0
    transactions_seconds: tuple[int, ...] | None = ()
    retention_known: bool = False
    retention_hours: int | None = None
    databases: frozenset[str] = frozenset()
    tables: tuple[MySQLRawTable, ...] = ()

    def variable(self, *names: str) -> str:
        """The value of the first of these variables that the server has; "" where it has none of them."""
        return next((self.variables[name] for name in names if name in self.variables), "")

    def number(self, name: str) -> int | None:
        """The variable as a number; null where the server has none, or another value."""
        value = self.variables.get(name, "")
        return int(value) if value.isascii() and value.isdecimal() and len(value) < 20 else None

    def is_on(self, name: str) -> bool:
        return self.variables.get(name, "").upper() in ("ON", "1")

    @property
    def server_uuid(self) -> str | None:
        return self.variables.get("server_uuid") or None

    def table(self, name: TableName) -> MySQLRawTable | None:
        return next((table for table in self.tables if table.name == name), None)
