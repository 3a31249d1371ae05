"""Starts sinks so that those of two dialects of SQL do not make their tables at the same time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chalicelib.domain.connectors.sink_starts import MAKES_TABLES_FOR, SinkStart
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.table import TableName
from chalicelib.errors import Invalid, StoreUnavailable, TimedOut, Unavailable
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.stores.connectors.sink_starts import SinkStarts

_TABLE_SECONDS, _LOOK_SECONDS = 8.0, 3.0
_PAUSE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkStarter:
    store: SinkStarts
    clients: ClientFactory
    clock: Clock
    sleep: Callable[[float], None]

    def start(
        self,
        delivery: Delivery,
        destination: Destination,
        dialect: str,
        act: Callable[[], object],
        wait: Deadline,
        deadline: Deadline,
    ) -> bool:
        """Start the sink by `act`; False when sinks of another dialect have their time until `wait` has passed.

        Where the cluster has others, it stays a few seconds to see the tables of the delivery: then they need not wait.
        """
        begun = self._begin(delivery, dialect, wait)
        if begun is None:
            return False
        act()
        if begun.has_others and begun.alone and self._are_made(delivery, destination, deadline):
            self._end(begun)
        return True

    def others(self, cluster_id: str, dialect: str) -> frozenset[str]:
        """Other dialects that were ever started on the cluster."""
        return self.store.dialects(cluster_id) - {dialect}

    def _begin(self, delivery: Delivery, dialect: str, wait: Deadline) -> SinkStart | None:
        while True:
            now = self.clock()
            begun = self.store.take(delivery.connect_cluster_id, dialect, delivery.id, now, now + MAKES_TABLES_FOR)
            if begun is not None or wait.passed:
                return begun
            self.sleep(_PAUSE)

    def _are_made(self, delivery: Delivery, destination: Destination, deadline: Deadline) -> bool:
        until, writing = deadline.within(_TABLE_SECONDS), delivery.table_writing
        while writing.evolves and not self._see(destination, writing.targets, until):
            if until.passed:
                return False
            self.sleep(_PAUSE)
        return True

    def _see(self, destination: Destination, targets: Sequence[TableName], until: Deadline) -> bool:
        database = self.clients.database(destination.endpoint)
        try:
            return len(database.target_tables(targets, until.within(_LOOK_SECONDS))) == len(targets)
        except (Unavailable, TimedOut, Invalid):
            return False

    def _end(self, begun: SinkStart) -> None:
        try:
            self.store.end(begun, self.clock())
        except StoreUnavailable:
            return  # it ends by itself
