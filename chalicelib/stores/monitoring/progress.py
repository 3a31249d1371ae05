"""The last measured progress of connectors, by Connect cluster.

The connectors are spread over a fixed number of rows by a hash of their names, so that a request can read the row of
one connector in the same call as other rows. One more row has the time of the last measurement of the cluster, and why
it failed. A row of connectors is written only when a measurement differs from the one before, so its numbers are of the
time in the row of the cluster. Rows of a cluster that is no longer measured expire.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import PutError, UpdateError

from chalicelib.domain.monitoring.progress import Progress, ProgressLook
from chalicelib.kit.adapters import adapter
from chalicelib.kit.bounded import Bounded
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import BytesAttribute, Table, is_condition_failure, meta, store_errors
from chalicelib.stores.unreadable import read_or_none

PARTS = 16
"""Each row of a cluster of 10,000 connectors has 625 of them, about 50 KB. A row may have 400 KB."""

KEPT_FOR = timedelta(days=7)
REWRITTEN_AFTER = timedelta(days=1)
"""A row without changes is written again before it expires."""

_LOOK = "look"

_PARSED: Bounded[str, tuple[bytes, Mapping[str, Progress]]] = Bounded(2_000)
"""The last body of each row that this process has parsed, by the id of the row: those of a hundred clusters."""


class ProgressRow(Table):
    """The parts `0` ... `15` and `look` of one cluster. `body` is compressed JSON: progress by connector.

    `measured_at` is the time of the measurement (in `look`: of the attempt) that has written the row. `succeeded_at` in
    `look` is the time of the last attempt that succeeded.
    """

    Meta = meta("progress")  # type: ignore[assignment]
    cluster_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    measured_at = UTCDateTimeAttribute()
    succeeded_at = UTCDateTimeAttribute(null=True)
    failure = UnicodeAttribute(null=True)
    throughput = NumberAttribute(null=True)
    lag = NumberAttribute(null=True)
    left_out = NumberAttribute(null=True)
    body = BytesAttribute(null=True)
    expires_at = TTLAttribute()


@dataclass(frozen=True, kw_only=True)
class ProgressPart:
    """A decoded row: the progress of a share of the connectors, or the last measurement of their cluster (`look`).

    `measured_at` is the time of the measurement that has written the progress, or of the cluster's last successful one.
    """

    row_id: str = ""
    body: bytes | None = None
    look: ProgressLook | None = None
    measured_at: datetime | None = None

    @cached_property
    def stored(self) -> Mapping[str, Progress]:
        """By connector, as of the time when the row was written. Parsed on demand: most requests do not need it.

        Empty when it cannot be read: the next measurement begins anew, and replaces the row.
        """
        body = self.body
        if not body:
            return {}
        # A list of thousands asks for all parts, page after page; few of them change from one minute to the next.
        body_before, parsed = _PARSED.get(self.row_id, (None, {}))
        if body == body_before:
            return parsed

        def parse() -> Mapping[str, Progress]:
            stored: Mapping[str, Progress] = adapter(dict[str, Progress]).validate_json(zlib.decompress(body))
            return stored

        new = read_or_none("progress", self.row_id, parse)
        if new is None:
            return {}  # not kept: each request that meets such a row says so
        _PARSED[self.row_id] = body, new
        return new

    def progress(self, connector: str, cluster: "ProgressPart") -> Progress | None:
        """The progress of a connector, as of the last measurement of its `cluster`.

        A connector that could not be measured when the row was written keeps the time of its older numbers.
        """
        progress = self.stored.get(connector)
        if progress and cluster.measured_at and progress.measured_at == self.measured_at:
            return replace(progress, measured_at=max(progress.measured_at, cluster.measured_at))
        return progress

    def equals(self, measured: Mapping[str, Progress], at: datetime) -> bool:
        """Whether the row has the same numbers as a measurement `at` that time."""
        return self.stored.keys() == measured.keys() and all(
            self._is_same(self.stored[name], progress, at) for name, progress in measured.items()
        )

    def _is_same(self, stored: Progress, progress: Progress, at: datetime) -> bool:
        was_measured, is_measured = stored.measured_at == self.measured_at, progress.measured_at == at
        expected = replace(progress, measured_at=stored.measured_at) if is_measured else progress
        return was_measured == is_measured and expected == stored


@dataclass(frozen=True, kw_only=True)
class ClusterProgress:
    """All rows of a cluster: those of its connectors by part, and that of the cluster."""

    parts: Mapping[str, ProgressPart] = field(default_factory=dict)
    cluster: ProgressPart = ProgressPart()

    @cached_property
    def connectors(self) -> Mapping[str, Progress]:
        """Progress by connector, as of the last measurement."""
        pairs = ((name, part.progress(name, self.cluster)) for part in self.parts.values() for name in part.stored)
        return {name: progress for name, progress in pairs if progress}


class ProgressStore:
    @staticmethod
    def key(connector_of_cluster: tuple[str, str | None]) -> Key:
        """The key of the row of a connector: cluster id and name. Without a name: of the row of the cluster."""
        cluster_id, connector = connector_of_cluster
        return ProgressRow, cluster_id, _LOOK if connector is None else _part(connector)

    @staticmethod
    def decode(row: ProgressRow | None) -> ProgressPart:
        """The content of a row that was read by `key`; empty when there was none."""
        if row is None:
            return ProgressPart()
        if row.part == _LOOK:
            look = ProgressLook(at=row.measured_at, failure=row.failure, throughput=row.throughput, lag=_whole(row.lag))
            look = replace(look, left_out=_whole(row.left_out) or 0)
            return ProgressPart(look=look, measured_at=row.succeeded_at)
        return ProgressPart(row_id=f"{row.cluster_id}:{row.part}", body=row.body, measured_at=row.measured_at)

    def read(self, cluster_id: str) -> ClusterProgress:
        """The progress of all connectors of a cluster: one call. Raises StoreUnavailable."""
        names = [*map(str, range(PARTS)), _LOOK]
        *parts, cluster = map(self.decode, read_rows(*((ProgressRow, cluster_id, name) for name in names)))
        return ClusterProgress(parts=dict(zip(names, parts, strict=False)), cluster=cluster)

    def looks(self, cluster_ids: Sequence[str]) -> Mapping[str, ProgressLook]:
        """The last measurement of each of these clusters that has one: one call for each hundred."""
        parts = map(self.decode, read_rows(*(self.key((cluster_id, None)) for cluster_id in cluster_ids)))
        return {cluster_id: part.look for cluster_id, part in zip(cluster_ids, parts, strict=True) if part.look}

    def write(
        self, cluster_id: str, measured: Mapping[str, Progress], look: ProgressLook, former: ClusterProgress
    ) -> None:
        """Store a measurement: the row of the cluster, and the rows that differ from `former`, which was read before.

        A row of a later measurement stays. Raises StoreUnavailable.
        """
        parts: dict[str, dict[str, Progress]] = {part: {} for part, row in former.parts.items() if row.stored}
        for name in sorted(measured):
            parts.setdefault(_part(name), {})[name] = measured[name]
        with store_errors():
            for part, entries in parts.items():
                row = former.parts.get(part, ProgressPart())
                fresh = row.measured_at and look.at - row.measured_at < REWRITTEN_AFTER
                if not fresh or not row.equals(entries, look.at):
                    text = adapter(dict[str, Progress]).dump_json(entries, exclude_defaults=True)
                    _put(ProgressRow(cluster_id, part, body=zlib.compress(text, 6)), look.at)
            cluster_row = ProgressRow(cluster_id, _LOOK, throughput=look.throughput, lag=look.lag)
            cluster_row.left_out, cluster_row.succeeded_at = look.left_out, look.at
            _put(cluster_row, look.at)

    def write_failure(self, cluster_id: str, failure: str, now: datetime) -> None:
        """Store that the cluster could not be measured. Earlier measurements stay. Raises StoreUnavailable."""
        columns, row = ProgressRow, ProgressRow(cluster_id, _LOOK)
        written = [columns.measured_at.set(now), columns.expires_at.set(now + KEPT_FOR), columns.failure.set(failure)]
        removed = [column.remove() for column in (columns.throughput, columns.lag, columns.left_out)]
        with store_errors(), _unless_later():
            row.update([*written, *removed], condition=_older(now))


def _part(connector: str) -> str:
    return str(zlib.crc32(connector.encode()) % PARTS)


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _older(now: datetime) -> Any:
    return ProgressRow.measured_at.does_not_exist() | (ProgressRow.measured_at < now)


def _put(row: ProgressRow, now: datetime) -> None:
    row.measured_at, row.expires_at = now, now + KEPT_FOR
    with _unless_later():
        row.save(condition=_older(now))


@contextmanager
def _unless_later() -> Iterator[None]:
    """Leaves a row of a later measurement as it is."""
    try:
        yield
    except (PutError, UpdateError) as error:
        # The second attempt of a write whose reply was lost ends here, too.
        if not is_condition_failure(error):
            raise
