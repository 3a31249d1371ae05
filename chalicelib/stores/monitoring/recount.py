"""Whether everything that was stored before Headgate counted is counted."""

from chalicelib.stores.counts import CountRow
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import read_rows

_DONE = ("recount", "done")


class Recount:
    """One row, once it is."""

    def is_done(self) -> bool:
        """Consistent."""
        with store_errors():
            (row,) = read_rows((CountRow, *_DONE))
        return row is not None

    def mark_done(self) -> None:
        """Store that it is. May be repeated."""
        with store_errors():
            CountRow(*_DONE).save()
