"""Alerts. Resolved ones are kept for thirty days."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice, takewhile

from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.listing import FACETS, Facets, facets_of
from chalicelib.kit.clock import Deadline
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import LISTING, document_table, store_errors
from chalicelib.stores.unreadable import read_row, readable

AlertRows = document_table(
    "alerts",
    groups=("active", "origin", "silenced", "resolved"),
    copied=FACETS,
    compact={LISTING: FACETS, "active": FACETS, "resolved": ()},
)
RETENTION = timedelta(days=30)
_ACTIVE, _SILENCED, _RESOLVED = "active", "silenced", "resolved"


class Alerts(Documents[Alert]):
    """Alerts by id; the active ones also as one group and by their origin, the silenced and the resolved ones as one
    group each. The columns of filters are in indexes without bodies, of all alerts and of the active ones.
    """

    table, entity, noun = AlertRows, Alert, "alert"

    def groups(self, entity: Alert) -> Mapping[str, str | None]:
        return {
            # None keeps a row out of an index: so these cost what is active, not what is stored.
            "active": _ACTIVE if entity.is_active else None,
            "origin": entity.origin if entity.is_active else None,
            "silenced": _SILENCED if entity.status is AlertStatus.SILENCED else None,
            "resolved": None if entity.is_active else _RESOLVED,
        }

    def expires_at(self, entity: Alert) -> datetime | None:
        return entity.resolved_at + RETENTION if entity.resolved_at else None

    def active_of(self, origin: str) -> Iterator[Alert]:
        """All active alerts of an origin, without a bound: for workers only."""
        return self.all_in("origin", origin)

    def silenced(self) -> Iterator[Alert]:
        """All, without a bound: for workers only."""
        return self.all_in("silenced", _SILENCED)

    def begun_since(self, since: datetime, *, limit: int) -> list[Alert]:
        """Those that have begun since then, newest first, `limit` at most: a call for each hundred, and one more."""
        return list(takewhile(lambda alert: alert.created_at >= since, islice(self.all(), limit)))

    def facets(self, deadline: Deadline, *, only_active: bool = False) -> list[Facets]:
        """The columns that filters read, of all alerts or of the active ones, newest first: one call for about 2,700.

        Raises TimedOut after the deadline.
        """
        group, value = ("active", _ACTIVE) if only_active else (LISTING, self.noun)
        oldest_first = readable(self.columns_in(group, value, deadline), self._facets)
        return list(oldest_first)[::-1]

    def _facets(self, row: tuple[str, Mapping[str, str | None]]) -> Facets:
        return read_row(self.noun, row[0], lambda: facets_of(*row))

    def count_resolved(self) -> int:
        """The number of stored resolved alerts: one call for about 8,500."""
        with store_errors():
            return int(AlertRows.by_resolved.count(_RESOLVED))  # type: ignore[attr-defined]
