"""Which server answers, over real replication connections, and what a refused one means."""

import socket
from functools import partial

import pytest

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql.session import read_identity
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.database import SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.postgresql.facts import ServerIdentity
from chalicelib.kit.clock import Deadline
from tests.integration.databases.test_connection import endpoint_of, scripted
from tests.support.databases.postgresql import Shop, any_address, open_shop, reader_of, running_postgresql
from tests.support.databases.scripted_server import READY, message, scripted_server, sign_in
from tests.support.waiting import eventually


def identity(shop: Shop) -> ServerIdentity:
    return read_identity(shop.endpoint, any_address, None, Deadline.after(10))


def unencrypted(shop: Shop, port: int) -> OpenedEndpoint[DatabaseAddress]:
    """The endpoint of a scripted server that lets the real one sign the client in."""
    return endpoint_of(shop, port=port, ssl_mode=SslMode.DISABLE)


def refusal(shop: Shop) -> FailureCode:
    with pytest.raises(DatabaseFailure) as caught:
        identity(shop)
    return caught.value.failure_code


def test_identity_is_that_of_the_server(shop: Shop) -> None:
    query = "SELECT system_identifier::text, timeline_id FROM pg_control_system(), pg_control_checkpoint()"
    row = shop.admin.execute(query).fetchone()
    assert row is not None
    assert identity(shop) == ServerIdentity(system_identifier=row[0], timeline=row[1])


def test_connection_is_closed_afterwards(shop: Shop) -> None:
    identity(shop)
    count = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender' AND usename = %s"
    eventually(lambda: shop.admin.execute(count, [shop.role]).fetchone() == (0,))


def test_role_without_the_right_to_replicate_is_refused(shop: Shop) -> None:
    shop.run("ALTER ROLE {role} NOREPLICATION")
    assert refusal(shop) is FailureCode.PERMISSION_DENIED


def test_server_without_a_free_sender_refuses() -> None:
    with running_postgresql({"max_wal_senders": "1"}) as server, open_shop(server) as shop:
        shop.run(
            "CREATE PUBLICATION everything FOR ALL TABLES",
            "SELECT pg_create_logical_replication_slot('taken', 'pgoutput')",
        )
        with reader_of(server, shop.name, "taken", "everything"):
            assert refusal(shop) is FailureCode.TOO_MANY_CONNECTIONS


def test_pooler_that_ignores_the_kind_of_connection_is_named(shop: Shop) -> None:
    def treat_as_a_session(connection: socket.socket) -> None:
        sign_in(connection, shop.server.port)
        connection.recv(1000)
        connection.sendall(message(b"E", b"SERROR\0C42601\0Msyntax error\0\0") + READY)

    with scripted_server(treat_as_a_session) as (port, _), pytest.raises(DatabaseFailure) as caught:
        read_identity(unencrypted(shop, port), any_address, None, Deadline.after(5))
    assert caught.value.failure_code is FailureCode.REPLICATION_NOT_SUPPORTED


def test_pooler_that_refuses_replication_is_named(shop: Shop) -> None:
    def refuse(connection: socket.socket) -> None:
        connection.recv(1000)
        text = b"SFATAL\0C08P01\0Munsupported startup parameter: replication\0\0"
        connection.sendall(message(b"E", text))
        connection.close()

    with scripted_server(refuse) as (port, _), pytest.raises(DatabaseFailure) as caught:
        read_identity(scripted(shop, port), any_address, None, Deadline.after(5))
    assert caught.value.failure_code is FailureCode.REPLICATION_NOT_SUPPORTED


def test_server_that_is_silent_after_the_sign_in_ends_at_the_deadline(shop: Shop) -> None:
    with (
        scripted_server(partial(sign_in, server_port=shop.server.port)) as (port, _),
        pytest.raises(DatabaseFailure) as caught,
    ):
        read_identity(unencrypted(shop, port), any_address, None, Deadline.after(2))
    assert caught.value.failure_code is FailureCode.TIMEOUT
