"""Connectors of all owners as Headgate reads them: listed with their class, and found by their names."""

import secrets
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import quote

import pytest

from chalicelib.clients.connect.client import Connect
from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.domain.addresses import ConnectAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.names import ConnectorKind
from chalicelib.kit.clock import Deadline
from tests.contract.conftest import Shop
from tests.support.apps.doubles import JDBC_SINK, ConnectView
from tests.support.waiting import eventually

LIMIT = 10
NAMES = ("a b+c", "?x=1#y", "naïve \N{GRINNING FACE}", "x" * 249, "' OR 1=1 --", "<b>", ";")


@pytest.fixture
def client(connect: ConnectView) -> Iterator[Connect]:
    endpoint = OpenedEndpoint(ConnectAddress(base_url=connect.url), {})
    with closing(Connect(endpoint, check_host=AddressPolicy(allow_loopback=True))) as client:
        yield client


def test_whatever_their_names_are_connectors_are_listed_and_found(
    shop: Shop, connect: ConnectView, client: Connect
) -> None:
    names = [f"{secrets.token_hex(4)}{name}"[:249] for name in NAMES]
    for name in names:
        shop.connectors.append(name)
        client.create_stopped(name, {**shop.sink(), "name": name}, Deadline.after(LIMIT))

    def found() -> dict[str, tuple[str, ConnectorKind | None, str | None]]:
        listed = client.connectors(Deadline.after(LIMIT))
        return {
            name: (one.status.state, one.type, one.connector_class) for name, one in listed.items() if name in names
        }

    expected = ("STOPPED", ConnectorKind.SINK, JDBC_SINK)
    eventually(found, lambda seen: seen == dict.fromkeys(names, expected))
    for name in names:
        one = client.find_connector(name, Deadline.after(LIMIT))
        assert one
        assert (one.name, (one.status.state, one.type, one.connector_class)) == (name, expected)


def test_a_connector_that_was_deleted_is_not_found(
    stopped: dict[str, str], connect: ConnectView, client: Connect
) -> None:
    assert client.find_connector(stopped["name"], Deadline.after(LIMIT))
    # its status stays for a while
    connect.remove(stopped["name"])
    eventually(lambda: client.find_connector(stopped["name"], Deadline.after(LIMIT)), lambda seen: seen is None)


@pytest.mark.parametrize("name", ["a/b", "a%2Fb", "a\\b"])
def test_a_worker_refuses_paths_that_can_be_read_in_two_ways(connect: ConnectView, client: Connect, name: str) -> None:
    """Connectors may have such names all the same. Nobody could delete them, so that no test creates one."""
    refused = connect.call("GET", f"/connectors/{quote(name, safe='')}/status")
    assert (refused.status_code, refused.headers["Content-Type"].partition(";")[0]) == (400, "text/html")
    assert client.find_connector(name, Deadline.after(LIMIT)) is None
