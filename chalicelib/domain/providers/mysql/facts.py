"""What was read from a MySQL server, not judged yet. Names are as the server spells them, unquoted.

MySQL has databases and no schemas: `TableName.schema_name` is the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from chalicelib.domain.table import TableName

HIDDEN_KEY = "my_row_id"
"""The column of a primary key that the server makes with `sql_generate_invisible_primary_key`, from 8.0.30 on."""


class MySQLGenerated(StrEnum):
    """How a generated column is stored (information_schema.COLUMNS.EXTRA)."""

    STORED = "stored"
    VIRTUAL = "virtual"


class MySQLHosting(StrEnum):
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
        return self not in (MySQLHosting.SELF_MANAGED, MySQLHosting.PERCONA)


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLRawColumn:
    """One column. `type` is COLUMN_TYPE (`int unsigned`, `enum('a','b')`); `ordinal` counts from 1.

    `character_set` and `collation` are null for other types than texts. `default` is null where there is none, or
    NULL. `spatial_reference` is the SRID that a spatial column is restricted to. `can_write`: INSERT and UPDATE.
    """

    name: str
    ordinal: int
    type: str
    nullable: bool = True
    default: str | None = None
    generated: MySQLGenerated | None = None
    invisible: bool = False
    auto_increment: bool = False
    character_set: str | None = None
    collation: str | None = None
    spatial_reference: int | None = None
    can_select: bool = True
    can_write: bool = True

    @property
    def needs_value(self) -> bool:
        """Whether an INSERT has to name a value for it."""
        has_own = self.nullable or self.default is not None or self.auto_increment or self.generated is not None
        return not has_own


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A foreign key of a table (the child). A rule is CASCADE, SET NULL, SET DEFAULT, RESTRICT or NO ACTION."""

    name: str
    referenced: TableName
    update_rule: str
    delete_rule: str

    @property
    def changes_rows(self) -> bool:
        """Whether a change of a referenced row changes rows of the child."""
        return not {self.update_rule, self.delete_rule}.isdisjoint({"CASCADE", "SET NULL", "SET DEFAULT"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """A unique key besides the primary one. `columns` is null where an expression is part of it."""

    name: str
    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLRawTable:
    """A table, or a view where `is_table` is false. `partitioned`: partitions can be dropped without row events.

    `partly_readable`: the account has a right on some of its columns only, and the server shows no others.
    `cascades_logged`: the server writes what foreign keys change to its binary log. `hides_keys`: it shows the keys
    that it has made only to sessions that ask for them, as no connector does. `foreign_keys` are its own.
    `estimated_rows` and `estimated_size_bytes` are from the statistics of the server; the size is without secondary
    indexes.
    """

    name: TableName
    raw_columns: tuple[MySQLRawColumn, ...] = ()
    is_table: bool = True
    engine: str | None = "InnoDB"
    collation: str | None = None
    partitioned: bool = False
    partly_readable: bool = False
    cascades_logged: bool = False
    hides_keys: bool = False
    primary_key_columns: tuple[str, ...] = ()
    unique_keys: tuple[UniqueKey, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    estimated_rows: int | None = None
    estimated_size_bytes: int | None = None

    @property
    def unreadable_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.raw_columns if not column.can_select)

    @property
    def readable(self) -> bool:
        """Whether the account may read each column: a table whose columns it does not see is none."""
        return bool(self.raw_columns) and not self.unreadable_columns and not self.partly_readable

    @property
    def key_is_hidden(self) -> bool:
        """Whether a connector does not see the primary key, which the server has made, and finds it in each change."""
        columns = [column for column in self.raw_columns if column.name == HIDDEN_KEY and column.invisible]
        return self.hides_keys and bool(columns) and self.primary_key_columns == (HIDDEN_KEY,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What the account may do: privileges on `*.*` in upper case, those of its active roles included.

    `account` is the one by which the server let it in, as `name@host`. `inactive_roles` are granted and not active in a
    new session. `partly_granted` are tables with rights on single columns. `satisfies_debezium`: Debezium takes it for
    an account that may lock tables, because a line has the words.
    """

    account: str = "cdc@%"
    global_privileges: frozenset[str] = frozenset()
    inactive_roles: tuple[str, ...] = ()
    partly_granted: tuple[TableName, ...] = ()
    satisfies_debezium: bool = False

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
class Readers:
    """Who reads the binary log.

    `registered` are the server ids of replicas that have registered, as Debezium does not; null without REPLICATION
    SLAVE. `threads` counts the sessions that read it, `own_threads` those of the same user name; the account sees
    others only where `sees_all`. A session does not show its server id.
    """

    registered: frozenset[int] | None = frozenset()
    threads: int = 0
    own_threads: int = 0
    sees_all: bool = False


UNLIMITED = 0
"""MySQL's own spelling of "no limit" of connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionUse:
    """ConnectionUse in use and their limits, without the one that asked. A limit is `UNLIMITED` where there is none.

    `account_used` are those of the same user name, as far as the account sees them.
    """

    used: int = 0
    maximum: int = UNLIMITED
    account_used: int = 0
    account_maximum: int = UNLIMITED


@dataclass(frozen=True, slots=True, kw_only=True)
class AmazonRetention:
    """The setting `binlog retention hours` of Amazon RDS and Aurora. `hours` is null where it is NULL."""

    hours: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLServerFacts:
    """Everything that readiness is judged by. `tables` are those asked for that exist and can be seen.

    `version_number` is 80015 for 8.0.15. `host` is that of the address. `proxy_version` is what was sent before signing
    in, where that differs. `variables` are global ones, by name in lower case; one that the server does not have is
    absent. `is_replica` is null where the account may not see it. `transactions_seconds` are the ages of open
    transactions, the oldest first; null without PROCESS. `amazon_retention` is null where it could not be read.
    `denied` are tables asked for that the account may not see, or that do not exist: the server does not say which.
    `hidden_definitions` are tables in the same databases whose definition the account may not read.
    """

    version: str
    version_number: int
    host: str = ""
    proxy_version: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    hosting: MySQLHosting = MySQLHosting.SELF_MANAGED
    encrypted: bool = True
    authentication: str = "caching_sha2_password"
    grants: Grants = field(default_factory=Grants)
    binlog: BinlogStatus = field(default_factory=BinlogStatus)
    readers: Readers = field(default_factory=Readers)
    connections: ConnectionUse = field(default_factory=ConnectionUse)
    is_replica: bool | None = False
    transactions_seconds: tuple[int, ...] | None = ()
    amazon_retention: AmazonRetention | None = None
    tables: tuple[MySQLRawTable, ...] = ()
    denied: frozenset[TableName] = frozenset()
    hidden_definitions: tuple[TableName, ...] = ()

    def variable(self, *names: str) -> str:
        """The value of the first of these variables that the server has; "" where it has none of them."""
        return next((self.variables[name] for name in names if name in self.variables), "")

    def number(self, name: str) -> int | None:
        """The variable as a number; null where the server has none, or another value."""
        value = self.variables.get(name, "")
        return int(value) if value.isascii() and value.isdecimal() and len(value) < 20 else None

    def is_on(self, *names: str) -> bool:
        return self.variable(*names).upper() in ("ON", "1", "YES")

    @property
    def server_uuid(self) -> str | None:
        return self.variables.get("server_uuid") or None

    def table(self, name: TableName) -> MySQLRawTable | None:
        return next((table for table in self.tables if table.name == name), None)
