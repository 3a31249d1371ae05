"""The schema of a table, and the hash by which two of them are compared.

What a change of rows alone may change is no part of it: estimated rows, sizes. Neither is what changes no record: the
order of the columns, because connectors and sinks go by their names.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chalicelib.domain.table import TableName

FORMAT = 1
"""The format of the hash. A release that reads more of a table has a higher one, and an entry in `ADDED_IN`."""

ADDED_IN: Mapping[str, int] = {}
"""Fields of the schemas below, by name, with the format that added them, where that is not the first. Two schemas are
compared by what both of their formats have: to read more makes no version of any table.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSchema:
    """A column. `type` is the database's own spelling with modifiers.

    `default` is its text, null where there is none or discovery does not read it: then `has_default` says whether the
    server fills in a value. `generated` says how, `stored` or `virtual`; null for an ordinary column. `character_set`
    and `collation` are null for other types than texts, and where discovery does not read them.
    """

    name: str
    type: str
    nullable: bool
    has_default: bool = False
    default: str | None = None
    generated: str | None = None
    invisible: bool = False
    character_set: str | None = None
    collation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKeySchema:
    """A unique key besides the primary one. `columns` is null where an expression is part of it."""

    name: str
    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKeySchema:
    """A foreign key of the table. `referenced` is the full name of the other table."""

    name: str
    referenced: str
    update_rule: str
    delete_rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """The schema of a table, with its columns in the order of the table.

    `replica_identity` says which old values an update carries, `replica_identity_columns` those of an index that
    serves for it. Keys are null where discovery does not read them.
    """

    columns: tuple[ColumnSchema, ...]
    primary_key_columns: tuple[str, ...]
    replica_identity: str | None = None
    replica_identity_columns: tuple[str, ...] = ()
    unique_keys: tuple[UniqueKeySchema, ...] | None = None
    foreign_keys: tuple[ForeignKeySchema, ...] | None = None

    def column(self, name: str) -> ColumnSchema | None:
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredSchema:
    """The schema of a table as discovery has read it; null where the account sees a part of it only."""

    name: TableName
    schema: TableSchema | None


def canonical(schema: TableSchema, schema_format: int = FORMAT, added_in: Mapping[str, int] = ADDED_IN) -> str:
    """The same text for the same schema, in a format: JSON with sorted keys, and lists sorted by name."""
    fields = _known(asdict(schema), schema_format, added_in)
    for named in ("columns", "unique_keys", "foreign_keys"):
        if fields.get(named) is not None:
            fields[named] = sorted(fields[named], key=lambda one: one["name"])
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def schema_hash(schema: TableSchema, schema_format: int = FORMAT) -> str:
    """SHA-256 of the canonical text and its format, as 64 hexadecimal digits."""
    return hashlib.sha256(f"{schema_format}\n{canonical(schema, schema_format)}".encode()).hexdigest()


def _known(value: Any, schema_format: int, added_in: Mapping[str, int]) -> Any:
    """The value without the fields that a later format has added."""
    if isinstance(value, dict):
        known = {name: item for name, item in value.items() if added_in.get(name, 1) <= schema_format}
        return {name: _known(item, schema_format, added_in) for name, item in known.items()}
    if isinstance(value, list | tuple):
        return [_known(item, schema_format, added_in) for item in value]
    return value
