"""What people register: the fields that clusters, connections, sources and destinations have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Generic, Self, TypeVar

from chalicelib.domain.addresses import Address, SystemAddress
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.labels import Labelled

A = TypeVar("A", bound=Address)
S = TypeVar("S", bound=SystemAddress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered(Labelled, Generic[A]):
    """Anything registered, at an address of kind `A`. `version` counts the changes that people made, `revision` all
    writes.
    """

    id: str
    address: A
    credentials: Credentials
    health: HealthRecord = field(default_factory=HealthRecord)
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def endpoint(self) -> Endpoint[A]:
        """What it connects to."""
        return Endpoint(self.address, self.credentials)

    def as_of(self, now: datetime) -> Self:
        """The same with the health that is known now: see `HealthRecord.as_of`."""
        return replace(self, health=self.health.as_of(now))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSystem(Registered[S], Generic[S]):
    """A system whose connection is tested: a source, a destination, or a connection that they share."""

    UNTESTED: ClassVar[Mapping[str, Any]] = {"health": HealthRecord(), "last_tested_at": None, "last_test": None}
    """The fields that tests of the connection fill in, as they are before the first test."""
    UNDISCOVERED: ClassVar[Mapping[str, Any]] = UNTESTED
    """The fields that tests and discovery fill in, as they are before both."""

    description: str | None
    last_tested_at: datetime | None = None
    last_test: TestResult | None = None

    def invalidated_by(self, endpoint: Endpoint[S]) -> Mapping[str, Any]:
        """The fields that no longer hold for this endpoint, with their first values.

        Another user name or TLS mode, or a new password, invalidates tests; another place invalidates discovery too.
        """
        if endpoint.address.identity != self.address.identity:
            return self.UNDISCOVERED
        return {} if endpoint == self.endpoint else self.UNTESTED


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedSystem(RegisteredSystem[S], Generic[S]):
    """A system that data comes from or goes to. With a `connection_id`, `address` and `credentials` are copies of those
    of that connection: a change of it writes them too.
    """

    environment: str | None
    connection_id: str | None = None
