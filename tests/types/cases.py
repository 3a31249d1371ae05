"""What the matrix of types measures: a case is some values of one type, in a table of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from chalicelib.domain.database import DatabaseProvider

MYSQL, POSTGRESQL = DatabaseProvider.MYSQL, DatabaseProvider.POSTGRESQL


class Meaning(Enum):
    """How values are compared: as texts of the databases, brought to one form."""

    TEXT = auto()
    PADDED = auto()  # blanks at the end do not count
    NUMBER = auto()
    FLOAT = auto()
    BYTES = auto()
    BITS = auto()
    TIME = auto()  # dates and times: zeros at the end of a fraction do not count
    JSON = auto()
    GEOMETRY = auto()


@dataclass(frozen=True, kw_only=True)
class Case:
    """Values of one type that arrive in the same way.

    `type` is the type's name in the matrix. `values` says which values of the type; "" are all that no other case of
    the type names. `column` is the column's definition, and `literals` are its values in SQL; None for a column that
    fills itself. `others` are further types of target columns, by the kind of the target. A case that is `alone` stops
    the capture. `lenient`: the server takes these values outside of its strict mode only. `since` is the first version
    of the server that has the type, where that of local stacks is older; else 0.
    """

    type: str
    values: str = ""
    column: str
    literals: tuple[str, ...] | None
    meaning: Meaning = Meaning.TEXT
    others: Mapping[DatabaseProvider, tuple[str, ...]] = field(default_factory=dict)
    alone: bool = False
    lenient: bool = False
    since: int = 0

    def trying(self, others: Mapping[str, Mapping[DatabaseProvider, tuple[str, ...]]]) -> "Case":
        """The case with these further target types, by the name of its type; ordinary values only."""
        return self if self.values or self.others else replace(self, others=others.get(self.type, {}))

    @property
    def name(self) -> str:
        return f"{self.type}: {self.values}" if self.values else self.type
