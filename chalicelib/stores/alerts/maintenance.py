"""Maintenance windows. Ended ones are kept for thirty days."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from chalicelib.domain.alerts.maintenance import MAX_OPEN, MaintenanceWindow
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

MaintenanceRows = document_table("maintenance-windows", groups=("open",))
RETENTION = timedelta(days=30)
_OPEN = "open"


class MaintenanceWindows(Documents[MaintenanceWindow]):
    """Windows by id, and those that are not closed as one group."""

    table, entity, noun = MaintenanceRows, MaintenanceWindow, "maintenance_window"

    def groups(self, entity: MaintenanceWindow) -> Mapping[str, str | None]:
        return {"open": None if entity.closed else _OPEN}

    def expires_at(self, entity: MaintenanceWindow) -> datetime | None:
        return entity.until + RETENTION

    def not_closed(self) -> Sequence[MaintenanceWindow]:
        """Those that are not closed, newest first; some of them may be over. One call. There are about `MAX_OPEN` at
        most, because the request that makes one closes those that are over.
        """
        return self.list_in("open", _OPEN, limit=2 * MAX_OPEN).items
