"""What the last tick saw of each Connect cluster: a small head that every tick touches, a body only when it changed."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter
from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.models import Model

from chalicelib.domain.cluster_view import ClusterView, Remembered
from chalicelib.kit.clock import to_milliseconds
from chalicelib.stores.documents import store_errors
from chalicelib.stores.tables import meta
from chalicelib.stores.transaction import Transaction

_HEAD, _BODY = "head", "body"
_ADAPTER = TypeAdapter(Remembered)


class ObservationRow(Model):
    """`head` and `body` of one cluster. `epoch` counts what people changed; `body_version` names the body."""

    Meta = meta("observations")  # type: ignore[assignment]
    cluster_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    epoch = NumberAttribute(default=0)
    body_version = NumberAttribute(default=0)
    observed_at = UTCDateTimeAttribute(null=True)
    unreadable = UnicodeAttribute(null=True)
    body = BinaryAttribute(null=True, legacy_encoding=False)


@dataclass(slots=True)
class Observations:
    """Snapshots by Connect cluster. A body that this process has read before is not read again."""

    _bodies: dict[str, tuple[int, Remembered]] = field(default_factory=dict)

    def read(self, cluster_ids: Iterable[str]) -> Mapping[str, ClusterView]:
        """What is known of each cluster: one call, and one more where a body is new to this process."""
        keys = [(cluster_id, _HEAD) for cluster_id in sorted(set(cluster_ids))]
        with store_errors():
            heads = list(ObservationRow.batch_get(keys, consistent_read=True)) if keys else []
            stale = [head for head in heads if self._known(head) is None]
            bodies = (
                ObservationRow.batch_get([(head.cluster_id, _BODY) for head in stale], consistent_read=True)
                if stale
                else ()
            )
            for row in bodies:
                self._bodies[row.cluster_id] = (int(row.body_version), _unpack(row.body))
        return {head.cluster_id: self._view(head) for head in heads}

    def bump(self, transaction: Transaction, cluster_id: str) -> None:
        """Say that something about what is desired on this cluster has changed."""
        row = ObservationRow(cluster_id, _HEAD)
        transaction.update(row, [ObservationRow.epoch.add(1)], condition=None, label="epoch")

    def write(self, cluster_id: str, view: ClusterView, *, changed: bool) -> None:
        """Store what a tick saw: the body only when it changed, then the head."""
        version = view.body_version + 1 if changed else view.body_version
        with store_errors():
            if changed:
                packed = zlib.compress(_ADAPTER.dump_json(view.remembered), 6)
                ObservationRow(cluster_id, _BODY, body=packed, body_version=version).save()
                self._bodies[cluster_id] = (version, view.remembered)
            observed_at = ObservationRow.observed_at
            ObservationRow(cluster_id, _HEAD).update(
                [
                    ObservationRow.body_version.set(version),
                    observed_at.set(view.observed_at) if view.observed_at else observed_at.remove(),
                    ObservationRow.unreadable.set(view.unreadable)
                    if view.unreadable
                    else ObservationRow.unreadable.remove(),
                ]
            )

    def _known(self, head: ObservationRow) -> Remembered | None:
        version, remembered = self._bodies.get(head.cluster_id, (0, Remembered()))
        return remembered if version == int(head.body_version) else None

    def _view(self, head: ObservationRow) -> ClusterView:
        remembered = self._known(head)
        version, held = self._bodies.get(head.cluster_id, (0, Remembered()))
        return ClusterView(
            epoch=int(head.epoch),
            body_version=version if remembered is None else int(head.body_version),
            observed_at=_moment(head.observed_at),
            unreadable=head.unreadable,
            remembered=held,
        )


def _moment(value: datetime | None) -> datetime | None:
    return to_milliseconds(value) if value else None


def _unpack(packed: bytes) -> Remembered:
    return _ADAPTER.validate_json(zlib.decompress(packed))
