"""What the last tick saw of each Connect cluster: a small head that every tick writes, and a body in parts.

A row holds 400 KB at the most, so the body of a large cluster is several rows, each with the connectors whose names
hash to it. Only parts that changed are written: one connector that fails among 10,000 costs one part. The head lists
the digest of every part. Parts that do not match the head (a writer died in between) are not used, and are written
again by the next tick that has something to write.

Transitions and signals that are not published yet are rows of their own. The head counts these, and is written in one
transaction with them and the first parts that changed. They are removed by setting the counts to nothing; the next ones
overwrite the rows.
"""

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from pynamodb.attributes import (
    BinaryAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UTCDateTimeAttribute,
)
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.cluster import ConnectCluster, PendingDeletions
from chalicelib.domain.monitoring.incident import Signal
from chalicelib.domain.reconcile.orphans import Confirmation
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView
from chalicelib.domain.reconcile.transitions import Transition
from chalicelib.errors import WriteConflict
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import to_milliseconds
from chalicelib.kit.ids import new_id
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, failure_code, meta
from chalicelib.stores.transaction import Transaction

_HEAD = "head"
_FORMAT = "d"
"""Of bodies; each digest begins with it. Change it when a stored field of a snapshot gets another name or meaning: what
an older release has stored then counts as empty, and the next tick reads and writes everything again.
"""

_CONNECTORS_PER_PART = 400
_EVENTS_PER_ROW = 1_000
_PARTS_IN_TRANSACTION = 20
"""With the rows of transitions and signals (40 at the most) and 50 KB a row, not more than the 4 MB of a transaction.
"""

_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""Replaces the time in each observation of a body: the head has it, for all of them."""


class ObservationRow(Table):
    """`head`, `body/0` ..., `transitions/0` ... and `signals/0` ... of one cluster. `epoch` counts changes of what is
    desired.

    `write_id` is of the last write after which others that read before it do not count; `unpublished` is the number
    of rows with transitions, `unpublished_signals` of those with signals; `pending` and `confirmation` are JSON.
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
    digests = UnicodeAttribute(null=True)
    write_id = UnicodeAttribute(null=True)
    unpublished = NumberAttribute(null=True)
    unpublished_signals = NumberAttribute(null=True)
    signalled_at = UTCDateTimeAttribute(null=True)
    reported_at = UTCDateTimeAttribute(null=True)
    body = BinaryAttribute(null=True, legacy_encoding=False)


