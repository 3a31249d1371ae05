"""Stores of pipelines and deliveries, whose lists are also read as rows: one text of each, from an index of its own.

DynamoDB counts what an index has of a row, and the SDK takes its time for each column: 10,000 rows are a few calls,
where their bodies are some twenty, and take ten times the CPU time. `infra/decisions/050-rows-of-lists.md` says more.
"""

from dataclasses import fields, replace
from datetime import UTC
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

from pynamodb.expressions.condition import Condition
from pynamodb.pagination import PageIterator

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.search import EVERY_CONNECTOR, ConnectorSearch
from chalicelib.errors import TimedOut
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.searched import SearchedDocuments, all_of
from chalicelib.stores.tables import BY_ROW, ROW, store_errors
from chalicelib.stores.unreadable import FAULTS, raw_fields, read_row, readable, readable_page

C = TypeVar("C", bound=Pipeline | Delivery)


@lru_cache(maxsize=20_000)
def _parsed(row: Any, text: str) -> Any:
    """The row in a text. Lists are read again and again, and few of their rows change in between: 2 KB for each."""
    found = adapter(row).validate_json(text)
    if found.observation is None:
        return found
    # Pydantic's own zone makes each comparison of times thirty times as slow as Python's.
    at = found.observation.observed_at.astimezone(UTC)
    return replace(found, observation=replace(found.observation, observed_at=at))


class ConnectorDocuments(SearchedDocuments[C]):
    """Documents whose table has the column `ROW`. `row` is the type in it: `PipelineRow` or `DeliveryRow`."""

    row: ClassVar[Any]

    def rows(self, deadline: Deadline, search: ConnectorSearch = EVERY_CONNECTOR) -> list[Any]:
        """All that may be looked for as rows, newest first; `ConnectorSearch.row_filter` decides. Raises TimedOut
        after the deadline.
        """
        rows = list[Any]()
        with store_errors():
            for call in self._calls([ROW], search):
                rows += readable(call["Items"], self._read)
                if deadline.passed:
                    raise TimedOut("The store did not list everything in time.")
        return rows

    def row_page(self, *, limit: int, after: str | None, search: ConnectorSearch = EVERY_CONNECTOR) -> Page[Any]:
        """One page of these rows behind `after` (a page's `next_key`): those among the next `limit` of all, or among
        what one call reads.
        """
        with store_errors():
            # One row more than the page needs: it shows whether the list goes on.
            calls = self._calls([ROW, "position"], search, after, limit + 1)
            items, last = next(calls)["Items"], calls.last_evaluated_key
        page = page_of(items, key=lambda item: str(item["position"]["S"]), limit=limit)
        if last and not page.more:
            page = replace(page, more=True, last_key=last["position"]["S"])
        return readable_page(page, self._read)

    def _calls(
        self, columns: list[str], search: ConnectorSearch, after: str | None = None, per_call: int | None = None
    ) -> PageIterator[Any]:
        """The answers as they come: a model of each item would take longer than all else."""
        index: Any = getattr(self.table, BY_ROW)
        keys = index.Meta.attributes["position"] < after if after else None
        condition = self._may_be_looked_for(search)
        query = index.query(
            self.noun, keys, condition, scan_index_forward=False, attributes_to_get=columns, page_size=per_call
        )
        return query.page_iter  # type: ignore[no-any-return]  # the index is made at run time

    def _may_be_looked_for(self, search: ConnectorSearch) -> Condition | None:
        """What the store leaves out, so that it is neither sent nor parsed. The text of a row has what it belongs to,
        its state and the keys of its labels; the same text may stand elsewhere in it.
        """
        text: Any = getattr(self.table, ROW)
        values = (getattr(search, field.name, None) for field in fields(self.row) if field.name in search.STORED)
        labels = (f'"{selector.key}"' for selector in search.labels)
        of_text = [text.contains(part) for part in (*values, *labels) if part is not None]
        return all_of([*of_text, *self.name_conditions(search)])

    def _read(self, item: Any) -> Any:
        text = item[ROW]["S"]
        try:
            return _parsed(self.row, text)
        except FAULTS:
            return read_row(self.noun, str(raw_fields(text).get("id", "")), lambda: _parsed(self.row, text))

    def _column(self, entity: C, field: str) -> Any:
        if field != ROW:
            return super()._column(entity, field)
        # Without the fields at their default.
        return adapter(self.row).dump_json(self.row.of(entity), exclude_defaults=True).decode()
