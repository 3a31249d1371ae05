"""Destinations."""

from typing import Annotated

from pydantic import Discriminator, Tag

from chalicelib.api.contract.addressed import DATABASE, OBJECT_STORE, kind_of
from chalicelib.api.contract.databases import ConnectedDatabaseInput, DatabaseConfig
from chalicelib.api.contract.object_store import ConnectedObjectStoreInput, ObjectStoreConfig
from chalicelib.api.contract.systems import SystemFields, SystemOutput
from chalicelib.domain.connection import SystemProvider
from chalicelib.services.systems import SystemInput


class DatabaseDestinationBody(ConnectedDatabaseInput, SystemFields):
    """A database to register for delivery."""

    def to_input(self) -> SystemInput:
        return self.system_input(self.address(), self.secrets())


class ObjectStoreDestinationBody(ConnectedObjectStoreInput, SystemFields):
    """An object store to register for delivery."""

    def to_input(self) -> SystemInput:
        return self.system_input(self.address(), self.secrets())


DestinationBody = Annotated[
    Annotated[DatabaseDestinationBody, Tag(DATABASE)] | Annotated[ObjectStoreDestinationBody, Tag(OBJECT_STORE)],
    Discriminator(kind_of),
]
"""A system to register for delivery."""


class DestinationOutput(SystemOutput[SystemProvider, DatabaseConfig | ObjectStoreConfig]):
    """A registered destination."""

    deliveries: int
