"""Dropping a replication slot of a real server: only that slot, and only when nothing reads from it."""

import threading
from collections.abc import Iterator

import pytest

from chalicelib.domain.release import ReleaseState, SourceRelease
from chalicelib.kit.clock import Deadline
from tests.support.databases.postgresql import Shop, client

CREATE = "SELECT pg_create_logical_replication_slot('slot_{database}', 'pgoutput')"


def slots_of(shop: Shop) -> list[str]:
    """The slots whose names belong to the shop."""
    rows = shop.admin.execute("SELECT slot_name FROM pg_replication_slots ORDER BY 1").fetchall()
    return [name for (name,) in rows if shop.name in name]


def drop(shop: Shop, seconds: float = 5) -> ReleaseState:
    slot = SourceRelease(name=f"slot_{shop.name}", statement="")
    return client(shop.endpoint).release(slot, Deadline.after(seconds))


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
    with shop.reading():
        assert drop(shop, seconds=1) is ReleaseState.IN_USE
        assert slots_of(shop) == [f"slot_{shop.name}"]


def test_a_slot_is_dropped_as_soon_as_its_reader_has_gone(shop: Shop) -> None:
    shop.run("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders", CREATE)
    with shop.reading() as stream:
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
