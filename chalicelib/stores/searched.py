"""Stores of what people name and label: their lists are filtered in the store."""

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any, TypeVar

from pynamodb.expressions.condition import Condition

from chalicelib.domain.names import comparable
from chalicelib.domain.search import Search
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page
from chalicelib.stores.documents import Documents, Entity
from chalicelib.stores.tables import LISTING

E = TypeVar("E", bound=Entity)

SEARCHED = ("comparable_name", "labels_text")
"""The columns of `domain.labels.Labelled` by which a search selects."""


def all_of(conditions: Sequence[Condition]) -> Condition | None:
    """That all of them hold; None without any."""
    return reduce(and_, conditions) if conditions else None


class SearchedDocuments(Documents[E]):
    """Documents whose table has the columns `SEARCHED`."""

    def search(
        self,
        search: Search,
        *,
        limit: int,
        after: str | None = None,
        condition: Condition | None = None,
        **columns: str | None,
    ) -> Page[E]:
        """Newest first: what is looked for, fulfils the condition, and has these values in these columns (None: any).

        A page may have fewer entries than `limit`, or none, although the list goes on: see `Documents.list_in`.
        """
        values = {name: value for name, value in columns.items() if value is not None}
        group = next((name for name in values if name in self.table.GROUPS), LISTING)
        group_value = values.pop(group, self.noun)
        row: Any = self.table
        conditions = [getattr(row, name) == value for name, value in values.items()]
        conditions += self.name_conditions(search)
        conditions += [row.labels_text.contains(selector.part_of_text) for selector in search.labels]
        conditions += [] if condition is None else [condition]
        selected = all_of(conditions)
        return self.list_in(group, group_value, limit=limit, after=after, by_size=True, condition=selected)

    def name_conditions(self, search: Search) -> list[Condition]:
        """That the name has the part that is looked for; none where any name will do."""
        row: Any = self.table
        part = comparable(search.name_part or "")
        return [row.comparable_name.contains(part)] if part else []

    def values_in(self, group: str, value: str, column: str, deadline: Deadline) -> frozenset[str]:
        """The values that one column has in a group. Raises TimedOut after the deadline."""
        return frozenset(getattr(row, column) for row in self._rows_in(group, value, [column], deadline))
