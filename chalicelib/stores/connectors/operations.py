"""Operations on connectors, open and settled. Settled ones are kept for a week: they show which were deletions."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.domain.operation import Operation
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

OperationRows = document_table("operations", groups=("open_on_cluster",))
_RETENTION = timedelta(days=7)


class OpenRows(NamedTuple):
    """Open operations, and the connectors of those that cannot be read; None where not even that can be read."""

    operations: tuple[Operation, ...] = ()
    unreadable: tuple[str | None, ...] = ()


class Operations(Documents[Operation]):
    table, entity, noun = OperationRows, Operation, "operation"

    def groups(self, entity: Operation) -> Mapping[str, str | None]:
        return {"open_on_cluster": None if entity.step.settled else entity.connect_cluster_id}

    def open_on(self, connect_cluster_id: str) -> OpenRows:
        open_rows, unreadable = self.read_in("open_on_cluster", connect_cluster_id)
        names = [fields.get("connector_name") for fields in unreadable]
        return OpenRows(
            operations=tuple(open_rows), unreadable=tuple(name if isinstance(name, str) else None for name in names)
        )

    def expires_at(self, entity: Operation) -> datetime | None:
        return entity.finished_at + _RETENTION if entity.finished_at else None
