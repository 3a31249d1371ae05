"""Versions of the schemas of tables."""

from typing import Self

from pydantic import Field

from chalicelib.api.contract.common import Integer, Output, Timestamp, Uuid
from chalicelib.api.contract.lists import ListQuery
from chalicelib.domain.schema.change import Alteration, SchemaChange, SchemaImpact
from chalicelib.domain.schema.version import SchemaVersion, VersionFilter

_MAX_VERSION = 2**31 - 1


class SchemasQuery(ListQuery):
    """The source whose versions are listed, and filters. With a schema, a table and `limit=1`: its newest version."""

    source_id: Uuid
    schema_: str | None = Field(default=None, alias="schema", max_length=64, description="Exactly this schema.")
    table: str | None = Field(default=None, max_length=64, description="Exactly this table.")
    version: Integer | None = Field(default=None, ge=1, le=_MAX_VERSION, description="This version of each table.")

    def to_input(self) -> VersionFilter:
        return VersionFilter(schema=self.schema_, table=self.table, version=self.version)


class ColumnSchemaOutput(Output):
    """A column. `type` is the database's own spelling. What discovery does not read is null."""

    name: str
    type: str
    nullable: bool
    has_default: bool
    default: str | None
    generated: str | None
    invisible: bool
    character_set: str | None
    collation: str | None


class UniqueKeyOutput(Output):
    """A unique key besides the primary one. `columns` is null where an expression is part of it."""

    name: str
    columns: list[str] | None


class ForeignKeyOutput(Output):
    """A foreign key. `referenced` is the full name of the other table."""

    name: str
    referenced: str
    update_rule: str
    delete_rule: str


class TableSchemaOutput(Output):
    """The schema of a table. Keys that discovery does not read are null."""

    columns: list[ColumnSchemaOutput]
    primary_key_columns: list[str]
    replica_identity: str | None
    replica_identity_columns: list[str]
    unique_keys: list[UniqueKeyOutput] | None
    foreign_keys: list[ForeignKeyOutput] | None


class SchemaChangeOutput(Output):
    """What has changed. `column` is null for a change of the whole table."""

    change: Alteration
    column: str | None
    from_: str | None = Field(serialization_alias="from")
    to: str | None
    impact: SchemaImpact

    @classmethod
    def of(cls, change: SchemaChange) -> Self:
        return cls(
            change=change.change, column=change.column, from_=change.before, to=change.after, impact=change.impact
        )


class AffectedOutput(Output):
    """A pipeline or delivery that was deployed, and what the changes mean for it."""

    type: str
    id: str
    name: str
    consequence: str


class SchemaVersionOutput(Output):
    """A version of the schema of one table. `schema` and `schema_hash` are null when the table was dropped."""

    id: str
    source_id: str
    schema_name: str
    table_name: str
    version: int
    schema_hash: str | None
    schema_: TableSchemaOutput | None = Field(serialization_alias="schema")
    diff: list[SchemaChangeOutput]
    affects: list[AffectedOutput]
    discovered_at: Timestamp

    @classmethod
    def of(cls, version: SchemaVersion) -> Self:
        schema = TableSchemaOutput.of(version.schema) if version.schema else None
        return cls._read(version, schema_=schema, diff=list(map(SchemaChangeOutput.of, version.diff)))
