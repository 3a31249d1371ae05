"""What has changed between two schemas of one table."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.schema.change import Alteration, SchemaChange
from chalicelib.domain.schema.table_schema import ColumnSchema, ForeignKeySchema, TableSchema, UniqueKeySchema
from chalicelib.domain.schema.type_order import TypeChange, TypeOrder

MAX_TEXT = 500
"""Characters of `before` and `after`: a list of values may have 60,000."""

_TYPES: Mapping[TypeChange, Alteration] = {
    TypeChange.SAME: Alteration.TYPE_RENAMED,
    TypeChange.WIDENED: Alteration.TYPE_WIDENED,
    TypeChange.NARROWED: Alteration.TYPE_NARROWED,
    TypeChange.OTHER: Alteration.TYPE_CHANGED,
}

_COLUMN_FIELDS: Mapping[str, Alteration] = {
    "generated": Alteration.GENERATION_CHANGED,
    "character_set": Alteration.CHARACTER_SET_CHANGED,
    "collation": Alteration.COLLATION_CHANGED,
}
"""Fields whose change is one of its own, whatever else has changed."""


def changes(before: TableSchema, after: TableSchema, order: TypeOrder) -> tuple[SchemaChange, ...]:
    """The changes of columns in the order of the former table, then new columns, then those of the whole table."""
    renamed = _renamed(before, after)
    return (
        *_column_changes(before, after, renamed, order),
        *_added(before, after, renamed),
        *_key_changes(before, after),
    )


def _renamed(before: TableSchema, after: TableSchema) -> dict[str, str]:
    """Columns that were probably renamed, by the former name: a rename leaves the type, and the place of the column
    among those that are in both. A column that is dropped and another one that is added stand in two places, unless
    they are the last, so this stays a guess.
    """
    gone, new = _by_place(before, after), _by_place(after, before)
    renamed: dict[str, str] = {}
    for place, dropped in gone.items():
        candidates = new.get(place, [])
        for former in dropped:
            if match := next((column for column in candidates if column.type == former.type), None):
                candidates.remove(match)
                renamed[former.name] = match.name
    return renamed


def _by_place(schema: TableSchema, other: TableSchema) -> dict[str | None, list[ColumnSchema]]:
    """The columns that the other schema does not have, by the column of both that stands before them."""
    common = {column.name for column in other.columns}
    places: dict[str | None, list[ColumnSchema]] = defaultdict(list)
    place: str | None = None
    for column in schema.columns:
        if column.name in common:
            place = column.name
        else:
            places[place].append(column)
    return places


def _column_changes(
    before: TableSchema, after: TableSchema, renamed: Mapping[str, str], order: TypeOrder
) -> Iterator[SchemaChange]:
    for column in before.columns:
        current = after.column(renamed.get(column.name, column.name))
        if current is None:
            kind = Alteration.NULLABLE_COLUMN_DROPPED if column.nullable else Alteration.REQUIRED_COLUMN_DROPPED
            yield SchemaChange(change=kind, column=column.name, before=_cut(column.type))
            continue
        if current.name != column.name:
            kind = Alteration.COLUMN_PROBABLY_RENAMED
            yield SchemaChange(change=kind, column=column.name, before=column.name, after=current.name)
        yield from _changes_of(column, current, order)


def _changes_of(before: ColumnSchema, after: ColumnSchema, order: TypeOrder) -> Iterator[SchemaChange]:
    """The changes of one column, under the name that it has now."""

    def change(kind: Alteration, former: str | None = None, current: str | None = None) -> SchemaChange:
        return SchemaChange(change=kind, column=after.name, before=_cut(former), after=_cut(current))

    if before.type != after.type:
        yield change(_TYPES[order.compare(before.type, after.type)], before.type, after.type)
    if before.nullable != after.nullable:
        yield change(Alteration.NULLS_ALLOWED if after.nullable else Alteration.NULLS_FORBIDDEN)
    if (before.has_default, before.default) != (after.has_default, after.default):
        yield change(Alteration.DEFAULT_CHANGED, before.default, after.default)
    if before.invisible != after.invisible:
        shown = {False: "visible", True: "invisible"}
        yield change(Alteration.VISIBILITY_CHANGED, shown[before.invisible], shown[after.invisible])
    for field, kind in _COLUMN_FIELDS.items():
        if getattr(before, field) != getattr(after, field):
            yield change(kind, getattr(before, field), getattr(after, field))


def _added(before: TableSchema, after: TableSchema, renamed: Mapping[str, str]) -> Iterator[SchemaChange]:
    known = {column.name for column in before.columns} | set(renamed.values())
    for column in after.columns:
        if column.name not in known:
            yield SchemaChange(change=_kind_of_added(column), column=column.name, after=_cut(column.type))


def _kind_of_added(column: ColumnSchema) -> Alteration:
    if column.has_default:
        return Alteration.COLUMN_WITH_DEFAULT_ADDED
    return Alteration.NULLABLE_COLUMN_ADDED if column.nullable else Alteration.REQUIRED_COLUMN_ADDED


def _key_changes(before: TableSchema, after: TableSchema) -> Iterator[SchemaChange]:
    if before.primary_key_columns != after.primary_key_columns:
        former, current = _names(before.primary_key_columns), _names(after.primary_key_columns)
        yield SchemaChange(change=Alteration.PRIMARY_KEY_CHANGED, before=former, after=current)
    former, current = _identity(before), _identity(after)
    if former != current:
        yield SchemaChange(change=Alteration.REPLICA_IDENTITY_CHANGED, before=former, after=current)
    # Keys that were not read may be the same.
    if before.unique_keys is not None and after.unique_keys is not None:
        yield from _unique_key_changes(_unique_keys(before.unique_keys), _unique_keys(after.unique_keys))
    if before.foreign_keys is not None and after.foreign_keys is not None:
        former, current = _foreign_keys(before.foreign_keys), _foreign_keys(after.foreign_keys)
        if former != current:
            yield SchemaChange(change=Alteration.FOREIGN_KEYS_CHANGED, before=former, after=current)


def _unique_key_changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[SchemaChange]:
    """A key with other columns is another key: what the former one has refused may come now."""
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        if name in before:
            yield SchemaChange(change=Alteration.UNIQUE_KEY_DROPPED, before=_cut(before[name]))
        if name in after:
            yield SchemaChange(change=Alteration.UNIQUE_KEY_ADDED, after=_cut(after[name]))


def _names(columns: Sequence[str]) -> str | None:
    return _cut(", ".join(columns)) or None


def _identity(schema: TableSchema) -> str | None:
    columns = _names(schema.replica_identity_columns)
    return f"{schema.replica_identity} ({columns})" if columns else schema.replica_identity


def _unique_keys(keys: Sequence[UniqueKeySchema]) -> dict[str, str]:
    """The keys as text, by name."""
    columns = {key.name: "an expression" if key.columns is None else _names(key.columns) for key in keys}
    return {name: f"{name} ({listed})" for name, listed in columns.items()}


def _foreign_keys(keys: Sequence[ForeignKeySchema]) -> str | None:
    texts = [f"{key.name} to {key.referenced} ({key.update_rule}, {key.delete_rule})" for key in keys]
    return _cut("; ".join(sorted(texts))) or None


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3]}..."
