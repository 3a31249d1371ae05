"""What was read from a PostgreSQL server, not judged yet. Names are as the server spells them, unquoted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from chalicelib.domain.table import TableName, TypeKind

UNLIMITED = -1
"""PostgreSQL's own spelling of "no limit" in connection limits and `max_slot_wal_keep_size`."""


class RelationKind(StrEnum):
    """The kind of a relation (pg_class.relkind)."""

    TABLE = "table"
    PARTITIONED = "partitioned table"
    VIEW = "view"
    MATERIALIZED_VIEW = "materialized view"
    FOREIGN_TABLE = "foreign table"
    OTHER = "other"

    @property
    def is_table(self) -> bool:
        return self in (RelationKind.TABLE, RelationKind.PARTITIONED)


class Persistence(StrEnum):
    """Whether changes of a table reach the write-ahead log (pg_class.relpersistence)."""

    PERMANENT = "permanent"
    UNLOGGED = "unlogged"
    TEMPORARY = "temporary"


class ReplicaIdentity(StrEnum):
    """Which old values an update or delete carries (pg_class.relreplident)."""

    DEFAULT = "DEFAULT"
    FULL = "FULL"
    NOTHING = "NOTHING"
    INDEX = "INDEX"


class Generated(StrEnum):
    """How a generated column is stored (pg_attribute.attgenerated)."""

    STORED = "stored"
    VIRTUAL = "virtual"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """A column's type below all domains. For an array, `name` and `kind` are those of its element.

    `name` is PostgreSQL's spelling with modifiers (`numeric(10,2)`). `dimensions` is what the table declares;
    PostgreSQL does not enforce it.
    """

    name: str
    kind: TypeKind = TypeKind.BASE
    is_array: bool = False
    dimensions: int = 0
    is_domain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLRawColumn:
    """One column. `type` is the declared type, `base` what it is below domains. `ordinal` counts from 1, gapless.

    `writable` is false where an INSERT may not name a value: generated columns and GENERATED ALWAYS AS IDENTITY.
    `storable_apart`: large values may be stored apart from the row (TOAST), and an update that leaves one alone does
    not write it to the log. `needs_quotes`: SQL does not find the column by its bare name. `defaults_to_now`: it is of
    dates or times, and its default is no constant.
    """

    name: str
    ordinal: int
    type: str
    base: TypeFacts
    nullable: bool = True
    has_default: bool = False
    generated: Generated | None = None
    can_select: bool = True
    writable: bool = True
    storable_apart: bool = False
    needs_quotes: bool = False
    defaults_to_now: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SomeTables:
    """How many tables there are of one kind, and the names of the first ones."""

    count: int = 0
    names: tuple[TableName, ...] = ()


