"""Connections and the sources and destinations that use them, as tests change them and read them."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.connection import Connection, ConnectionReference
from chalicelib.domain.credentials import Secrets
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.source import Source
from chalicelib.errors import HeadgateError
from chalicelib.kit.masking import Secret
from chalicelib.services.connections import ConnectionChange
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_connection, changed_input

NEW = {"password": Secret("a new password")}
ELSEWHERE = "elsewhere.example.com"

System = Source | Destination


def stored(app: InProcessApp, system: System | Connection) -> Any:
    services: Any = {Source: app.services.sources, Destination: app.services.destinations}
    return services.get(type(system), app.services.connections).get(system.id)


def changed(
    app: InProcessApp, connection: Connection, *, if_match: int | None = None, **changes: Any
) -> ConnectionChange:
    data = changed_connection(stored(app, connection), **changes)
    return app.services.connections.update(app.context(if_match=if_match), connection.id, data)


def moved(app: InProcessApp, connection: Connection, host: str = ELSEWHERE) -> ConnectionChange:
    return changed(app, connection, address=replace(connection.address, host=host))


def edited(app: InProcessApp, system: System, **changes: Any) -> Any:
    service: Any = app.services.sources if isinstance(system, Source) else app.services.destinations
    return service.update(app.context(), system.id, changed_input(stored(app, system), **changes))


def pointed(app: InProcessApp, system: System, connection: Connection) -> Any:
    """The system after it was made to use the connection."""
    return edited(app, system, address=ConnectionReference(id=connection.id), secrets={})


def left(app: InProcessApp, system: System, secrets: Secrets, **address: Any) -> Any:
    """The system after it got an address of its own: by default the one that it had from its connection."""
    return edited(app, system, address=replace(system.address, **address), secrets=secrets)


def users(app: InProcessApp, connection: Connection) -> list[tuple[str, str, str]]:
    return [(user.type, user.id, user.name) for user in stored(app, connection).used_by]


def secret_rows(app: InProcessApp) -> set[str]:
    return {str(row["id"]) for row in app.tables.rows("secrets")}


def delivered_to(app: InProcessApp, destination: Destination) -> Delivery:
    pipeline = app.deployed_pipeline()
    return app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))


def refused(error: type[HeadgateError], code: str, act: Any) -> HeadgateError:
    with pytest.raises(error) as raised:
        act()
    assert raised.value.code == code
    return raised.value


def reasons(app: InProcessApp, pipeline_id: str) -> tuple[Any, ...]:
    observation = app.services.pipelines.detail(pipeline_id).pipeline.observation
    assert observation is not None
    return observation.reasons
