"""The contract of the clients of relational databases. Every call is bounded, and all but `release` and
`continue_capture` are read-only.

A new kind of database is an implementation of `Database` in a package beside `postgresql`, with its errors as
`DatabaseFailure`; the wiring registers it under its `DatabaseProvider`. The client of a target that is no database is a
`TargetClient` only.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from chalicelib.clients.targets import TargetClient
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.diagnosis.cause import CatalogName
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.lock_waits import LockWait
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.release import ReleaseState, SourceRelease
from chalicelib.domain.source import DISCOVERY_BOUND
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline


@dataclass(frozen=True, slots=True)
class TableListing:
    """Tables, ordered by schema and name. `truncated`: there are more than the bound, or than have so many columns.

    `server_identity` is the same under every name and address of the server; None where it does not tell, or where
    nobody needs it.
    """

    tables: tuple[Any, ...]
    truncated: bool
    server_identity: str | None = None


class Database(TargetClient, Protocol):
    """A client of one database, as source and as destination. Each call opens a new connection, to checked addresses.

    All but `test` raise DatabaseFailure when the server cannot be read. Only the provider of the same kind knows the
    types of facts and of listed tables (see `domain/providers/contract.py`); other code passes them on.
    """

    def server_facts(self, tables: Sequence[TableName] | None, deadline: Deadline) -> Any:
        """Reads the facts for readiness, of these tables; None: of those that a discovery lists."""

    def list_tables(self, deadline: Deadline, bound: int = DISCOVERY_BOUND) -> TableListing:
        """Reads the tables that can be captured, ordered by schema and name, at most `bound`."""

    def capture_facts(self, plans: Sequence[Any], deadline: Deadline) -> Any:
        """Reads the facts about deployed captures. `plans` are those of the capture provider."""

    def target_facts(self, targets: Sequence[TableName], deadline: Deadline) -> Any:
        """Reads the facts about target tables that a delivery depends on."""

    def target_tables(self, targets: Sequence[TableName], deadline: Deadline) -> Sequence[WatchedTable]:
        """Reads the state of target tables from the catalogue, without those that do not exist."""

    def lock_waits(self, targets: Sequence[TableName], at: datetime, deadline: Deadline) -> Sequence[LockWait]:
        """Reads for which locks other sessions of this user wait on the target tables, and who is in the way. `at` is
        now, for what is found.
        """

    def count_rows(self, bounds: Mapping[TableName, int], deadline: Deadline) -> Mapping[TableName, int]:
        """Counts the rows of each of these tables, up to its bound, without those that cannot be counted in time."""

    def catalog_names(
        self, tables: Sequence[TableName], names: Collection[str], deadline: Deadline
    ) -> Sequence[CatalogName]:
        """Reads which of these names are constraints or columns of these tables."""

    def release(self, release: SourceRelease, deadline: Deadline) -> ReleaseState:
        """Releases a resource of the source when it is no longer used, and waits for that until the deadline.

        `RELEASED` also when it did not exist. Only the deletion of a pipeline calls it.
        """

    def continue_capture(self, plan: Any, deadline: Deadline) -> Any | None:
        """The position at which a capture that has lost changes can go on, for the provider; what it reads from is made
        where the server has it no more. It may be repeated. Only a person who accepts the loss causes it.

        None when there is no such position: something else reads from it until the deadline, for example.
        """


DatabaseFactory = Callable[[OpenedEndpoint[DatabaseAddress]], Database]
"""Makes the client of one database. The secrets are `password` and, optionally, `ca_certificate` (PEM text)."""
