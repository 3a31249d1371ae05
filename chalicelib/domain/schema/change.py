"""The table of changes of a schema: what each means for the records of a table, and for the targets of its rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class SchemaImpact(StrEnum):
    """What a change means for what is captured and delivered (wire contract, section 3, schema version)."""

    NON_BREAKING = "NON_BREAKING"
    POTENTIALLY_BREAKING = "POTENTIALLY_BREAKING"
    BREAKING = "BREAKING"


class Alteration(StrEnum):
    """What has changed. `NULLABLE` and `REQUIRED` are columns without and with NOT NULL."""

    TABLE_ADDED = "TABLE_ADDED"
    TABLE_DROPPED = "TABLE_DROPPED"
    TABLE_ADDED_AGAIN = "TABLE_ADDED_AGAIN"
    NULLABLE_COLUMN_ADDED = "NULLABLE_COLUMN_ADDED"
    COLUMN_WITH_DEFAULT_ADDED = "COLUMN_WITH_DEFAULT_ADDED"
    REQUIRED_COLUMN_ADDED = "REQUIRED_COLUMN_ADDED"
    NULLABLE_COLUMN_DROPPED = "NULLABLE_COLUMN_DROPPED"
    REQUIRED_COLUMN_DROPPED = "REQUIRED_COLUMN_DROPPED"
    COLUMN_PROBABLY_RENAMED = "COLUMN_PROBABLY_RENAMED"
    TYPE_RENAMED = "TYPE_RENAMED"
    TYPE_WIDENED = "TYPE_WIDENED"
    TYPE_NARROWED = "TYPE_NARROWED"
    TYPE_CHANGED = "TYPE_CHANGED"
    NULLS_ALLOWED = "NULLS_ALLOWED"
    NULLS_FORBIDDEN = "NULLS_FORBIDDEN"
    DEFAULT_CHANGED = "DEFAULT_CHANGED"
    GENERATION_CHANGED = "GENERATION_CHANGED"
    VISIBILITY_CHANGED = "VISIBILITY_CHANGED"
    CHARACTER_SET_CHANGED = "CHARACTER_SET_CHANGED"
    COLLATION_CHANGED = "COLLATION_CHANGED"
    PRIMARY_KEY_CHANGED = "PRIMARY_KEY_CHANGED"
    REPLICA_IDENTITY_CHANGED = "REPLICA_IDENTITY_CHANGED"
    UNIQUE_KEY_ADDED = "UNIQUE_KEY_ADDED"
    UNIQUE_KEY_DROPPED = "UNIQUE_KEY_DROPPED"
    FOREIGN_KEYS_CHANGED = "FOREIGN_KEYS_CHANGED"


class Meaning(NamedTuple):
    impact: SchemaImpact
    reason: str


_NONE, _SOME, _ALL = SchemaImpact
_NOT_TOLD = "The sink adds columns, and never changes or removes them"

MEANINGS: Mapping[Alteration, Meaning] = {
    Alteration.TABLE_ADDED: Meaning(_NONE, "Nothing captures it yet."),
    Alteration.TABLE_DROPPED: Meaning(_ALL, "Nothing more arrives, and targets keep the last rows."),
    Alteration.TABLE_ADDED_AGAIN: Meaning(
        _ALL, "A capture may not read the new table, and targets keep the rows of the former one."
    ),
    Alteration.NULLABLE_COLUMN_ADDED: Meaning(_NONE, "A sink that adds columns adds it: null in all earlier rows."),
    Alteration.COLUMN_WITH_DEFAULT_ADDED: Meaning(
        _SOME, "Rows that are in a target already do not get the values that the source has filled in."
    ),
    Alteration.REQUIRED_COLUMN_ADDED: Meaning(_ALL, "A target that has rows does not take a NOT NULL column."),
    Alteration.NULLABLE_COLUMN_DROPPED: Meaning(_SOME, f"{_NOT_TOLD}: a target keeps its last values."),
    Alteration.REQUIRED_COLUMN_DROPPED: Meaning(_ALL, "A target that has it as NOT NULL refuses every new row."),
    Alteration.COLUMN_PROBABLY_RENAMED: Meaning(
        _ALL, "A target keeps the former column with its last values, and gets another one."
    ),
    Alteration.TYPE_RENAMED: Meaning(_NONE, "The same type under another spelling."),
    Alteration.TYPE_WIDENED: Meaning(_SOME, f"{_NOT_TOLD}: values that are too large for it stop the task."),
    Alteration.TYPE_NARROWED: Meaning(
        _SOME, "The values fit. What the source has cut off its rows for it leaves no change: targets keep it."
    ),
    Alteration.TYPE_CHANGED: Meaning(_ALL, f"{_NOT_TOLD}: values of another type stop the task, or are converted."),
    Alteration.NULLS_ALLOWED: Meaning(_SOME, "A target that has the column as NOT NULL refuses rows with null."),
    Alteration.NULLS_FORBIDDEN: Meaning(_NONE, "Targets take more than what arrives."),
    Alteration.DEFAULT_CHANGED: Meaning(_NONE, "Rows arrive with their values, whatever has filled them in."),
    Alteration.GENERATION_CHANGED: Meaning(
        _SOME, "Not every capture has the values of generated columns: they may end, or begin."
    ),
    Alteration.VISIBILITY_CHANGED: Meaning(_NONE, "Records have all columns, also invisible ones."),
    Alteration.CHARACTER_SET_CHANGED: Meaning(_SOME, "A target may lack the characters that the source has now."),
    Alteration.COLLATION_CHANGED: Meaning(_NONE, "Values stay as they are. Their order at the source is no record."),
    Alteration.PRIMARY_KEY_CHANGED: Meaning(_ALL, "Records have another key than the rows that are in targets."),
    Alteration.REPLICA_IDENTITY_CHANGED: Meaning(
        _SOME, "Updates carry other old values, and may fail at the source where there are none."
    ),
    Alteration.UNIQUE_KEY_ADDED: Meaning(_NONE, "Targets take more than what arrives."),
    Alteration.UNIQUE_KEY_DROPPED: Meaning(_SOME, "A target that has the key too refuses rows that the source takes."),
    Alteration.FOREIGN_KEYS_CHANGED: Meaning(_NONE, "Targets have no foreign keys that a sink has made."),
}
"""The impact of each kind, and why. How sinks write: Debezium's JDBC sink with `schema.evolution=basic`, which
`infra/docs/types.md` and the tests on real servers measure.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaChange:
    """One change. `column` is null for one of the whole table; of a renamed column it is the former name.

    `before` and `after` are what has changed, as text: a type, a default, the names of columns.
    """

    change: Alteration
    column: str | None = None
    before: str | None = None
    after: str | None = None

    @property
    def impact(self) -> SchemaImpact:
        return MEANINGS[self.change].impact
