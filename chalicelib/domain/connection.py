"""A connection: an address with credentials that sources and destinations share."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.object_store import ObjectStoreProvider
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.domain.usage import UsedBy
from chalicelib.errors import Conflict, Invalid

MAX_USERS = 25
"""Sources and destinations of one connection: a change of it is one transaction of at most 100 items."""


class Capability(StrEnum):
    """What a connection may be used for."""

    SOURCE = "SOURCE"
    DESTINATION = "DESTINATION"


class ConnectionCategory(StrEnum):
    """The kind of system behind a connection."""

    DATABASE = "DATABASE"
    OBJECT_STORAGE = "OBJECT_STORAGE"


SystemProvider = DatabaseProvider | ObjectStoreProvider
"""The kinds of systems that connections lead to."""

CATEGORIES: Mapping[type[StrEnum], ConnectionCategory] = {
    DatabaseProvider: ConnectionCategory.DATABASE,
    ObjectStoreProvider: ConnectionCategory.OBJECT_STORAGE,
}
"""By the enumeration that the provider belongs to."""

CAPABILITIES: Mapping[ConnectionCategory, tuple[Capability, ...]] = {
    ConnectionCategory.DATABASE: tuple(Capability),
    ConnectionCategory.OBJECT_STORAGE: (Capability.DESTINATION,),
}
"""All that the systems of each category can do."""

NEEDED: Mapping[str, Capability] = {"source": Capability.SOURCE, "destination": Capability.DESTINATION}
"""What each type of user needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionReference:
    """A connection that a request names. `provider` is the one that it expects, None for any."""

    id: str
    provider: SystemProvider | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(RegisteredSystem[SystemAddress]):
    """A connection. `used_by` are all sources and destinations that point at it: each has a copy of its address and of
    its credentials.
    """

    capabilities: tuple[Capability, ...]
    used_by: tuple[UsedBy, ...] = ()

    @property
    def category(self) -> ConnectionCategory:
        return category_of(self.address.provider)

    @property
    def capability_names(self) -> str:
        """The capabilities as one text, by which lists are filtered."""
        return " ".join(self.capabilities)

    def require_capability(self, noun: str) -> None:
        """Raise Invalid when it cannot be used for this type of resource."""
        if NEEDED[noun] not in self.capabilities:
            message = f"This connection cannot be used for a {noun}: add {NEEDED[noun]} to its capabilities."
            raise Invalid.at("body", "connection_id", type_="capability_missing", message=message)

    def require_provider(self, provider: SystemProvider | None) -> None:
        """Raise Invalid when it is of another provider than a request expects; None: any."""
        if {provider} - {None, self.address.provider}:
            message = f"The connection is a {self.address.provider} one. Leave the provider out, or give this one."
            raise Invalid.at("body", "provider", type_="other_provider", message=message)

    def with_user(self, user: UsedBy) -> "Connection":
        """The connection with this user, or with its present name. Raises Conflict when there is no room for it."""
        if any(known.id == user.id for known in self.used_by):
            return replace(self, used_by=tuple(user if known.id == user.id else known for known in self.used_by))
        if len(self.used_by) >= MAX_USERS:
            raise Conflict(
                f"{MAX_USERS} sources and destinations use this connection, which is the limit. "
                "Register another connection to the same place."
            )
        return replace(self, used_by=(*self.used_by, user))

    def without_user(self, user_id: str) -> "Connection":
        return replace(self, used_by=tuple(user for user in self.used_by if user.id != user_id))

    def users_that_need(self, capabilities: set[Capability]) -> tuple[UsedBy, ...]:
        """Those that need one of these capabilities."""
        return tuple(user for user in self.used_by if NEEDED[user.type] in capabilities)


def category_of(provider: SystemProvider) -> ConnectionCategory:
    return CATEGORIES[type(provider)]


def capabilities_of(provider: SystemProvider) -> tuple[Capability, ...]:
    """All that a connection of this provider can be used for."""
    return CAPABILITIES[category_of(provider)]
