"""Alerts. Resolved ones are kept for thirty days."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.kinds import AlertSeverity, EventKind
from chalicelib.kit.clock import Deadline
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

AlertRows = document_table("alerts", groups=("active", "origin", "silenced"), copied=("severity", "kind"))
RETENTION = timedelta(days=30)
_ACTIVE, _SILENCED = "active", "silenced"


class Alerts(Documents[Alert]):
    """Alerts by id; the active ones also as one group and by their origin, the silenced ones as one group."""

    table, entity, noun = AlertRows, Alert, "alert"

    def groups(self, entity: Alert) -> Mapping[str, str | None]:
        return {
            "active": _ACTIVE if entity.is_active else None,
            "origin": entity.origin if entity.is_active else None,
            "silenced": _SILENCED if entity.status is AlertStatus.SILENCED else None,
        }

    def expires_at(self, entity: Alert) -> datetime | None:
        return entity.resolved_at + RETENTION if entity.resolved_at else None

    def active_of(self, origin: str) -> Iterator[Alert]:
        """All active alerts of an origin, without a bound: for workers only."""
        return self.all_in("origin", origin)

    def silenced(self) -> Iterator[Alert]:
        """All silenced alerts, without a bound: for workers only."""
        return self.all_in("silenced", _SILENCED)

    def active_numbers(self, deadline: Deadline) -> Counter[tuple[AlertSeverity, EventKind]]:
        """How many are active, by severity and kind. Raises TimedOut."""
        columns = (found for _, found in self.columns_in(_ACTIVE, _ACTIVE, deadline))
        return Counter((AlertSeverity(found["severity"] or ""), EventKind(found["kind"] or "")) for found in columns)
