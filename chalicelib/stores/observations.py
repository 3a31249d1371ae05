"""What the last tick saw of each Connect cluster: a small head that every tick touches, and a body in parts.

A row holds 400 KB at the most, so the body of a large cluster is several rows, each with the connectors whose names
fall to it. Only parts that changed are written: one connector that fails among 10,000 costs one part. The head lists
the digest of every part: parts that do not fit the head (a writer died half-way) are not believed, and are written
anew by the next tick that has something to write.
"""

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import to_milliseconds
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, failure_code, meta
from chalicelib.stores.transaction import Transaction

_HEAD = "head"
_CONNECTORS_PER_PART = 400
_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for the time of looking in each observation of a body: the head has it, for all of them."""


class ObservationRow(Table):
    """`head`, `body/0`, `body/1` ... of one cluster. `epoch` counts what people changed; `stamp` stands for `digests`
    in conditions, so that those are as short for any number of connectors.
    """

    Meta = meta("observations")  # type: ignore[assignment]
    cluster_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    epoch = NumberAttribute(default=0)
    observed_at = UTCDateTimeAttribute(null=True)
    unreadable = UnicodeAttribute(null=True)
    compared_at = UTCDateTimeAttribute(null=True)
    digests = UnicodeAttribute(null=True)
    stamp = UnicodeAttribute(null=True)
    body = BinaryAttribute(null=True, legacy_encoding=False)


@dataclass(slots=True)
class Observations:
    """Snapshots by Connect cluster. A body that this process has read before is not read again."""

    _bodies: dict[str, tuple[str, ClusterSnapshot]] = field(default_factory=dict)

    def look(self, cluster_id: str, clusters: ConnectClusters) -> tuple[ConnectCluster | None, ClusterView]:
        """What a tick begins with: a cluster's registration, and what is known of it. One call, of half the price.

        Both may be a moment old. A registration decides only whom to ask; a view that is not the newest is found out
        when it is written over (`write`). Why that is enough: `infra/decisions/005-observations.md`.
        """
        with store_errors():
            registered, head = read_rows(clusters.key(cluster_id), self.key(cluster_id), consistent=False)
        cluster = clusters.found(registered)
        if head is not None and self._holds(head):
            return cluster, self._view(head)
        return cluster, self.read([cluster_id]).get(cluster_id, ClusterView())

    def read(self, cluster_ids: Iterable[str]) -> Mapping[str, ClusterView]:
        """What is known of each cluster: one call, and one more where a body is new to this process."""
        return self.views(_heads(cluster_ids))

    def heads(self, cluster_ids: Iterable[str]) -> Mapping[str, ClusterView]:
        """When each cluster was last looked at, and whether it could be read; `snapshot` may be left empty."""
        with store_errors():
            return {head.cluster_id: self._view(head) for head in _heads(cluster_ids)}

    @staticmethod
    def key(cluster_id: str) -> Key:
        """The key of a cluster's head, for a read across tables."""
        return ObservationRow, cluster_id, _HEAD

    def found(self, head: ObservationRow | None) -> ClusterView:
        """What the head of a read across tables says; nothing is known where there was none."""
        return next(iter(self.views([head]).values())) if head else ClusterView()

    def views(self, rows: Iterable[ObservationRow]) -> Mapping[str, ClusterView]:
        """What heads say, by cluster. Reads the bodies that this process does not know yet."""
        with store_errors():
            heads = list(rows)
            stale = {head.cluster_id: head.digests for head in heads if head.digests and not self._holds(head)}
            if stale:
                self._fetch(stale)
        return {head.cluster_id: self._view(head) for head in heads}

    def bump(self, transaction: Transaction, cluster_id: str) -> None:
        """Say that something about what is desired on this cluster has changed."""
        row = ObservationRow(cluster_id, _HEAD)
        transaction.update(row, [ObservationRow.epoch.add(1)], condition=None, label="epoch")

    def write(self, cluster_id: str, view: ClusterView, *, changed: bool) -> bool:
        """Store what a tick saw; `changed` says that `snapshot` is not what it was when the view was read.

        False when another tick has stored another body since: it was faster, it counts, and this look is dropped. That
        Connect could not be read is noted in any case.
        """
        columns: list[tuple[Any, Any]] = [
            (ObservationRow.observed_at, view.observed_at),
            (ObservationRow.unreadable, view.unreadable),
            (ObservationRow.compared_at, view.compared_at),
        ]
        parts = _packed(view.snapshot) if changed else {}
        if changed:
            digests = " ".join(parts)
            columns += [(ObservationRow.digests, digests), (ObservationRow.stamp, _short(digests))]
        actions = [column.remove() if value is None else column.set(value) for column, value in columns]
        with store_errors():
            try:
                ObservationRow(cluster_id, _HEAD).update(actions, condition=_still(view))
            except UpdateError as error:
                if failure_code(error) != "ConditionalCheckFailedException":
                    raise
                self._bodies.pop(cluster_id, None)
                return False
            if changed:
                self._write_parts(cluster_id, parts)
                self._bodies[cluster_id] = (" ".join(parts), view.snapshot)
        return True

    def _write_parts(self, cluster_id: str, parts: Mapping[str, bytes]) -> None:
        """The head comes first, so that of two ticks at the same moment only one writes parts."""
        known = self._bodies.get(cluster_id, ("", None))[0].split()
        for number, (digest, text) in enumerate(parts.items()):
            if len(known) != len(parts) or known[number] != digest:
                row = ObservationRow(cluster_id, f"body/{number}", body=zlib.compress(text, 6), digests=digest)
                row.save()

    def _fetch(self, stale: Mapping[str, str]) -> None:
        """Read the bodies of clusters (id -> digests); what does not fit its digests counts as nothing known."""
        keys = [(cluster_id, f"body/{n}") for cluster_id, digests in stale.items() for n in range(len(digests.split()))]
        rows = sorted(ObservationRow.batch_get(keys, consistent_read=True), key=lambda row: row.cluster_id)
        for cluster_id, found in groupby(rows, key=lambda row: row.cluster_id):
            parts = sorted(found, key=lambda row: int(row.part.partition("/")[2]))
            digests = " ".join(row.digests or "" for row in parts)
            fits = digests == stale[cluster_id]
            self._bodies[cluster_id] = (
                (digests, _join([row.body for row in parts])) if fits else ("", ClusterSnapshot())
            )

    def _holds(self, head: ObservationRow) -> bool:
        return self._bodies.get(head.cluster_id, ("", None))[0] == head.digests

    def _view(self, head: ObservationRow) -> ClusterView:
        return ClusterView(
            epoch=int(head.epoch),
            observed_at=_moment(head.observed_at),
            unreadable=head.unreadable,
            compared_at=_moment(head.compared_at),
            body=head.stamp,
            snapshot=self._bodies[head.cluster_id][1] if self._holds(head) else ClusterSnapshot(),
        )