@dataclass(slots=True)
class Observations:
    """Snapshots by Connect cluster. A body that this process has read before is not read again."""

    _bodies: dict[str, tuple[str, ClusterSnapshot]] = field(default_factory=dict)

    def cluster_and_view(self, cluster_id: str, clusters: ConnectClusters) -> tuple[ConnectCluster | None, ClusterView]:
        """What a tick begins with: a cluster's registration, and its view with transitions and signals. One call
        without consistency (half the price); more when the body is new to this process, or something was not published.

        Both may be out of date. The registration only says which workers to ask; for an outdated view `write` returns
        None. Why that is enough: `infra/decisions/005-observations.md`.
        """
        with store_errors():
            registered, head = read_rows(clusters.key(cluster_id), self.key(cluster_id), consistent=False)
            cluster = clusters.found(registered)
            if head is None or not self._is_current(head):
                head = next(iter(_heads([cluster_id])), None)
            if head is None:
                return cluster, ClusterView()
            return cluster, _with_unpublished(self._loaded([head])[cluster_id], head)

    def read(self, cluster_ids: Iterable[str]) -> Mapping[str, ClusterView]:
        """The view of each cluster, without what is not published yet: one call, and one more when a body is new to
        this process.
        """
        return self.views(_heads(cluster_ids))

    def heads(self, cluster_ids: Iterable[str]) -> Mapping[str, ClusterView]:
        """What is known of each cluster itself. `snapshot` may be empty, and `torn` says nothing."""
        with store_errors():
            return {head.cluster_id: self._view(head) for head in _heads(cluster_ids)}

    @staticmethod
    def key(cluster_id: str) -> Key:
        """The key of a cluster's head, for a read across tables."""
        return ObservationRow, cluster_id, _HEAD

    def found(self, head: ObservationRow | None) -> ClusterView:
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

    def bump(self, transaction: Transaction, cluster_id: str) -> None:
        """Record that something desired on this cluster has changed."""
        row = ObservationRow(cluster_id, _HEAD)
        transaction.update(row, [ObservationRow.epoch.add(1)], condition=None, label="epoch")

    def write(self, cluster_id: str, view: ClusterView, *, changed: bool) -> ClusterView | None:
        """Store what a tick saw, with its transitions and signals. The result is the view as stored.

        `changed`: `snapshot` differs from the one that was read.

        None when another tick has stored a body or transitions since: that one counts, and this one is dropped. That
        Connect still cannot be read is stored in any case.
        """
        columns: list[tuple[Any, Any]] = [
            (ObservationRow.observed_at, view.observed_at),
            (ObservationRow.unreadable, view.unreadable),
            (ObservationRow.unreadable_since, view.unreadable_since),
            (ObservationRow.compared_at, view.compared_at),
            (ObservationRow.signalled_at, view.signalled_at),
        ]
        if view.reported_at == view.observed_at:  # only the tick that reports writes it
            columns.append((ObservationRow.reported_at, view.reported_at))
        parts = _packed(view.snapshot) if changed else {}
        digests = " ".join(parts)
        if changed:
            columns += [(ObservationRow.digests, digests), (ObservationRow.pending, _pending_text(view.pending))]
        rows = self._changed_parts(cluster_id, parts)
        transitions = _event_rows(cluster_id, "transitions", list[Transition], view.transitions)
        signals = _event_rows(cluster_id, "signals", list[Signal], view.signals)
        with store_errors():
            if rows or transitions or signals:
                columns.append((ObservationRow.unpublished, len(transitions) or None))
                columns.append((ObservationRow.unpublished_signals, len(signals) or None))
                together = [*transitions, *signals, *rows[:_PARTS_IN_TRANSACTION]]
                stored = _write_together(cluster_id, view, columns, together)
            else:
                stored = view if _write_head(cluster_id, view, columns) else None
            if stored is None:
                self._bodies.pop(cluster_id, None)
                return None
            for row in rows[_PARTS_IN_TRANSACTION:]:
                row.save()
        if changed:
            self._bodies[cluster_id] = (digests, view.snapshot)
        return stored

    def remove_published(self, cluster_id: str, stored: ClusterView) -> ClusterView:
        """Remove the transitions and signals of the view that `write` returned; the view as it is stored then. Nothing
        happens when another tick has them by now.
        """
        write_id = new_id()
        counts = (ObservationRow.unpublished, ObservationRow.unpublished_signals)
        columns = [*((column, None) for column in counts), (ObservationRow.write_id, write_id)]
        with store_errors():
            removed = _write_head(cluster_id, stored, columns)
        if not removed:
            return stored
        return replace(stored, transitions=(), signals=(), write_id=write_id)

    def report_again(self, cluster_id: str, stored: ClusterView) -> None:
        """Make the next tick report to alerting, unless another one has done so meanwhile."""
        column = ObservationRow.reported_at
        with store_errors():
            _update_head(cluster_id, [column.remove()], condition=column == stored.reported_at)

    def confirm(
        self, transaction: Transaction, cluster_id: str, pending: PendingDeletions, confirmation: Confirmation
    ) -> None:
        """Store that these deletions may be carried out. Conflict label: `pending.changed`."""
        column = ObservationRow.pending
        text = adapter(Confirmation).dump_json(confirmation).decode()
        actions = [column.remove(), ObservationRow.confirmation.set(text)]
        row = ObservationRow(cluster_id, _HEAD)
        transaction.update(row, actions, condition=column == _pending_text(pending), label="pending.changed")

    def _changed_parts(self, cluster_id: str, parts: Mapping[str, bytes]) -> list[ObservationRow]:
        current = self._bodies.get(cluster_id, ("", None))[0].split()
        return [
            ObservationRow(cluster_id, f"body/{number}", body=zlib.compress(text, 6), digests=digest)
            for number, (digest, text) in enumerate(parts.items())
            if len(current) != len(parts) or current[number] != digest
        ]

    def _fetch(self, unknown: Mapping[str, str]) -> None:
        """Read the bodies of clusters (id -> digests); one that does not match its digests counts as empty."""
        keys = [(one, f"body/{n}") for one, digests in unknown.items() for n in range(len(digests.split()))]
        rows = sorted(ObservationRow.batch_get(keys, consistent_read=True), key=lambda row: row.cluster_id)
        for cluster_id, found in groupby(rows, key=lambda row: row.cluster_id):
            parts = sorted(found, key=_number)
            digests = " ".join(row.digests or "" for row in parts)
            matches = digests == unknown[cluster_id] and digests.startswith(_FORMAT)
            self._bodies[cluster_id] = (digests, _join(parts)) if matches else ("", ClusterSnapshot())

    def _is_current(self, head: ObservationRow) -> bool:
        return self._bodies.get(head.cluster_id, ("", None))[0] == head.digests

    def _view(self, head: ObservationRow) -> ClusterView:
        current = self._is_current(head)
        return ClusterView(
            epoch=int(head.epoch),
            observed_at=_in_milliseconds(head.observed_at),
            unreadable=head.unreadable,
            unreadable_since=_in_milliseconds(head.unreadable_since),
            compared_at=_in_milliseconds(head.compared_at),
            signalled_at=_in_milliseconds(head.signalled_at),
            pending=adapter(PendingDeletions).validate_json(head.pending) if head.pending else None,
            confirmation=adapter(Confirmation).validate_json(head.confirmation) if head.confirmation else None,
            write_id=head.write_id,
            reported_at=_in_milliseconds(head.reported_at),
            torn=bool(head.digests) and not current,
            snapshot=self._bodies[head.cluster_id][1] if current else ClusterSnapshot(),
        )


