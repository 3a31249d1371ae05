"""What was read from a MySQL server about the targets of a delivery, not judged yet.

A table's `schema_name` is its database. A server may fold the case of names of tables (`lower_case_table_names`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from chalicelib.domain.table import TableName

UNLIMITED = 0
"""MySQL's own spelling of "no limit" of connections."""

SMALLEST_PACKET = 64 * 1024 * 1024
"""Bytes of `max_allowed_packet`, the server's own default from 8.0 on."""


class MySQLPrivilege(StrEnum):
    """What a delivery may need, as MySQL spells it."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CREATE = "CREATE"
    ALTER = "ALTER"


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLTargetColumn:
    """One column. `type` is COLUMN_TYPE; `ordinal` counts from 1. `collation` is null for other types than texts.

    `privileges` are those that the account has on this column, however they were granted.
    """

    name: str
    ordinal: int
    type: str
    nullable: bool = True
    has_default: bool = False
    generated: bool = False
    auto_increment: bool = False
    collation: str | None = None
    privileges: frozenset[str] = frozenset({MySQLPrivilege.SELECT, MySQLPrivilege.INSERT, MySQLPrivilege.UPDATE})

    @property
    def needs_value(self) -> bool:
        """Whether an INSERT has to name a value for it."""
        return not (self.nullable or self.has_default or self.auto_increment or self.generated)


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLUniqueIndex:
    """`columns` is null where an expression or a prefix of a column is part of it: rows with other values meet too."""

    name: str
    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLTargetTable:
    """An existing target. `engine` is null for a view. `foreign_keys` are its own and those that refer to it, as far as
    the account sees them; so are `triggers`.
    """

    name: TableName
    columns: tuple[MySQLTargetColumn, ...] = ()
    engine: str | None = "InnoDB"
    unique_indexes: tuple[MySQLUniqueIndex, ...] = ()
    foreign_keys: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()

    def column(self, name: str) -> MySQLTargetColumn | None:
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLConnectionLimit:
    """A limit of connections. `used` are those of others, as far as the account sees them."""

    name: str
    maximum: int
    used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLTargetFacts:
    """`version_number` is 80015 for 8.0.15. `account` is CURRENT_USER(), such as `sink@%`.

    `collation` is that of the database for new tables. `variables` are global ones, by name in lower case; one that the
    server does not have is absent. `writes_anyway`: the account may write while the server is read-only.
    `privileges` are those on each target as a whole, also where it does not exist.
    """

    version_number: int
    account: str
    database: str
    collation: str
    variables: Mapping[str, str] = field(default_factory=dict)
    writes_anyway: bool = False
    connection_limits: tuple[MySQLConnectionLimit, ...] = ()
    privileges: Mapping[TableName, frozenset[str]] = field(default_factory=dict)
    tables: tuple[MySQLTargetTable, ...] = ()

    @property
    def folds_case(self) -> bool:
        """Whether names of tables that differ only by case are one table."""
        return self.variables.get("lower_case_table_names", "0") != "0"

    @property
    def server_uuid(self) -> str | None:
        return self.variables.get("server_uuid") or None

    def is_on(self, name: str) -> bool:
        return self.variables.get(name, "").upper() in ("ON", "1")

    def number(self, name: str) -> int | None:
        value = self.variables.get(name, "")
        return int(value) if value.isascii() and value.isdecimal() and len(value) < 20 else None

    def may(self, privilege: MySQLPrivilege, target: TableName) -> bool:
        """Whether it is granted on the target, or on each of its columns."""
        table = self.table(target)
        columns = table.columns if table else ()
        on_columns = bool(columns) and all(privilege in column.privileges for column in columns)
        return on_columns or privilege in self.privileges.get(target, frozenset())

    def table(self, name: TableName) -> MySQLTargetTable | None:
        """The existing table of this name, as the server compares names."""
        wanted = self._compared(name)
        return next((table for table in self.tables if self._compared(table.name) == wanted), None)

    def _compared(self, name: TableName) -> TableName:
        return TableName(name.schema_name.lower(), name.table_name.lower()) if self.folds_case else name
