"""How the connectors of each Connect cluster moved when they were last measured.

The connectors are spread over a fixed number of rows by a hash of their names, so that the row of one connector can be
read together with whatever else a request needs. One more row says when the cluster was last measured, and why that
failed. A row of connectors is written only when a measurement has found something else than the one before, so its
numbers are of the time that the row of the cluster tells. Rows of a cluster that is not measured any more expire.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from pynamodb.attributes import BinaryAttribute, NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import PutError, UpdateError

from chalicelib.domain.monitoring.progress import Progress, ProgressLook
from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, failure_code, meta

PARTS = 16
"""625 of 10,000 connectors in a row are about 50 KB; a row holds 400 KB at the most."""

KEPT_FOR = timedelta(days=7)
REWRITTEN_AFTER = timedelta(days=1)
"""A row that does not change is written again before it expires."""

_LOOK = "look"


class ProgressRow(Table):
    """`0` ... `15` and `look` of one cluster. `body` is compressed JSON: progress by connector.

    `measured_at` is the measurement, or in `look` the attempt, that has written the row. `succeeded_at` in `look` is
    the last attempt that succeeded.
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
    body = BinaryAttribute(null=True, legacy_encoding=False)
    expires_at = TTLAttribute()


@dataclass(frozen=True, kw_only=True)
class ProgressPart:
    """What a row says: the progress of some connectors, or the last look at their cluster.

    `measured_at` is the measurement that has written the progress, or the last one of the cluster that succeeded.
    """

    body: bytes | None = None
    look: ProgressLook | None = None
    measured_at: datetime | None = None

    @cached_property
    def stored(self) -> Mapping[str, Progress]:
        """By connector, as it was when the row was written. Read on demand: most requests only carry it along."""
        return adapter(dict[str, Progress]).validate_json(zlib.decompress(self.body)) if self.body else {}

    def progress(self, connector: str, cluster: "ProgressPart") -> Progress | None:
        """The progress of a connector, as of the last measurement of its `cluster`.

        One that could not be measured when the row was written keeps the time of which its numbers are.
        """
        one = self.stored.get(connector)
        if one and cluster.measured_at and one.measured_at == self.measured_at:
            return replace(one, measured_at=max(one.measured_at, cluster.measured_at))
        return one

    def says(self, measured: Mapping[str, Progress], at: datetime) -> bool:
        """Whether the row says already what a measurement `at` that time has found."""
        return self.stored.keys() == measured.keys() and all(
            self._says(self.stored[name], one, at) for name, one in measured.items()
        )

    def _says(self, stored: Progress, one: Progress, at: datetime) -> bool:
        was_measured, is_measured = stored.measured_at == self.measured_at, one.measured_at == at
        same = replace(one, measured_at=stored.measured_at) if is_measured else one
        return was_measured == is_measured and same == stored


@dataclass(frozen=True, kw_only=True)
class ClusterProgress:
    """All rows of a cluster: those of its connectors by part, and the last look at it."""

    parts: Mapping[str, ProgressPart] = field(default_factory=dict)
    cluster: ProgressPart = ProgressPart()

    @cached_property
    def connectors(self) -> Mapping[str, Progress]:
        """Progress by connector, as of the last measurement."""
        found = ((name, part.progress(name, self.cluster)) for part in self.parts.values() for name in part.stored)
        return {name: one for name, one in found if one}


class ProgressStore:
    """Progress by Connect cluster."""

    @staticmethod
    def key(of: tuple[str, str | None]) -> Key:
        """The key of the row of a cluster's connector, or, without a connector, of the last look at the cluster."""
        cluster_id, connector = of
        return ProgressRow, cluster_id, _LOOK if connector is None else _part(connector)

    @staticmethod
    def found(row: ProgressRow | None) -> ProgressPart:
        """What the row of a read across tables says; nothing when there was none."""
        if row is None:
            return ProgressPart()
        if row.part == _LOOK:
            look = ProgressLook(at=row.measured_at, failure=row.failure, throughput=row.throughput, lag=_whole(row.lag))
            look = replace(look, left_out=_whole(row.left_out) or 0)
            return ProgressPart(look=look, measured_at=row.succeeded_at)
        return ProgressPart(body=row.body, measured_at=row.measured_at)

    def read(self, cluster_id: str) -> ClusterProgress:
        """The progress of all connectors of a cluster: one call. Raises StoreUnavailable."""
        names = [*map(str, range(PARTS)), _LOOK]
        with store_errors():
            *parts, cluster = map(self.found, read_rows(*((ProgressRow, cluster_id, name) for name in names)))
            return ClusterProgress(parts=dict(zip(names, parts, strict=False)), cluster=cluster)

    def looks(self, cluster_ids: Sequence[str]) -> Mapping[str, ProgressLook]:
        """The last look at each of these clusters that was measured: one call for each hundred."""
        with store_errors():
            parts = map(self.found, read_rows(*(self.key((one, None)) for one in cluster_ids)))
            return {one: part.look for one, part in zip(cluster_ids, parts, strict=True) if part.look}

    def write(
        self, cluster_id: str, measured: Mapping[str, Progress], look: ProgressLook, former: ClusterProgress
    ) -> None:
        """Store a measurement: the look, and those rows that say something else in `former`, which was read before.

        A row that a later measurement has written stays as it is. Raises StoreUnavailable.
        """
        parts: dict[str, dict[str, Progress]] = {part: {} for part, row in former.parts.items() if row.stored}
        for name in sorted(measured):
            parts.setdefault(_part(name), {})[name] = measured[name]
        with store_errors():
            for part, entries in parts.items():
                row = former.parts.get(part, ProgressPart())
                fresh = row.measured_at and look.at - row.measured_at < REWRITTEN_AFTER
                if not fresh or not row.says(entries, look.at):
                    text = adapter(dict[str, Progress]).dump_json(entries, exclude_defaults=True)
                    _put(ProgressRow(cluster_id, part, body=zlib.compress(text, 6)), look.at)
            of_cluster = ProgressRow(cluster_id, _LOOK, throughput=look.throughput, lag=look.lag)
            of_cluster.left_out, of_cluster.succeeded_at = look.left_out, look.at
            _put(of_cluster, look.at)

    def write_failure(self, cluster_id: str, failure: str, now: datetime) -> None:
        """Store that the cluster could not be measured. What was measured before stays. Raises StoreUnavailable."""
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
    """What a later measurement has written stays."""
    try:
        yield
    except (PutError, UpdateError) as error:
        # Also the second attempt of a write whose reply was lost ends here.
        if failure_code(error) != "ConditionalCheckFailedException":
            raise
