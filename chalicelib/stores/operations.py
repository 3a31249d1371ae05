"""Operations on connectors, open and settled. A settled one is kept for a week: it tells what was deleted."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from chalicelib.domain.operation import Operation
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import Document, document_table

OperationRows = document_table("operations", groups=("open_on_cluster",))
_KEPT = timedelta(days=7)


class Operations(Documents[Operation]):
    """Operations by id; the open ones by Connect cluster."""

    def __init__(self) -> None:
        super().__init__(OperationRows, Operation, "operation")

    def groups(self, entity: Operation) -> Mapping[str, str | None]:
        return {"open_on_cluster": None if entity.step.settled else entity.connect_cluster_id}

    def open_on(self, connect_cluster_id: str) -> Iterator[Operation]:
        """Every operation that is not settled yet."""
        return self.all_in("open_on_cluster", connect_cluster_id)

    def _row(self, entity: Operation, write_id: str) -> Document:
        row = super()._row(entity, write_id)
        row.expires_at = entity.finished_at + _KEPT if entity.finished_at else None
        return row