def _heads(cluster_ids: Iterable[str]) -> Iterable[ObservationRow]:
    keys = [(cluster_id, _HEAD) for cluster_id in sorted(set(cluster_ids))]
    return ObservationRow.batch_get(keys, consistent_read=True) if keys else ()


def _still(view: ClusterView) -> Condition | None:
    """The body that the view was read with is still the one that is stored."""
    if view.unreadable:
        return None
    return ObservationRow.stamp == view.body if view.body else ObservationRow.stamp.does_not_exist()


def _moment(value: datetime | None) -> datetime | None:
    return to_milliseconds(value) if value else None


def _split(whole: ClusterSnapshot) -> list[ClusterSnapshot]:
    """The parts: connectors by a hash of their names, what is not about connectors in the first."""
    number = 1
    while number * _CONNECTORS_PER_PART < max(len(whole.wanted), len(whole.observed)):
        number *= 2
    undated = {name: replace(seen, observed_at=_UNDATED) for name, seen in whole.observed.items()}
    parts: list[dict[str, Any]] = [{} for _ in range(number)]
    parts[0] = {"epoch": whole.epoch, "unsettled": whole.unsettled}
    for column, entries in [*((name, getattr(whole, name)) for name in _BY_NAME), ("observed", undated)]:
        for name in sorted(entries):
            parts[zlib.crc32(name.encode()) % number].setdefault(column, {})[name] = entries[name]
    return [ClusterSnapshot(**part) for part in parts]


_BY_NAME = [column.name for column in fields(ClusterSnapshot) if column.name not in ("epoch", "unsettled", "observed")]


def _packed(whole: ClusterSnapshot) -> dict[str, bytes]:
    """Digest -> text of each part, in order. The number stands in each digest: no two parts have the same."""
    texts = [adapter(ClusterSnapshot).dump_json(part) for part in _split(whole)]
    return {f"{number}.{_short(text)}": text for number, text in enumerate(texts)}


def _short(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:10]


def _join(bodies: Sequence[bytes]) -> ClusterSnapshot:
    parts: list[ClusterSnapshot] = [adapter(ClusterSnapshot).validate_json(zlib.decompress(body)) for body in bodies]
    for column in (*_BY_NAME, "observed"):
        for other in parts[1:]:
            getattr(parts[0], column).update(getattr(other, column))
    return parts[0]
