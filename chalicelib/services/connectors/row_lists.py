"""Lists of pipelines or deliveries that are chosen and sorted by their rows, which are few bytes each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from chalicelib.domain.attention_order import attention_rank
from chalicelib.domain.connector_row import ConnectorRow
from chalicelib.domain.monitoring.source_state import VALID_FOR
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.search import ConnectorSearch, Sort
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page, bounded_key, sorted_page
from chalicelib.services.connectors.observations import ObservationReader, Views
from chalicelib.stores.connector_documents import ConnectorDocuments
from chalicelib.stores.monitoring.findings import CaptureFindings, FaultyIds

JUDGED = 2_000
"""Rows of which one request chooses those that are looked for, in the order in which they are stored: one or two calls
of a megabyte.
"""

_BETWEEN = "\x1f"
"""A control character, which no name has."""

Belongs = Callable[[Any], bool] | None
"""Whether a row belongs to an end that only another row names."""


@dataclass(frozen=True, slots=True)
class ChosenRows:
    """A page of rows as they are stored, and what their observed states depend on."""

    page: Page[Any]
    views: Views
    faulty: FaultyIds


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLists:
    store: ConnectorDocuments[Any]
    reader: ObservationReader
    findings: CaptureFindings

    def newest(self, search: ConnectorSearch, belongs: Belongs, *, limit: int, after: str | None) -> ChosenRows:
        """What is looked for, newest first. A page may have few entries, or none, although the list goes on."""
        filters = _filters(search, belongs)
        judged_here = bool(filters) or search.observed_state is not None
        page = self.store.row_page(limit=JUDGED if judged_here else limit, after=after, search=search)
        if filters:
            page = page.only(lambda row: all(accepts(row) for accepts in filters))
        views, faulty = self._known(page.items)
        if search.observed_state is not None:
            now = self.reader.clock()
            page = page.only(lambda row: self.reader.state(row, views, faulty, now) is search.observed_state)
        return ChosenRows(page.first(limit), views, faulty)

    def sorted(
        self,
        search: ConnectorSearch,
        belongs: Belongs,
        sort: Sort,
        deadline: Deadline,
        *,
        limit: int,
        after: str | None,
    ) -> ChosenRows:
        """What is looked for, by name, or by attention and then by name. All rows are read. Raises TimedOut."""
        rows: Sequence[Any] = self.store.rows(deadline, search)
        for accepts in _filters(search, belongs):
            rows = [row for row in rows if accepts(row)]
        views, faulty = self._known(rows)
        now = self.reader.clock()
        listed = [(row, self.reader.state(row, views, faulty, now)) for row in rows]
        if search.observed_state is not None:
            listed = [(row, state) for row, state in listed if state is search.observed_state]
        keyed = [(_key(sort, row, state, faulty), row) for row, state in listed]
        page = sorted_page(keyed, key=itemgetter(0), limit=limit, after=after)
        return ChosenRows(page.map(itemgetter(1)), views, faulty)

    def _known(self, rows: Sequence[ConnectorRow]) -> tuple[Views, FaultyIds]:
        """What the states of these rows depend on: two calls, and one more for a view that is new to this process."""
        return self.reader.views(rows), self.findings.ids(since=self.reader.clock() - VALID_FOR)


def _filters(search: ConnectorSearch, belongs: Belongs) -> list[Callable[[Any], bool]]:
    return [accepts for accepts in (search.row_filter, belongs) if accepts is not None]


def _key(sort: Sort, row: ConnectorRow, state: ObservedState, faulty: FaultyIds) -> str:
    """Two rows never have the same."""
    name = f"{bounded_key(row.comparable_name)}{_BETWEEN}{row.id}"
    if sort is Sort.NAME:
        return name
    rank = attention_rank(
        row.desired_state,
        state,
        loses_log=row.id in faulty.losing_log and row.desired_state is not DesiredState.DRAFT,
        has_operation=row.open_operation is not None,
    )
    return f"{rank:02}{name}"
