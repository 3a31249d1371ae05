"""What ticks remember about each Connect cluster: a small head that every tick writes, and a body in parts.

The body has one document for each connector, without the fields at their default. A row holds 400 KB at the most, so
the body of a large cluster is several rows, each with the connectors whose names hash to it. Only parts that changed
are written: one connector that fails among 10,000 costs one part. The head lists the digest of every part. Parts that
do not match the head (a writer died in between) are not used, and are written again by the next tick that has something
to write. A body that this release cannot read, because a newer one has written it, is treated the same.

What has changed since (transitions) is stored by the transaction that stores the head and the first parts that changed.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from pynamodb.attributes import (
    NumberAttribute,
    UnicodeAttribute,
    UTCDateTimeAttribute,
)
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.cluster import ChangeKind, ConnectCluster, PendingChanges
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.confirmations import Confirmation
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory
from chalicelib.domain.connectors.workers import WorkersFault
from chalicelib.errors import Contention, WriteConflict
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import to_milliseconds
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.connectors.memory_parts import joined, packed
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import BytesAttribute, Table, is_condition_failure, meta, store_errors
from chalicelib.stores.timeline import TimelineRow
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import read_or_none

_HEAD = "head"
_PARTS_IN_TRANSACTION = 20
TRANSITIONS_WITH_HEAD = 75
"""With the head and the parts not more than the hundred items and the 4 MB of a transaction, of 120 KB at most for each
part.
"""

_EPOCH_ROWS = 8
"""For each cluster. Operations of different resources mostly write different ones, ticks write none. Each costs half
a read unit of a tick.
"""

_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""Replaces the time in each observation of a body: the head has the time of all of them."""


class ObservationRow(Table):
    """`head` and `body/0` ... of one cluster, and `epoch/0` ...: their sum counts changes of what is desired.

    `write_id` is of the last write after which others that read before it do not count; `pending` and `confirmation`
    of deletions, the same of creations, and `fault` are JSON.
    """

    Meta = meta("observations")  # type: ignore[assignment]
    cluster_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    epoch = NumberAttribute(default=0)
    observed_at = UTCDateTimeAttribute(null=True)
    unreadable = UnicodeAttribute(null=True)
    unreadable_since = UTCDateTimeAttribute(null=True)
    compared_at = UTCDateTimeAttribute(null=True)
    pending = UnicodeAttribute(null=True)
    confirmation = UnicodeAttribute(null=True)
    pending_creations = UnicodeAttribute(null=True)
    creations_confirmation = UnicodeAttribute(null=True)
    fault = UnicodeAttribute(null=True)
    digests = UnicodeAttribute(null=True)
    write_id = UnicodeAttribute(null=True)
    reported_at = UTCDateTimeAttribute(null=True)
    body = BytesAttribute(null=True)


_WAITING: Mapping[ChangeKind, tuple[Any, Any]] = {
    ChangeKind.DELETIONS: (ObservationRow.pending, ObservationRow.confirmation),
    ChangeKind.CREATIONS: (ObservationRow.pending_creations, ObservationRow.creations_confirmation),
}
"""The columns of the changes that wait for a person, and of the last confirmation of them."""