def _heads(cluster_ids: Iterable[str]) -> Iterable[ObservationRow]:
    keys = [(cluster_id, _HEAD) for cluster_id in sorted(set(cluster_ids))]
    return ObservationRow.batch_get(keys, consistent_read=True) if keys else ()


def _write_head(cluster_id: str, view: ClusterView, columns: Sequence[tuple[Any, Any]]) -> bool:
    """Whether it was written. That Connect still cannot be read always is: no column that others rely on changes."""
    condition = _not_written_since(view) if view.has_unpublished or not view.unreadable else None
    return _update_head(cluster_id, _actions(columns), condition=condition)


def _update_head(cluster_id: str, actions: list[Action], *, condition: Condition | None) -> bool:
    """Whether the condition was true."""
    try:
        ObservationRow(cluster_id, _HEAD).update(actions, condition=condition)
    except UpdateError as error:
        if failure_code(error) != "ConditionalCheckFailedException":
            raise
        return False
    return True


def _write_together(
    cluster_id: str, view: ClusterView, columns: Sequence[tuple[Any, Any]], rows: Sequence[ObservationRow]
) -> ClusterView | None:
    """The head and these rows in one transaction; the view as it is then stored."""
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
    """No other tick has written a body, transitions or signals, or published them, since the view was read."""
    column = ObservationRow.write_id
    condition: Condition = column == view.write_id if view.write_id else column.does_not_exist()
    return condition


def _event_rows(cluster_id: str, part: str, kind: Any, events: Sequence[Any]) -> list[ObservationRow]:
    pack, size = adapter(kind).dump_json, _EVENTS_PER_ROW
    chunks = [list(events[at : at + size]) for at in range(0, len(events), size)]
    return [
        ObservationRow(cluster_id, f"{part}/{number}", body=zlib.compress(pack(chunk), 6))
        for number, chunk in enumerate(chunks)
    ]


def _with_unpublished(view: ClusterView, head: ObservationRow) -> ClusterView:
    """The view with what the head counts. If another tick overwrites it meanwhile, this one's `write` is refused."""
    return replace(
        view,
        transitions=_events(head.cluster_id, "transitions", list[Transition], head.unpublished),
        signals=_events(head.cluster_id, "signals", list[Signal], head.unpublished_signals),
    )


def _events(cluster_id: str, part: str, kind: Any, count: float | None) -> tuple[Any, ...]:
    if not count:
        return ()
    keys = [(cluster_id, f"{part}/{number}") for number in range(int(count))]
    rows = sorted(ObservationRow.batch_get(keys, consistent_read=True), key=_number)
    unpack = adapter(kind).validate_json
    return tuple(one for row in rows for one in unpack(zlib.decompress(row.body)))


def _number(row: ObservationRow) -> int:
    return int(row.part.partition("/")[2])


def _pending_text(pending: PendingDeletions | None) -> str | None:
    return adapter(PendingDeletions).dump_json(pending).decode() if pending else None


def _in_milliseconds(value: datetime | None) -> datetime | None:
    return to_milliseconds(value) if value else None


def _split(whole: ClusterSnapshot) -> list[ClusterSnapshot]:
    """The parts: connectors by a hash of their names, what is not about connectors in the first."""
    number = 1
    while number * _CONNECTORS_PER_PART < max(len(whole.desired), len(whole.observed) + len(whole.foreign)):
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
    """Digest -> text of each part, in order. The number is part of the digest, so that no two parts have the same."""
    texts = [adapter(ClusterSnapshot).dump_json(part) for part in _split(whole)]
    return {f"{_FORMAT}{number}.{hashlib.sha256(text).hexdigest()[:10]}": text for number, text in enumerate(texts)}


def _join(rows: Iterable[ObservationRow]) -> ClusterSnapshot:
    parts: list[ClusterSnapshot] = [adapter(ClusterSnapshot).validate_json(zlib.decompress(row.body)) for row in rows]
    for column in (*_BY_NAME, "observed"):
        for other in parts[1:]:
            getattr(parts[0], column).update(getattr(other, column))
    return parts[0]
