"""Inputs that register sources, destinations and connections, and inputs that change some fields of them."""

from dataclasses import replace
from typing import Any

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection import Connection, ConnectionReference
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.destination import Destination
from chalicelib.domain.source import Source
from chalicelib.kit.masking import Secret
from chalicelib.services.connections import ConnectionInput
from chalicelib.services.systems import SystemInput


def changed_input(system: Source | Destination, **changes: Any) -> SystemInput:
    """The input to change these fields of a source or destination. With another address the password is given again, as
    the contract asks; otherwise its secrets stay. One that uses a connection goes on using it.
    """
    address = ConnectionReference(id=system.connection_id) if system.connection_id else system.address
    again = {"password": Secret(f"{type(system).__name__.lower()} password")}
    own = isinstance(changes.get("address", address), DatabaseAddress)
    unchanged = SystemInput(
        name=system.name,
        description=system.description,
        environment=system.environment,
        address=address,
        secrets=again if own and changes.get("address", address) != address else {},
    )
    return replace(unchanged, **changes)


def changed_connection(connection: Connection, **changes: Any) -> ConnectionInput:
    """The input to change these fields of a connection. With another address the password is given again."""
    again = {"password": Secret("connection password")}
    unchanged = ConnectionInput(
        name=connection.name,
        description=connection.description,
        capabilities=connection.capabilities,
        address=connection.address,
        secrets=again if changes.get("address", connection.address) != connection.address else {},
    )
    return replace(unchanged, **changes)


def system_input(
    noun: str,
    number: int,
    connection: Connection | None = None,
    provider: DatabaseProvider = DatabaseProvider.POSTGRESQL,
) -> SystemInput:
    return SystemInput(
        name=f"{noun} {number}",
        description=None,
        environment=None,
        address=ConnectionReference(id=connection.id) if connection else database_address(number, provider),
        secrets={} if connection else {"password": Secret(f"{noun} password")},
    )


def database_address(number: int, provider: DatabaseProvider = DatabaseProvider.POSTGRESQL) -> DatabaseAddress:
    return DatabaseAddress(
        provider=provider,
        host=f"database{number}.example.com",
        port=5432,
        database_name="shop",
        username="headgate",
    )
