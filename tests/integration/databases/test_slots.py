"""Dropping a replication slot of a real server: only that slot, and only when nothing reads from it."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest

from chalicelib.domain.release import ReleaseState, SourceRelease
from chalicelib.kit.clock import Deadline
from tests.support.databases.postgresql import Shop, client
from tests.support.waiting import eventually

CREATE = "SELECT pg_create_logical_replication_slot('slot_{database}', 'pgoutput')"


def slots_of(shop: Shop) -> list[str]:
    """The slots whose names belong to the shop."""
    rows = shop.admin.execute("SELECT slot_name FROM pg_replication_slots ORDER BY 1").fetchall()
    return [name for (name,) in rows if shop.name in name]


def drop(shop: Shop, seconds: float = 5) -> ReleaseState:
    slot = SourceRelease(name=f"slot_{shop.name}", statement="")
    return client(shop.endpoint).release(slot, Deadline.after(seconds))


@contextmanager
def reading(shop: Shop) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Another session reads from the slot, as a connector does. The server notices a little later that it has gone."""
    with closing(shop.server.connect(shop.name, replication="database")) as stream:
        options = f"proto_version '1', publication_names 'pub_{shop.name}'"
        stream.pgconn.send_query(f"START_REPLICATION SLOT slot_{shop.name} LOGICAL 0/0 ({options})".encode())
        eventually(lambda: _is_read(shop))
        yield stream
    eventually(lambda: not _is_read(shop))


def _is_read(shop: Shop) -> bool:
    query = "SELECT 1 FROM pg_replication_slots WHERE slot_name = %s AND active"
    return shop.admin.execute(query, [f"slot_{shop.name}"]).fetchone() is not None


@pytest.fixture(autouse=True)
def cleaned(shop: Shop) -> Iterator[None]:
    """No slot is left on the server, which all tests share."""
    yield
    for name in slots_of(shop):
        shop.admin.execute("SELECT pg_drop_replication_slot(%s)", [name])


def test_a_slot_that_nothing_reads_from_is_dropped_by_the_role_of_the_capture(shop: Shop) -> None:
    shop.run(CREATE, "SELECT pg_create_logical_replication_slot('other_{database}', 'pgoutput')")
    assert drop(shop) is ReleaseState.RELEASED
    assert slots_of(shop) == [f"other_{shop.name}"]


def test_dropping_a_slot_again_changes_nothing(shop: Shop) -> None:
    assert drop(shop) is ReleaseState.RELEASED


def test_a_slot_that_is_being_read_is_kept(shop: Shop) -> None:
    shop.run("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders", CREATE)
    with reading(shop):
        assert drop(shop, seconds=1) is ReleaseState.IN_USE
        assert slots_of(shop) == [f"slot_{shop.name}"]


def test_a_slot_is_dropped_as_soon_as_its_reader_has_gone(shop: Shop) -> None:
    shop.run("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders", CREATE)
    with reading(shop) as stream:
        threading.Timer(1, stream.close).start()
        assert drop(shop, seconds=10) is ReleaseState.RELEASED
    assert slots_of(shop) == []


def test_a_physical_slot_and_a_slot_of_another_database_are_kept(shop: Shop) -> None:
    shop.run("SELECT pg_create_physical_replication_slot('slot_{database}')")
    assert drop(shop) is ReleaseState.NOT_OURS
    shop.admin.execute("SELECT pg_drop_replication_slot(%s)", [f"slot_{shop.name}"])
    with shop.server.connect() as elsewhere:
        elsewhere.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [f"slot_{shop.name}"])
    assert drop(shop) is ReleaseState.NOT_OURS
    assert slots_of(shop) == [f"slot_{shop.name}"]
