"""How the connectors of each Connect cluster moved when they were last measured.

The connectors are spread over a fixed number of rows by a hash of their names, so that the row of one connector can be
read together with whatever else a request needs. One more row says when the cluster was last measured, and why that
failed. Rows of a cluster that is not measured any more expire.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from pynamodb.attributes import BinaryAttribute, NumberAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import PutError

from chalicelib.domain.monitoring.progress import Progress, ProgressLook
from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, failure_code, meta

PARTS = 16
"""625 of 10,000 connectors in a row are about 50 KB; a row holds 400 KB at the most."""

KEPT_FOR = timedelta(days=7)
_LOOK = "look"


class ProgressRow(Table):
    """`0` ... `15` and `look` of one cluster. `body` is compressed JSON: progress by connector."""

    Meta = meta("progress")  # type: ignore[assignment]
    cluster_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    measured_at = UTCDateTimeAttribute()
    failure = UnicodeAttribute(null=True)
    throughput = NumberAttribute(null=True)
    lag = NumberAttribute(null=True)
    left_out = NumberAttribute(null=True)
    body = BinaryAttribute(null=True, legacy_encoding=False)
    expires_at = TTLAttribute()


@dataclass(frozen=True, kw_only=True)
class ProgressPart:
    """What a row says: the progress of some connectors by name, or the last look at their cluster."""

    body: bytes | None = None
    look: ProgressLook | None = None

    @cached_property
    def measured(self) -> Mapping[str, Progress]:
        """Read on demand: most requests only carry it along."""
        return adapter(dict[str, Progress]).validate_json(zlib.decompress(self.body)) if self.body else {}


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
            return ProgressPart(look=replace(look, left_out=_whole(row.left_out) or 0))
        return ProgressPart(body=row.body)

    def read(self, cluster_id: str) -> Mapping[str, Progress]:
        """The progress of all connectors of a cluster: one call. Raises StoreUnavailable."""
        with store_errors():
            rows = read_rows(*((ProgressRow, cluster_id, str(number)) for number in range(PARTS)))
            return {name: one for row in rows for name, one in self.found(row).measured.items()}

    def looks(self, cluster_ids: Sequence[str]) -> Mapping[str, ProgressLook]:
        """The last look at each of these clusters that was measured: one call for each hundred."""
        with store_errors():
            parts = map(self.found, read_rows(*(self.key((one, None)) for one in cluster_ids)))
            return {one: part.look for one, part in zip(cluster_ids, parts, strict=True) if part.look}

    def write(
        self, cluster_id: str, measured: Mapping[str, Progress], look: ProgressLook, former: Iterable[str] = ()
    ) -> None:
        """Store a measurement: the rows that it has connectors of, and those of the `former` connectors.

        A row that a later measurement has written stays as it is. Raises StoreUnavailable.
        """
        parts: dict[str, dict[str, Progress]] = {_part(name): {} for name in former}
        for name in sorted(measured):
            parts.setdefault(_part(name), {})[name] = measured[name]
        with store_errors():
            for part, entries in parts.items():
                text = adapter(dict[str, Progress]).dump_json(entries, exclude_defaults=True)
                _put(ProgressRow(cluster_id, part, body=zlib.compress(text, 6)), look.at)
            self._put_look(cluster_id, look)

    def write_failure(self, cluster_id: str, failure: str, now: datetime) -> None:
        """Store that the cluster could not be measured. What was measured before stays. Raises StoreUnavailable."""
        with store_errors():
            self._put_look(cluster_id, ProgressLook(at=now, failure=failure))

    @staticmethod
    def _put_look(cluster_id: str, look: ProgressLook) -> None:
        row = ProgressRow(cluster_id, _LOOK, failure=look.failure, throughput=look.throughput, lag=look.lag)
        row.left_out = look.left_out
        _put(row, look.at)


def _part(connector: str) -> str:
    return str(zlib.crc32(connector.encode()) % PARTS)


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _put(row: ProgressRow, now: datetime) -> None:
    row.measured_at, row.expires_at = now, now + KEPT_FOR
    older = ProgressRow.measured_at.does_not_exist() | (ProgressRow.measured_at < now)
    try:
        row.save(condition=older)
    except PutError as error:
        # Also the second attempt of a write whose reply was lost ends here.
        if failure_code(error) != "ConditionalCheckFailedException":
            raise
