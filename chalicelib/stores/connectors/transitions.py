"""State changes of resources that ticks have observed: the newest 200 of each, for thirty days."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice

from pynamodb.attributes import TTLAttribute, UnicodeAttribute

from chalicelib.domain.connectors.transitions import Transition
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.stores.batch_writer import delete, put, write_rows
from chalicelib.stores.tables import Table, meta, position, store_errors
from chalicelib.stores.unreadable import read_row, readable

MAX_KEPT = 200
KEPT_FOR = timedelta(days=30)
_MAX_TRIMMED = 200


class TransitionRow(Table):
    """One transition. `resource` is a type and an id, `position` a time and the connector or the cluster."""

    Meta = meta("transitions")  # type: ignore[assignment]
    resource = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)
    body = UnicodeAttribute(null=True)
    expires_at = TTLAttribute(null=True)


class Transitions:
    """Transitions by resource: `pipeline/<id>`, `delivery/<id>`, `connect_cluster/<id>`."""

    @staticmethod
    def rows(cluster_id: str, transitions: Iterable[Transition]) -> list[TransitionRow]:
        """The rows of transitions at a Connect cluster, to be stored with the observation."""
        return [
            TransitionRow(
                _key(*transition.resource_on(cluster_id)),
                position(transition.at, transition.connector or cluster_id),
                body=adapter(Transition).dump_json(transition).decode(),
                expires_at=transition.at + KEPT_FOR,
            )
            for transition in transitions
        ]

    def write(self, rows: Sequence[TransitionRow], deadline: Deadline) -> None:
        """Raises StoreUnavailable when the time is too short for all rows."""
        with store_errors():
            write_rows(TransitionRow, map(put, rows), deadline)

    def newest(self, resource_type: str, resource_id: str, now: datetime, *, limit: int = MAX_KEPT) -> list[Transition]:
        """The newest first."""
        with store_errors():
            rows = TransitionRow.query(_key(resource_type, resource_id), scan_index_forward=False, limit=limit)
            kept = [row for row in rows if row.expires_at > now]
        return list(readable(kept, _transition))

    def trim(self, row: TransitionRow, deadline: Deadline) -> None:
        """Remove the rows behind the newest `MAX_KEPT` of this row's resource, at most `_MAX_TRIMMED`."""
        resource, limit = row.resource, MAX_KEPT + _MAX_TRIMMED
        with store_errors():
            rows = TransitionRow.query(
                resource, scan_index_forward=False, attributes_to_get=["resource", "position"], limit=limit
            )
            older = (delete(TransitionRow(resource, row.position)) for row in islice(rows, MAX_KEPT, None))
            write_rows(TransitionRow, older, deadline)


def _transition(row: TransitionRow) -> Transition:
    row_id = f"{row.resource}/{row.position}".replace("/", ":")
    transition: Transition = read_row("transition", row_id, lambda: adapter(Transition).validate_json(row.body))
    return transition


def _key(resource_type: str, resource_id: str) -> str:
    return f"{resource_type}/{resource_id}"