@dataclass(slots=True)
class Observations:
    """Memories by Connect cluster. A body that this process has read before is not read again."""

    _bodies: dict[str, tuple[str, ClusterMemory]] = field(default_factory=dict)

    def cluster_and_view(self, cluster_id: str, clusters: ConnectClusters) -> tuple[ConnectCluster | None, ClusterView]:
        """What a tick begins with: a cluster's registration, and its view with the epoch. One call without consistency
        (half the price); more when the body is new to this process.

        Both may be out of date. The registration only says which workers to ask; for an outdated view `write` returns
        None. Why that is enough: `infra/decisions/005-observations.md`.
        """
        epochs: Sequence[Key] = [(ObservationRow, cluster_id, f"epoch/{number}") for number in range(_EPOCH_ROWS)]
        with store_errors():
            registered, head, *counted = read_rows(
                clusters.key(cluster_id), self.key(cluster_id), *epochs, consistent=False
            )
            cluster, epoch = clusters.decode(registered), sum(int(row.epoch) for row in counted if row)
            if head is None or not self._is_current(head):
                head = next(iter(_heads([cluster_id])), None)
            if head is None:
                return cluster, ClusterView(epoch=epoch)
            return cluster, replace(self._loaded([head])[cluster_id], epoch=epoch)

    def read(self, cluster_ids: Iterable[str]) -> Mapping[str, ClusterView]:
        """The view of each cluster: one call, and one more when a body is new to this process."""
        return self.views(_heads(cluster_ids))

    def heads(self, cluster_ids: Iterable[str]) -> Mapping[str, ClusterView]:
        """What is known of each cluster itself. `memory` may be empty, and `torn` says nothing."""
        with store_errors():
            return {head.cluster_id: self._view(head) for head in _heads(cluster_ids)}

    @staticmethod
    def key(cluster_id: str) -> Key:
        """The key of a cluster's head, for a read across tables."""
        return ObservationRow, cluster_id, _HEAD

    def decode(self, head: ObservationRow | None) -> ClusterView:
        """The view in the head of a read across tables; an empty view when there was none."""
        return next(iter(self.views([head]).values())) if head else ClusterView()

    def views(self, rows: Iterable[ObservationRow]) -> Mapping[str, ClusterView]:
        """The views in these heads, by cluster. Reads the bodies that are new to this process.

        A body that does not match may have been written after its head was read: then both are read again, once.
        """
        with store_errors():
            views = self._loaded(rows)
            if torn := [cluster_id for cluster_id, view in views.items() if view.torn]:
                views |= self._loaded(_heads(torn))
        return views

    def _loaded(self, rows: Iterable[ObservationRow]) -> dict[str, ClusterView]:
        heads = list(rows)
        unknown = {head.cluster_id: head.digests for head in heads if head.digests and not self._is_current(head)}
        if unknown:
            self._fetch(unknown)
        return {head.cluster_id: self._view(head) for head in heads}

    def bump(self, transaction: Transaction, cluster_id: str, resource_id: str) -> None:
        """Record that what is desired of this resource on this cluster has changed."""
        row = ObservationRow(cluster_id, epoch_row(resource_id))
        transaction.update(row, [ObservationRow.epoch.add(1)], condition=None, label="epoch")

    def write(
        self, cluster_id: str, view: ClusterView, *, changed: bool, transitions: Sequence[TimelineRow] = ()
    ) -> ClusterView | None:
        """Store what a tick saw, with at most `TRANSITIONS_WITH_HEAD` transitions. The result is the view as stored.

        `changed`: the memory differs from the one that was read.

        None when another tick has stored a body or transitions since, or does so at this moment: that one counts, and
        this one is dropped. That Connect still cannot be read is stored in any case.
        """
        columns: list[tuple[Any, Any]] = [
            (ObservationRow.observed_at, view.observed_at),
            (ObservationRow.unreadable, view.unreadable),
            (ObservationRow.unreadable_since, view.unreadable_since),
            (ObservationRow.compared_at, view.compared_at),
        ]
        if view.reported_at in (None, view.observed_at):  # only a tick that reports writes it
            columns.append((ObservationRow.reported_at, view.reported_at))
        memory = _undated(view.memory) if changed else view.memory
        parts = packed(memory) if changed else {}
        digests = " ".join(parts)
        if changed:
            columns += [(ObservationRow.digests, digests), (ObservationRow.fault, _json(view.fault))]
            columns += [(_WAITING[kind][0], _json(view.waiting(kind))) for kind in ChangeKind]
        rows = self._changed_parts(cluster_id, parts)
        stored: ClusterView | None = None
        with suppress(Contention), store_errors():
            if rows or transitions:
                stored = _write_in_transaction(cluster_id, view, columns, [*transitions, *rows[:_PARTS_IN_TRANSACTION]])
            else:
                # That Connect still cannot be read is always stored: no column that others rely on changes.
                condition = None if view.unreadable else _not_written_since(view)
                stored = view if _update_head(cluster_id, _actions(columns), condition=condition) else None
        if stored is None:
            self._bodies.pop(cluster_id, None)  # another tick has written a newer one
            return None
        with store_errors():
            for row in rows[_PARTS_IN_TRANSACTION:]:
                row.save()
        if changed:
            self._bodies[cluster_id] = (digests, memory)
        return stored

    def reported(self, cluster_id: str, stored: ClusterView) -> ClusterView:
        """Store that the report of the view that `write` has returned was recorded; the view as it is stored then.
        Nothing happens when another tick has written since.
        """
        noted = replace(stored, reported_at=stored.observed_at)
        with store_errors():
            columns = [(ObservationRow.reported_at, noted.reported_at)]
            _update_head(cluster_id, _actions(columns), condition=_not_written_since(stored))
        return noted

    def report_again(self, cluster_id: str, stored: ClusterView) -> None:
        """Make the next tick report, unless another one has done so meanwhile."""
        column = ObservationRow.reported_at
        with store_errors():
            _update_head(cluster_id, [column.remove()], condition=column == stored.reported_at)

    def confirm(
        self,
        transaction: Transaction,
        cluster_id: str,
        kind: ChangeKind,
        pending: PendingChanges,
        confirmation: Confirmation,
    ) -> None:
        """Store that these changes may be carried out. Conflict label: `pending.changed`."""
        waiting, confirmed = _WAITING[kind]
        actions = [waiting.remove(), confirmed.set(_json(confirmation))]
        row = ObservationRow(cluster_id, _HEAD)
        transaction.update(row, actions, condition=waiting == _json(pending), label="pending.changed")

    def _changed_parts(self, cluster_id: str, parts: Mapping[str, bytes]) -> list[ObservationRow]:
        current = self._bodies.get(cluster_id, ("", None))[0].split()
        return [
            ObservationRow(cluster_id, f"body/{number}", body=zlib.compress(text, 6), digests=digest)
            for number, (digest, text) in enumerate(parts.items())
            if len(current) != len(parts) or current[number] != digest
        ]

    def _fetch(self, unknown: Mapping[str, str]) -> None:
        """Read the bodies of clusters (id -> digests); one that does not match its digests counts as empty."""
        keys = [
            (cluster_id, f"body/{number}")
            for cluster_id, digests in unknown.items()
            for number in range(len(digests.split()))
        ]
        # Consistent: a part that is older than its head would not match it.
        rows = sorted(ObservationRow.batch_get(keys, consistent_read=True), key=lambda row: row.cluster_id)
        for cluster_id, group in groupby(rows, key=lambda row: row.cluster_id):
            parts = sorted(group, key=lambda row: int(row.part.removeprefix("body/")))
            digests = " ".join(row.digests or "" for row in parts)
            memory = joined(cluster_id, (row.body for row in parts)) if digests == unknown[cluster_id] else None
            self._bodies[cluster_id] = (digests, memory) if memory else ("", ClusterMemory())

    def _is_current(self, head: ObservationRow) -> bool:
        return self._bodies.get(head.cluster_id, ("", None))[0] == head.digests

    def _view(self, head: ObservationRow) -> ClusterView:
        current = self._is_current(head)
        return ClusterView(
            observed_at=_in_milliseconds(head.observed_at),
            unreadable=head.unreadable,
            unreadable_since=_in_milliseconds(head.unreadable_since),
            compared_at=_in_milliseconds(head.compared_at),
            pending=_parsed(PendingChanges, head.cluster_id, head.pending),
            confirmation=_parsed(Confirmation, head.cluster_id, head.confirmation),
            pending_creations=_parsed(PendingChanges, head.cluster_id, head.pending_creations),
            creations_confirmation=_parsed(Confirmation, head.cluster_id, head.creations_confirmation),
            fault=_parsed(WorkersFault, head.cluster_id, head.fault),
            write_id=head.write_id,
            reported_at=_in_milliseconds(head.reported_at),
            torn=bool(head.digests) and not current,
            memory=self._bodies[head.cluster_id][1] if current else ClusterMemory(),
        )


