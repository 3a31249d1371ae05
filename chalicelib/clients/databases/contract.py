"""What the client of a relational database does, whatever the kind. Every call is bounded, and all but `drop_slot` are
read-only.

A new kind of database is one more implementation of `Database` in a package beside `postgresql`, with its errors as
`DatabaseFailure`; the wiring registers it under its `DatabaseProvider`. An object store is no `Database`: its client
gets a contract of its own, is made for an `OpenedEndpoint` in the same way, and its `test` gives a `TestResult` too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline

DISCOVERY_BOUND = 500
"""Tables of one discovery (specification, section 8)."""


@dataclass(frozen=True, slots=True)
class TableListing:
    """Tables in the order of schema and name; `truncated` when there are more than a bound allows."""

    tables: tuple[Any, ...]
    truncated: bool


class SlotState(StrEnum):
    """What a client found when it was to drop a replication slot."""

    GONE = "gone"
    IN_USE = "in use"
    NOT_OURS = "not ours"


class Database(Protocol):
    """A client of one database. Each call opens a connection of its own, to addresses that were checked.

    All but `test` raise DatabaseFailure when the server cannot be read. Only the provider of the same kind knows the
    types of facts and of listed tables (see `domain/providers/contract.py`); all others pass them on.
    """

    def test(self, deadline: Deadline) -> TestResult:
        """Tries the connection step by step. What fails is in the result; nothing is raised."""

    def server_facts(self, tables: Sequence[TableName] | None, deadline: Deadline) -> Any:
        """Reads what readiness is judged by, for these tables; None: for those that a discovery finds."""

    def list_tables(self, deadline: Deadline, bound: int = DISCOVERY_BOUND) -> TableListing:
        """Reads the tables that can be captured, ordered by schema and name, at most `bound`."""

    def capture_facts(self, plans: Sequence[Any], deadline: Deadline) -> Any:
        """Reads whether these deployed captures still work. `plans` are the capture provider's own."""

    def target_facts(self, targets: Sequence[TableName], deadline: Deadline) -> Any:
        """Reads what a delivery into these tables would find."""

    def drop_slot(self, name: str, deadline: Deadline) -> SlotState:
        """Drops a replication slot of this database as soon as nothing reads from it; waits for that until the
        deadline. `GONE` also when there was none. The one call that changes a database: only the deletion of the
        pipeline that owns the slot makes it, and a slot that nobody drops fills the disk of the server.
        """


MakeDatabase = Callable[[OpenedEndpoint[DatabaseAddress]], Database]
"""Makes the client of one database. Its secrets are `password`, and perhaps `ca_certificate` (PEM text)."""
