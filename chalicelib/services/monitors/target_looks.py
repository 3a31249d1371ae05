"""Looks at the tables that deliveries write to: whether rows that were delivered are still there, and whether another
session is in the way of a delivery that does not move.

What was lost is stored before the tables are remembered as they are now: a crash in between finds it again.
"""

import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.lock_waits import LockWait, may_wait, waits_of
from chalicelib.domain.monitoring.progress import is_known
from chalicelib.domain.monitoring.target_losses import TargetLosses, after_looks
from chalicelib.domain.monitoring.target_tables import (
    MAX_TABLES,
    Deletes,
    Suspicions,
    TableLoss,
    Tables,
    TargetMemory,
    after_look,
    by_name,
    judged_by_records,
    losses,
    rows_to_count,
    suspicions,
    undecided,
)
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.table import TableName
from chalicelib.errors import Invalid, TimedOut, Unavailable, UnreadableRow, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import get_logger
from chalicelib.kit.pages import Page
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.known_progress import KnownProgress, known_progress, progress_rows
from chalicelib.services.incidents import IncidentService
from chalicelib.stores.documents import batch_results
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores

_LOCK_SECONDS, _READ_SECONDS, _COUNT_SECONDS, _KAFKA_SECONDS = 4.0, 6.0, 6.0, 4.0
_UNREADABLE = (Unavailable, TimedOut, Invalid)