def epoch_row(resource_id: str) -> str:
    """The part in which changes of a resource are counted."""
    return f"epoch/{zlib.crc32(resource_id.encode()) % _EPOCH_ROWS}"


def _heads(cluster_ids: Iterable[str]) -> Iterable[ObservationRow]:
    keys = [(cluster_id, _HEAD) for cluster_id in sorted(set(cluster_ids))]
    return ObservationRow.batch_get(keys, consistent_read=True) if keys else ()


def _update_head(cluster_id: str, actions: list[Action], *, condition: Condition | None) -> bool:
    """Whether the condition was true."""
    try:
        ObservationRow(cluster_id, _HEAD).update(actions, condition=condition)
    except UpdateError as error:
        if not is_condition_failure(error):
            raise
        return False
    return True


def _write_in_transaction(
    cluster_id: str, view: ClusterView, columns: Sequence[tuple[Any, Any]], rows: Sequence[Table]
) -> ClusterView | None:
    transaction = Transaction()
    actions = _actions([*columns, (ObservationRow.write_id, transaction.write_id)])
    head = ObservationRow(cluster_id, _HEAD)
    transaction.update(head, actions, condition=_not_written_since(view), label="observations.changed")
    for row in rows:
        transaction.put(row, condition=None, label="part")
    try:
        transaction.commit()
    except WriteConflict:
        return None
    return replace(view, write_id=transaction.write_id)


def _actions(columns: Sequence[tuple[Any, Any]]) -> list[Action]:
    return [column.remove() if value is None else column.set(value) for column, value in columns]


def _not_written_since(view: ClusterView) -> Condition:
    """No other tick has written a body or transitions since the view was read."""
    column = ObservationRow.write_id
    condition: Condition = column == view.write_id if view.write_id else column.does_not_exist()
    return condition


def _json(value: PendingChanges | Confirmation | WorkersFault | None) -> str | None:
    kind: Any = type(value)
    return adapter(kind).dump_json(value).decode() if value else None


def _parsed(kind: Any, cluster_id: str, text: str | None) -> Any:
    """What a column of a head holds; None also when it cannot be read: then nothing is confirmed, and the next tick
    finds the fault again.
    """
    return read_or_none("observation", cluster_id, lambda: adapter(kind).validate_json(text)) if text else None


def _in_milliseconds(value: datetime | None) -> datetime | None:
    return to_milliseconds(value) if value else None


def _undated(memory: ClusterMemory) -> ClusterMemory:
    return replace(memory, connectors={name: _without_time(known) for name, known in memory.connectors.items()})


def _without_time(memory: ConnectorMemory) -> ConnectorMemory:
    observation = memory.observation
    if observation is None or observation.observed_at == _UNDATED:
        return memory
    return replace(memory, observation=replace(observation, observed_at=_UNDATED))
