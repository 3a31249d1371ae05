"""What a failure is about: the table, constraint and column, as far as Headgate knows these names itself.

A trace is foreign text: what it seems to name are `Candidates`, which are compared with known names and never stored,
logged or shown. Only the `Cause` that is left is.
"""

import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace

from chalicelib.domain.table import TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Each name is one that Headgate knows itself, or null. All are null where nothing known was named."""

    schema: str | None = None
    table: str | None = None
    constraint: str | None = None
    column: str | None = None
    sqlstate: str | None = None

    def __bool__(self) -> bool:
        return any((self.schema, self.table, self.constraint, self.column, self.sqlstate))

    @property
    def place(self) -> str | None:
        """The table with its schema, or the schema alone; None where neither is known."""
        return ".".join(filter(None, (self.schema, self.table))) or None

    @property
    def detail(self) -> str | None:
        """The constraint and the column: `check constraint total_max`."""
        kind = _KINDS_OF_CONSTRAINTS.get(self.sqlstate or "", "constraint")
        named = (
            f"{kind} {self.constraint}" if self.constraint else None,
            f"column {self.column}" if self.column else None,
        )
        return ", ".join(filter(None, named)) or None

    @property
    def sentence(self) -> str | None:
        """`It is about public.orders, check constraint total_max (SQLSTATE 23514).`; None where nothing is known."""
        what = ", ".join(filter(None, (self.place, self.detail)))
        if not what:
            return f"The server reports SQLSTATE {self.sqlstate}." if self.sqlstate else None
        return f"It is about {what} (SQLSTATE {self.sqlstate})." if self.sqlstate else f"It is about {what}."


_KINDS_OF_CONSTRAINTS: Mapping[str, str] = {
    "23503": "foreign key",
    "23505": "unique constraint",
    "23514": "check constraint",
    "23P01": "exclusion constraint",
}
"""By SQLSTATE. MySQL has one for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What a trace seems to name: foreign text, which may be anything, also a secret. `repr` does not show it."""

    schema: str | None = field(default=None, repr=False)
    table: str | None = field(default=None, repr=False)
    constraint: str | None = field(default=None, repr=False)
    column: str | None = field(default=None, repr=False)
    sqlstate: str | None = None

    @property
    def names_something(self) -> bool:
        return any((self.schema, self.table, self.constraint, self.column))

    @property
    def in_tables(self) -> tuple[str, ...]:
        """What only the catalogue of the server can confirm: names of constraints and columns."""
        return tuple(filter(None, (self.constraint, self.column)))

    @property
    def checksum(self) -> int:
        """Whether another trace names the same. 16 bits of it: nobody can tell the names from that."""
        return zlib.crc32(repr(astuple(self)).encode("utf-8", "surrogatepass")) & 0xFFFF


@dataclass(frozen=True, slots=True)
class CatalogName:
    """A constraint or a column (`is_column`) of a table, as the catalogue of its server spells it."""

    table: TableName
    name: str
    is_column: bool


def candidate_tables(candidates: Candidates, known: Collection[TableName]) -> tuple[TableName, ...]:
    """The known tables that the candidates may be about: the one that is named, all where none is, or none."""
    if candidates.table is None:
        return tuple(known)
    schema, table = candidates.schema, candidates.table
    return tuple(name for name in known if name.table_name == table and schema in (None, name.schema_name))


def known_cause(candidates: Candidates, tables: Collection[TableName], catalog: Iterable[CatalogName] = ()) -> Cause:
    """What is left of the candidates. `tables` are those of the pipeline or delivery, `catalog` is what was found of
    these in the catalogue of their server, or in a discovery.
    """
    possible = candidate_tables(candidates, tables)
    found = [name for name in catalog if name.table in possible]
    constraints = [name for name in found if not name.is_column and name.name == candidates.constraint]
    columns = [name for name in found if name.is_column and name.name == candidates.column]
    about = _only(possible, candidates) or _only({name.table for name in constraints or columns}, candidates)
    named = replace(_of_table(about), sqlstate=candidates.sqlstate)
    if about is None:
        schemas = {name.schema_name for name in tables}
        is_schema = candidates.table is None and candidates.schema in schemas
        named = replace(named, schema=candidates.schema if is_schema else None)
    return replace(
        named,
        constraint=candidates.constraint if constraints else None,
        column=candidates.column if columns else None,
    )


def _only(tables: Collection[TableName], candidates: Candidates) -> TableName | None:
    """The table, if it is the only one that the candidates can be about."""
    in_one_table = candidates.table or candidates.in_tables
    return next(iter(tables)) if in_one_table and len(tables) == 1 else None


def _of_table(name: TableName | None) -> Cause:
    return Cause(schema=name.schema_name, table=name.table_name) if name else Cause()
