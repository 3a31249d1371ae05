"""What a client of a relational database gives, whatever the kind: every call is bounded and read-only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

DISCOVERY_BOUND = 500
"""At most so many tables in one discovery (specification, section 8)."""

AddressPolicy = Callable[[str], Sequence[str]]
"""Takes a host and gives its IP addresses, each of them allowed and each to be tried in turn.

Raises Invalid when one of them may not be contacted, Unavailable when the name does not resolve.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSecrets:
    """The secret part of a database connection. `ca_certificate` is PEM text; null trusts the installation's bundle."""

    password: Secret
    ca_certificate: str | None = None


@dataclass(frozen=True, slots=True)
class TableListing:
    """Tables in the order of schema and name, as their provider knows them; `truncated`: a bound left some out."""

    tables: tuple[Any, ...]
    truncated: bool


class Database(Protocol):
    """Facts are of types that only the provider of the same kind knows (`domain/providers`).

    All raise DatabaseFailure when the server cannot be read, and Invalid when the policy forbids its address."""

    def test(self, address: DatabaseAddress, secrets: DatabaseSecrets, deadline: Deadline) -> TestResult:
        """Tries the connection step by step. What fails is in the result; nothing is raised."""
        ...

    def server_facts(
        self, address: DatabaseAddress, secrets: DatabaseSecrets, tables: Sequence[TableName], deadline: Deadline
    ) -> Any:
        """Reads what readiness is judged by, for these tables."""
        ...

    def list_tables(
        self, address: DatabaseAddress, secrets: DatabaseSecrets, deadline: Deadline, bound: int = DISCOVERY_BOUND
    ) -> TableListing:
        """Reads the tables that can be captured, ordered by schema and name, at most `bound`."""
        ...

    def target_facts(
        self, address: DatabaseAddress, secrets: DatabaseSecrets, targets: Sequence[TableName], deadline: Deadline
    ) -> Any:
        """Reads what a delivery into these tables would meet."""
        ...
