"""Connections, and tests of connections that are not registered."""

from typing import Annotated, Self

from pydantic import AliasPath, Discriminator, Field, Tag

from chalicelib.api.contract.addressed import DATABASE, OBJECT_STORE, kind_of
from chalicelib.api.contract.common import Input, Lines, Name, Output, Timestamp
from chalicelib.api.contract.databases import ConnectedDatabaseInput, DatabaseConfig, DatabaseInput, LastTest
from chalicelib.api.contract.labels import LABELS, Labels
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.object_store import ConnectedObjectStoreInput, ObjectStoreConfig, ObjectStoreInput
from chalicelib.api.contract.registered import RegisteredOutput
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.connection import (
    Capability,
    ConnectionCategory,
    ConnectionReference,
    SystemProvider,
    capabilities_of,
)
from chalicelib.domain.credentials import Secrets
from chalicelib.domain.endpoint import OpenedEndpoint, require_needed_secrets
from chalicelib.errors import Invalid
from chalicelib.services.connections import ConnectionChange, ConnectionInput


class ConnectionFields(Input):
    """What people say about a connection beside its address. A model has the fields of its last base first."""

    name: Name
    description: Lines | None = None
    labels: Labels = LABELS
    capabilities: list[Capability] | None = Field(
        default=None, min_length=1, max_length=len(Capability), description="All that its provider can do by default."
    )

    def connection_input(self, address: SystemAddress, secrets: Secrets) -> ConnectionInput:
        """The input of the service. Raises Invalid for a capability that the provider does not have."""
        possible = capabilities_of(address.provider)
        chosen = frozenset(self.capabilities or possible)
        if chosen - set(possible):
            message = f"A connection of this provider can be used as {', '.join(possible)} only."
            raise Invalid.at("body", "capabilities", type_="not_with_provider", message=message)
        return ConnectionInput(
            name=self.name,
            description=self.description,
            labels=self.labels,
            capabilities=tuple(capability for capability in Capability if capability in chosen),
            address=address,
            secrets=secrets,
        )


class DatabaseConnectionBody(DatabaseInput, ConnectionFields):
    """The address of a database with credentials, for sources and destinations to share."""

    def to_input(self) -> ConnectionInput:
        return self.connection_input(self.address(), self.secrets())


class ObjectStoreConnectionBody(ObjectStoreInput, ConnectionFields):
    """An object store with credentials, for destinations to share."""

    def to_input(self) -> ConnectionInput:
        return self.connection_input(self.address(), self.secrets())


ConnectionBody = Annotated[
    Annotated[DatabaseConnectionBody, Tag(DATABASE)] | Annotated[ObjectStoreConnectionBody, Tag(OBJECT_STORE)],
    Discriminator(kind_of),
]
"""An address with credentials to share."""


class DatabaseTestInput(ConnectedDatabaseInput):
    """What to test: a registered connection, or a database that is not registered."""

    def to_input(self) -> OpenedEndpoint[SystemAddress] | ConnectionReference:
        return tested(self.address(), self.secrets())


class ObjectStoreTestInput(ConnectedObjectStoreInput):
    """What to test: a registered connection, or an object store that is not registered."""

    def to_input(self) -> OpenedEndpoint[SystemAddress] | ConnectionReference:
        return tested(self.address(), self.secrets())


ConnectionTestInput = Annotated[
    Annotated[DatabaseTestInput, Tag(DATABASE)] | Annotated[ObjectStoreTestInput, Tag(OBJECT_STORE)],
    Discriminator(kind_of),
]
"""What to test."""


def tested(
    address: SystemAddress | ConnectionReference, secrets: Secrets
) -> OpenedEndpoint[SystemAddress] | ConnectionReference:
    """Raises Invalid when a secret is missing."""
    if isinstance(address, ConnectionReference):
        return address
    endpoint = OpenedEndpoint.unsaved(address, secrets)
    require_needed_secrets(address, endpoint.secrets.keys())
    return endpoint


class ConnectionQuery(ListQuery):
    """What the connections of a list can be used for."""

    capability: Capability | None = None


class UsedByOutput(Output):
    """A source or a destination that uses the connection."""

    type: str
    id: str
    name: str


class OutdatedConnectorOutput(UsedByOutput):
    """A pipeline or a delivery whose connector has the former address or secrets until it is deployed again."""

    connector_name: str


class ConnectionOutput(RegisteredOutput):
    """A connection with the outcome of its last test."""

    description: str | None
    category: ConnectionCategory
    provider: SystemProvider = Field(validation_alias=AliasPath("address", "provider"))
    capabilities: list[Capability]
    config: DatabaseConfig | ObjectStoreConfig = Field(validation_alias="address")
    last_tested_at: Timestamp | None
    last_test: LastTest | None
    used_by: list[UsedByOutput]


class ChangedConnectionOutput(ConnectionOutput):
    """A changed connection. `outdated_connectors` are at most 100; null when they cannot be read at this moment."""

    outdated_connectors: list[OutdatedConnectorOutput] | None

    @classmethod
    def of_change(cls, change: ConnectionChange) -> Self:
        outdated = change.outdated_connectors
        connectors = None if outdated is None else [OutdatedConnectorOutput.of(one) for one in outdated]
        return cls.model_construct(**dict(ConnectionOutput.of(change.connection)), outdated_connectors=connectors)
