"""Dropping a replication slot of a real server, and making it again: only that slot, and only when nothing reads it."""

import threading
from collections.abc import Iterator

import pytest

from chalicelib.domain.release import ReleaseState, SourceRelease
from chalicelib.kit.clock import Deadline
from tests.support.databases.postgresql import Shop, client, open_shop, running_postgresql

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


# a capture that goes on after a gap


def continue_at(shop: Shop, seconds: float = 5) -> int | None:
    return client(shop.endpoint).continue_capture(shop.plan(), Deadline.after(seconds))


def confirmed(shop: Shop) -> int:
    query = "SELECT (confirmed_flush_lsn - '0/0'::pg_lsn)::bigint FROM pg_replication_slots WHERE slot_name = %s"
    (position,) = shop.admin.execute(query, [shop.plan().slot_name]).fetchone() or (0,)
    return int(position)


def test_a_capture_goes_on_where_its_slot_stands(shop: Shop) -> None:
    shop.run(f"SELECT pg_create_logical_replication_slot('{shop.plan().slot_name}', 'pgoutput')")
    before = confirmed(shop)
    shop.run("INSERT INTO shop.orders VALUES (1, 'one')")
    assert continue_at(shop) == continue_at(shop) == before == confirmed(shop)


def test_a_slot_that_is_gone_is_made_again(shop: Shop) -> None:
    position = continue_at(shop)
    assert position == continue_at(shop) == confirmed(shop)


def test_a_slot_that_is_made_again_for_failovers_is_copied_to_standbys(shop: Shop) -> None:
    client(shop.endpoint).continue_capture(shop.plan(failover=True), Deadline.after(5))
    failover = "SELECT failover FROM pg_replication_slots WHERE slot_name = %s"
    assert shop.admin.execute(failover, [shop.plan().slot_name]).fetchall() == [(True,)]


def test_a_slot_that_something_reads_from_is_left_alone(shop: Shop) -> None:
    publication = shop.plan().publication_name
    shop.run(
        f"SELECT pg_create_logical_replication_slot('{shop.plan().slot_name}', 'pgoutput')",
        f"CREATE PUBLICATION {publication} FOR TABLE shop.orders",
    )
    with shop.reading():
        assert continue_at(shop, seconds=1) is None


def test_a_slot_of_another_kind_is_left_alone(shop: Shop) -> None:
    name = shop.plan().slot_name
    shop.run(f"SELECT pg_create_physical_replication_slot('{name}')")
    assert continue_at(shop) is None
    shop.run(f"SELECT pg_drop_replication_slot('{name}')")


def test_a_slot_that_has_lost_its_log_is_made_again_unless_it_was_adopted() -> None:
    with running_postgresql({"max_slot_wal_keep_size": "32MB"}) as server, open_shop(server) as shop:
        shop.run(f"SELECT pg_create_logical_replication_slot('{shop.plan().slot_name}', 'pgoutput')")
        before = confirmed(shop)
        shop.run(f"SELECT pg_logical_emit_message(false, 'test', repeat('x', {100 * 1024**2}))", "CHECKPOINT")
        facts = client(shop.endpoint).capture_facts([shop.plan()], Deadline.after(15))
        assert facts.slots[shop.plan().slot_name].wal_status == "lost"
        adopted = shop.plan(adopts=True, made=frozenset())
        assert client(shop.endpoint).continue_capture(adopted, Deadline.after(5)) is None
        assert confirmed(shop) == before
        position = continue_at(shop)
        assert position == confirmed(shop) > before