_Memories = Sequence[TargetMemory | UnreadableRow | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """A look at the tables of one delivery. `before` are those of the look before, `delivered` are records. `postponed`
    are tables about which nothing can be said now.
    """

    delivery: Delivery
    memory: TargetMemory | None
    seen: Tables
    before: Tables
    delivered: int | None
    deletes: Deletes
    suspected: Suspicions = field(default_factory=dict)
    postponed: frozenset[TableName] = frozenset()

    def kept(self, counted: Mapping[TableName, int]) -> frozenset[TableName]:
        return self.postponed | undecided(self.before, self.seen, self.suspected, counted)

    def found(self, counted: Mapping[TableName, int], at: datetime) -> tuple[TableLoss, ...]:
        return losses(self.before, self.seen, self.suspected, counted, self.deletes, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLooks:
    resources: ResourceStores
    monitoring: MonitoringStores
    incidents: IncidentService
    clients: ClientFactory

    def known(self, destination_id: str) -> TargetLosses | None:
        """What deliveries have lost there by the looks until now."""
        return self.monitoring.target_losses.find(destination_id)

    def look(
        self,
        destination: Destination,
        page: Page[Delivery],
        known: TargetLosses | None,
        at: datetime,
        deadline: Deadline,
    ) -> TargetLosses | None:
        """Look at the tables of the running deliveries, of all that the destination has; what was lost by now.

        A delivery whose mappings are being changed is looked at later. A table that cannot be judged now is compared
        again by the next look. What was lost by a delivery that cannot be read stays.
        """
        accepted, deliveries = self._accepted(destination, known), page.items
        running = [one for one in deliveries if one.desired_state is DesiredState.RUNNING and not one.open_operation]
        looks: Sequence[_Look] = []
        counted: Mapping[TableName, int] = {}
        memories, progress = self._remembered(running)
        # First: while a table is locked, the look at the tables may take all of the time.
        lock_waits = self._lock_waits(destination, running, progress, at, deadline)
        try:
            looks = self._read(destination, running, memories, progress, accepted, at, deadline)
            counted = self._count(destination, looks, deadline)
        except _UNREADABLE as error:
            get_logger().info("tables were not read", extra={"destination_id": destination.id, "failure": error.code})
        found = {look.delivery.id: look.found(counted, at) for look in looks}
        ids = [*(delivery.id for delivery in deliveries), *page.unreadable]
        after = after_looks(known, destination.id, found, ids, accepted, at, lock_waits)
        try:
            stored = self.monitoring.target_losses.write(known, after)
        except WriteConflict:  # another look was faster
            return self.known(destination.id)
        self._remember(looks, counted, at)
        self._log(destination, found)
        return stored

    def _accepted(self, destination: Destination, known: TargetLosses | None) -> Collection[str]:
        """The deliveries whose losses a person has accepted by resolving their incidents."""
        if known is None or not known.losses:
            return ()
        return self.incidents.dismissed(origin_of("destination", destination.id), ConditionCode.TARGET_REPLACED)

    def _remembered(self, running: Sequence[Delivery]) -> tuple[_Memories, KnownProgress]:
        """The tables of each delivery as of the look before, and how the deliveries move: one call."""
        if not running:
            return [], KnownProgress()
        rows = progress_rows(running)
        entities = batch_results(
            *((self.monitoring.target_tables, delivery.id) for delivery in running),
            *((self.monitoring.progress, row) for row in rows),
        )
        return entities[: len(running)], known_progress(rows, entities[len(running) :])

    def _lock_waits(
        self,
        destination: Destination,
        running: Sequence[Delivery],
        progress: KnownProgress,
        at: datetime,
        deadline: Deadline,
    ) -> Mapping[str, LockWait]:
        """Who is in the way of the deliveries that do not move, by their ids. Of the others nothing is asked."""
        targets = {one.id: one.table_writing.targets for one in running if may_wait(progress.of(one), at)}
        tables = list(islice((table for own in targets.values() for table in own), MAX_TABLES))
        if not tables:
            return {}
        try:
            database = self.clients.database(destination.endpoint)
            return waits_of(database.lock_waits(tables, at, deadline.within(_LOCK_SECONDS)), targets)
        except _UNREADABLE as error:
            get_logger().info("locks were not read", extra={"destination_id": destination.id, "failure": error.code})
            return {}

    def _read(
        self,
        destination: Destination,
        running: Sequence[Delivery],
        memories: _Memories,
        progress: KnownProgress,
        accepted: Collection[str],
        at: datetime,
        deadline: Deadline,
    ) -> Sequence[_Look]:
        if not running:
            return []
        targets = list(
            islice((target for delivery in running for target in delivery.table_writing.targets), MAX_TABLES)
        )
        database = self.clients.database(destination.endpoint)
        seen = by_name(database.target_tables(targets, deadline.within(_READ_SECONDS)))
        read = frozenset(targets)
        looks = []
        for delivery, memory in zip(running, memories, strict=True):
            if isinstance(memory, UnreadableRow):
                continue  # begun anew, a look would not find what was lost since the one that has written it
            if read.issuperset(delivery.table_writing.targets):
                measured = progress.of(delivery)
                numbers = (measured.records, measured.end) if measured and is_known(measured, at) else (None, None)
                is_new = memory is None or delivery.id in accepted
                look = _begun(delivery, memory, seen, numbers, compares=not is_new)
                looks.append(self._with_end(look, deadline))
        return looks

    def _with_end(self, look: _Look, deadline: Deadline) -> _Look:
        """The look, by what Kafka says now where it seems that somebody else has deleted rows: the last measurement may
        be older than the records that have deleted them.
        """
        deleted = judged_by_records(look.before, look.suspected)
        if not look.deletes.enabled or not deleted:
            return look
        end = self._end(look.delivery, deadline)
        return _compared(look, end) if end is not None else _postponed(look, deleted)

    def _end(self, delivery: Delivery, deadline: Deadline) -> int | None:
        """The end of the delivery's topics now, all added; None when it cannot be read."""
        pipeline = self.resources.pipelines.find_readable(delivery.pipeline_id)
        stream = self.resources.streams.find_readable(pipeline.stream_cluster_id) if pipeline else None
        if stream is None:
            return None
        try:
            with closing(self.clients.kafka(stream)) as kafka:
                topics = kafka.offsets(delivery.topics, {}, deadline.within(_KAFKA_SECONDS)).topics
        except _UNREADABLE:
            return None
        partitions = [topics.get(topic) for topic in delivery.topics]
        return sum(one.end for listed in partitions if listed for one in listed.values()) if all(partitions) else None

    def _count(self, destination: Destination, looks: Sequence[_Look], deadline: Deadline) -> Mapping[TableName, int]:
        bounds: dict[TableName, int] = {}
        for look in looks:
            bounds |= rows_to_count(look.before, look.seen, look.suspected)
        if not bounds:
            return {}
        try:
            return self.clients.database(destination.endpoint).count_rows(bounds, deadline.within(_COUNT_SECONDS))
        except _UNREADABLE:
            return {}

    def _remember(self, looks: Sequence[_Look], counted: Mapping[TableName, int], at: datetime) -> None:
        for look in looks:
            memory, seen = look.memory, look.seen.values()
            after = after_look(
                memory, look.delivery.id, seen, look.kept(counted), look.delivered, at, basis=_basis(look.delivery)
            )
            with suppress(WriteConflict):  # another look was faster
                self.monitoring.target_tables.write(memory, after)

    @staticmethod
    def _log(destination: Destination, found: Mapping[str, Collection[TableLoss]]) -> None:
        kinds = {key: sorted({loss.kind.value for loss in lost}) for key, lost in found.items() if lost}
        if kinds:
            details = {"destination_id": destination.id, "deliveries": kinds}
            get_logger().warning("target tables are not as they were", extra=details)


def _begun(
    delivery: Delivery,
    memory: TargetMemory | None,
    seen: Tables,
    numbers: tuple[int | None, int | None],
    *,
    compares: bool,
) -> _Look:
    """The look at what was seen of a delivery's tables. What a person has accepted is compared with nothing."""
    targets = delivery.table_writing.targets
    delivered, end = numbers
    remembered = by_name(memory.tables) if memory and compares else {}
    look = _Look(
        delivery=delivery,
        memory=memory,
        seen={name: seen[name] for name in targets if name in seen},
        before={name: remembered[name] for name in targets if name in remembered},
        delivered=delivered,
        deletes=Deletes(enabled=delivery.table_writing.deletes),
    )
    return _compared(look, end)


def _compared(look: _Look, end: int | None) -> _Look:
    """The look with what the tables suggest, when the delivery's topics end there."""
    memory, records = look.memory, None
    # One look back is not enough: a deletion may be reported to the server's statistics after Kafka was asked.
    if memory and end is not None and len(memory.delivered) > 1 and memory.basis == _basis(look.delivery):
        records = max(0, end - memory.delivered[0])
    deletes = replace(look.deletes, records=records)
    return replace(look, suspected=suspicions(look.before, look.seen, deletes), deletes=deletes)


def _postponed(look: _Look, tables: frozenset[TableName]) -> _Look:
    """The look without a word about these tables: the next one compares them again."""
    suspected = {name: kind for name, kind in look.suspected.items() if name not in tables}
    return replace(look, suspected=suspected, postponed=tables)


def _basis(delivery: Delivery) -> int:
    """A checksum of the topics: numbers of records of other topics cannot be compared."""
    return zlib.crc32("\n".join(sorted(delivery.topics)).encode())
