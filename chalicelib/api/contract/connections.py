"""Connections, and tests of connections that are not registered."""

from typing import Self

from pydantic import AliasPath, Field

from chalicelib.api.contract.common import Input, Lines, Name, Output, Timestamp
from chalicelib.api.contract.databases import ConnectedInput, DatabaseConfig, DatabaseInput, LastTest
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.registered import RegisteredOutput
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.connection import Capability, ConnectionCategory, ConnectionReference, capabilities_of
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.services.connections import ConnectionChange, ConnectionInput


class ConnectionLabels(Input):
    """What people call a connection. A model has the fields of its last base first."""

    name: Name
    description: Lines | None = None


class ConnectionBody(DatabaseInput, ConnectionLabels):
    """An address with credentials, for sources and destinations to share."""

    capabilities: list[Capability] | None = Field(
        default=None, min_length=1, max_length=len(Capability), description="All that its provider can do by default."
    )

    def to_input(self) -> ConnectionInput:
        chosen = frozenset(self.capabilities or capabilities_of(self.provider))
        return ConnectionInput(
            name=self.name,
            description=self.description,
            capabilities=tuple(capability for capability in Capability if capability in chosen),
            address=self.address(),
            secrets=self.secrets(),
        )


class ConnectionTestInput(ConnectedInput):
    """What to test: a registered connection, or one that is not registered."""

    def to_input(self) -> OpenedEndpoint[SystemAddress] | ConnectionReference:
        address = self.address()
        return address if isinstance(address, ConnectionReference) else OpenedEndpoint.unsaved(address, self.secrets())


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
    provider: DatabaseProvider = Field(validation_alias=AliasPath("address", "provider"))
    capabilities: list[Capability]
    config: DatabaseConfig = Field(validation_alias="address")
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