NO_TABLES = SomeTables()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLRawTable:
    """A relation and what the asking role may do with it.

    `identity_usable` says whether an update can be published: FULL, or a key that serves as identity. PostgreSQL asks
    it of the partition that is written, never of the partitioned table. `identity_index_columns` are those of REPLICA
    IDENTITY USING INDEX. `stores_apart`: it, or one of its partitions, has a place for large values.
    `without_identity` and `not_full` are partitions, the latter only those with a place for large values. `children`
    inherit from the table and are no partitions. `can_write_heartbeat`: INSERT and UPDATE of columns `id` and `ts`.
    `estimated_size_bytes` is the table with its large values, without indexes. `owned`: the role has an owner's rights.
    `owner` is null where it is a superuser, whose rights nobody should get.
    `row_security_active`: policies may hide rows from the role, and none of them shows it all.
    """

    name: TableName
    raw_columns: tuple[PostgreSQLRawColumn, ...] = ()
    kind: RelationKind = RelationKind.TABLE
    primary_key_columns: tuple[str, ...] = ()
    persistence: Persistence = Persistence.PERMANENT
    replica_identity: ReplicaIdentity = ReplicaIdentity.DEFAULT
    identity_usable: bool = True
    identity_index_columns: tuple[str, ...] = ()
    stores_apart: bool = False
    partitions: int = 0
    without_identity: SomeTables = NO_TABLES
    not_full: SomeTables = NO_TABLES
    children: SomeTables = NO_TABLES
    has_unique_id: bool = False
    can_write_heartbeat: bool = False
    row_security_active: bool = False
    schema_usage: bool = True
    owned: bool = False
    owner: str | None = None
    estimated_rows: int | None = None
    estimated_size_bytes: int | None = None

    @property
    def unreadable_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.raw_columns if not column.can_select)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFacts:
    """A replication slot. `plugin` and `database` are null for a physical one; `wal_status` before PostgreSQL 13.

    `retained_bytes` of log are kept for it; null on a standby. `safe_bytes` may be written before the server removes
    what the slot needs; null where nothing bounds it.
    """

    name: str
    plugin: str | None = "pgoutput"
    database: str | None = None
    active: bool = False
    wal_status: str | None = "reserved"
    retained_bytes: int | None = None
    safe_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """One of the tables asked for, as a publication has it. `columns` are those published; null where all are."""

    name: TableName
    row_filter: bool = False
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationFacts:
    """A publication. `tables` are only those asked for; `table_count` counts all, null with FOR ALL TABLES."""

    name: str
    all_tables: bool = False
    inserts: bool = True
    updates: bool = True
    deletes: bool = True
    via_root: bool = False
    owned: bool = True
    tables: tuple[PublishedTable, ...] = ()
    table_count: int | None = None

    def table(self, name: TableName) -> PublishedTable | None:
        return next((table for table in self.tables if table.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleFacts:
    """The role that asked. `replication` includes `rds_replication`, which replaces the attribute at Amazon.

    Limits are `UNLIMITED` where there is none; connections in use leave out the one that asked.
    """

    name: str
    superuser: bool = False
    replication: bool = True
    connection_limit: int = UNLIMITED
    connections_used: int = 0
    database_connection_limit: int = UNLIMITED
    database_connections_used: int = 0
    can_create_in_database: bool = True


class Hosting(StrEnum):
    """Who runs the server: it decides how a setting is changed."""

    SELF_MANAGED = "self-managed"
    RDS = "Amazon RDS"
    AURORA = "Amazon Aurora"
    CLOUD_SQL = "Google Cloud SQL"
    ALLOYDB = "Google AlloyDB"
    AZURE = "Azure Database for PostgreSQL"
    SUPABASE = "Supabase"
    NEON = "Neon"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransaction:
    """A transaction that writes and has not ended. `process_id` is null for a prepared one, of `database`."""

    seconds: int
    process_id: int | None = None
    database: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerIdentity:
    """Which server answers. A copy of its files has the same system identifier; a promoted standby a later timeline."""

    system_identifier: str
    timeline: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationAttempt:
    """How a replication connection ended: with the server's identity, or with the code and sentence of a failure."""

    identity: ServerIdentity | None = None
    failure_code: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLServerFacts:
    """Everything that readiness is judged by. `tables` are those asked for that exist.

    `version` is for people, `version_number` PostgreSQL's own (180004). `max_slot_wal_keep_megabytes` is `UNLIMITED`
    where nothing bounds it, null before PostgreSQL 13. `session_limits` are the time limits, in milliseconds, of a
    new session of the role. `open_transactions` are the oldest of those that the role may see.
    """

    version: str
    version_number: int
    database: str
    wal_level: str
    in_recovery: bool = False
    max_slots: int = 10
    slots: tuple[SlotFacts, ...] = ()
    max_senders: int = 10
    senders_used: int = 0
    max_slot_wal_keep_megabytes: int | None = UNLIMITED
    role: RoleFacts
    publications: tuple[PublicationFacts, ...] = ()
    tables: tuple[PostgreSQLRawTable, ...] = ()
    replication_attempt: ReplicationAttempt | None = None
    hosting: Hosting = Hosting.SELF_MANAGED
    session_limits: Mapping[str, int] = field(default_factory=dict)
    open_transactions: tuple[OpenTransaction, ...] = ()

    def slot(self, name: str) -> SlotFacts | None:
        return next((slot for slot in self.slots if slot.name == name), None)

    def publication(self, name: str) -> PublicationFacts | None:
        return next((publication for publication in self.publications if publication.name == name), None)

    def table(self, name: TableName) -> PostgreSQLRawTable | None:
        return next((table for table in self.tables if table.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFacts:
    """A schema that a delivery writes to, and what the role may do in it."""

    name: str
    usage: bool = True
    create: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueIndex:
    """An index that refuses rows. `columns` is null where an expression or a condition is part of it."""

    name: str
    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimit:
    """A limit of connections and how many others have of it. `maximum` is `UNLIMITED` where there is none."""

    name: str
    maximum: int
    used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTable:
    """A relation that a delivery writes to. `unique_keys` are those that an upsert can name, also the primary key.

    `foreign_keys` are its own and those that point at it; `triggers` those that fire for the role.
    """

    name: TableName
    kind: RelationKind = RelationKind.TABLE
    columns: tuple[PostgreSQLRawColumn, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    can_select: bool = True
    can_insert: bool = True
    can_update: bool = True
    can_delete: bool = True
    owned: bool = True
    unique_indexes: tuple[UniqueIndex, ...] = ()
    foreign_keys: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    row_security_active: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLTargetFacts:
    """What a delivery will find. A schema or table that was asked for and is not in here does not exist.

    `server_identity` is the same under every name and address of the server; None when the role may not read it.
    `replica_role`: the role's sessions check no foreign keys and fire no ordinary triggers. `open_schemas` are some in
    which the role may create tables, where a schema that was asked for is none of these.
    """

    version_number: int
    role: str
    in_recovery: bool = False
    extensions: frozenset[str] = field(default_factory=frozenset)
    server_identity: str | None = None
    replica_role: bool = False
    connection_limits: tuple[ConnectionLimit, ...] = ()
    schemas: tuple[SchemaFacts, ...] = ()
    open_schemas: tuple[str, ...] = ()
    tables: tuple[TargetTable, ...] = ()

    def schema(self, name: str) -> SchemaFacts | None:
        return next((schema for schema in self.schemas if schema.name == name), None)

    def table(self, name: TableName) -> TargetTable | None:
        return next((table for table in self.tables if table.name == name), None)
