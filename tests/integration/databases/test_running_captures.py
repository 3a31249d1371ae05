"""What the client reads about deployed captures of a real PostgreSQL: slots, publications, and which server it is."""

from chalicelib.domain.providers.postgresql.running_capture import PostgreSQLCaptureFacts
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from tests.support.databases.postgresql import ORDERS, Shop, client

PARTED = TableName("shop", "parted")


def facts(shop: Shop, *tables: TableName) -> PostgreSQLCaptureFacts:
    plan = shop.plan(tables=tables or (ORDERS,))
    return client(shop.endpoint).capture_facts([plan], Deadline.after(15))


def make_slot(shop: Shop) -> str:
    name = shop.plan().slot_name
    shop.run(f"SELECT pg_create_logical_replication_slot('{name}', 'pgoutput')")
    return name


def test_an_ordinary_role_may_read_which_server_it_is(shop: Shop) -> None:
    shown = shop.admin.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone()
    assert (facts(shop).system_identifier,) == shown


def test_a_server_that_does_not_tell_who_it_is_can_be_read_all_the_same(shop: Shop) -> None:
    shop.run("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    make_slot(shop)
    captures = facts(shop)
    assert captures.system_identifier is None
    assert len(captures.slots) == 1


def test_a_slot_is_shown_with_its_positions_and_without_a_reader(shop: Shop) -> None:
    name = make_slot(shop)
    slot = facts(shop).slots[name]
    positions = shop.admin.execute(
        "SELECT (restart_lsn - '0/0'::pg_lsn)::bigint, (confirmed_flush_lsn - '0/0'::pg_lsn)::bigint"
        " FROM pg_replication_slots WHERE slot_name = %s",
        [name],
    ).fetchone()
    assert (slot.start, slot.position) == positions
    assert (slot.reader, slot.wal_status) == (None, "reserved")


def test_a_slot_that_is_read_from_names_its_reader(shop: Shop) -> None:
    name, publication = make_slot(shop), shop.plan().publication_name
    shop.run(f"CREATE PUBLICATION {publication} FOR TABLE shop.orders")
    with shop.reading():
        assert facts(shop).slots[name].reader is not None


def test_a_slot_of_another_database_is_not_ours(shop: Shop) -> None:
    name = shop.plan().slot_name
    with shop.server.connect() as elsewhere:
        elsewhere.execute(f"SELECT pg_create_logical_replication_slot('{name}', 'pgoutput')".encode())
        try:
            assert facts(shop).slots == {}
        finally:
            elsewhere.execute(f"SELECT pg_drop_replication_slot('{name}')".encode())


def test_a_publication_shows_which_of_the_captured_tables_it_has(shop: Shop) -> None:
    publication = shop.plan().publication_name
    assert facts(shop).published == {}
    shop.run("CREATE TABLE shop.other (id int PRIMARY KEY)", f"CREATE PUBLICATION {publication} FOR TABLE shop.other")
    assert facts(shop).published == {publication: frozenset()}
    shop.run(f"ALTER PUBLICATION {publication} ADD TABLE shop.orders")
    assert facts(shop).published == {publication: frozenset({ORDERS})}


def test_a_table_that_took_the_place_of_a_published_one_is_not_published(shop: Shop) -> None:
    publication = shop.plan().publication_name
    shop.run(f"CREATE PUBLICATION {publication} FOR TABLE shop.orders")
    shop.run("ALTER TABLE shop.orders RENAME TO old_orders", "CREATE TABLE shop.orders (id bigint PRIMARY KEY)")
    assert facts(shop).published == {publication: frozenset()}


def test_publications_of_all_tables_and_of_a_schema_have_them_all(shop: Shop) -> None:
    publication = shop.plan().publication_name
    shop.run(f"CREATE PUBLICATION {publication} FOR ALL TABLES")
    assert facts(shop).published == {publication: frozenset({ORDERS})}
    shop.run(f"DROP PUBLICATION {publication}", f"CREATE PUBLICATION {publication} FOR TABLES IN SCHEMA shop")
    assert facts(shop).published == {publication: frozenset({ORDERS})}


def test_a_partitioned_table_is_published_by_its_root_or_by_its_partitions(shop: Shop) -> None:
    publication = shop.plan().publication_name
    shop.run(
        "CREATE TABLE shop.parted (id int PRIMARY KEY) PARTITION BY RANGE (id)",
        "CREATE TABLE shop.parted_1 PARTITION OF shop.parted FOR VALUES FROM (0) TO (10)",
        f"CREATE PUBLICATION {publication} FOR TABLE shop.parted",
    )
    assert facts(shop, PARTED).published == {publication: frozenset({PARTED})}
    shop.run(f"ALTER PUBLICATION {publication} SET (publish_via_partition_root = true)")
    assert facts(shop, PARTED).published == {publication: frozenset({PARTED})}
