"""What becomes of a row that cannot be read: an error for who needs it, left out of what reads many.

A row may have been written by a newer release, with a value that this one does not know: `infra/decisions/
029-unreadable-rows.md`.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from chalicelib.errors import UnreadableRow
from chalicelib.kit.pages import Page
from chalicelib.kit.unreadable import Unreadable, log_unreadable, report_unreadable

E = TypeVar("E")
R = TypeVar("R")

FAULTS = (ValueError, TypeError, KeyError, zlib.error)
"""What parsing a row raises: also for an unknown value, a missing field and text that is no JSON."""


def read_row(kind: str, row_id: str, parse: Callable[[], E]) -> E:
    """What `parse` makes of a row. Raises UnreadableRow, and reports the row, when it cannot be read."""
    try:
        return parse()
    except FAULTS as error:
        report_unreadable(Unreadable(kind, row_id, _reason_of(error)))
        # Not as a cause: the text of these errors holds values of the row.
        raise UnreadableRow(kind, row_id) from None


def read_or_none(kind: str, row_id: str, parse: Callable[[], E]) -> E | None:
    """What `parse` makes of a row that Headgate writes again by itself; None, with a line in the log, when it cannot be
    read.
    """
    try:
        return parse()
    except FAULTS as error:
        log_unreadable(Unreadable(kind, row_id, _reason_of(error)))
        return None


def readable(rows: Iterable[R], decode: Callable[[R], E]) -> Iterator[E]:
    """What can be read of these rows."""
    for row in rows:
        try:
            entity = decode(row)
        except UnreadableRow:
            continue
        yield entity


def readable_page(page: Page[R], decode: Callable[[R], E]) -> Page[E]:
    """The page without the rows that cannot be read, whose ids it has. The list goes on behind them."""
    items, keys, unreadable = [], [], []
    for row, key in zip(page.items, page.keys, strict=True):
        try:
            items.append(decode(row))
        except UnreadableRow as error:
            unreadable.append(error.row_id)
        else:
            keys.append(key)
    return Page(tuple(items), tuple(keys), page.more, unreadable=tuple(unreadable), last_key=page.next_key)


def raw_fields(body: str) -> Mapping[str, Any]:
    """The fields in the JSON of a body that could not be read as an entity; none when it is no JSON object."""
    with suppress(ValueError, TypeError):
        fields = json.loads(body)
        if isinstance(fields, dict):
            return fields
    return {}


def _reason_of(error: Exception) -> str:
    """The kind of the fault, such as `enum` or `missing`, without any value."""
    from pydantic import ValidationError

    return str(error.errors()[0]["type"]) if isinstance(error, ValidationError) else type(error).__name__
