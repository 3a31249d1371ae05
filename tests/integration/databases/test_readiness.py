"""One fault at a time on a real server: readiness reports exactly that one, as seen by the role that captures."""

from collections.abc import Iterator

import pytest

from chalicelib.domain.readiness import CheckOutcome, ReadinessStatus
from chalicelib.domain.table import TableName
from tests.support.databases.postgresql import RunningPostgreSQL, Shop, open_shop, running_postgresql
from tests.support.databases.postgresql_faults import (
    EXISTING,
    FAULTS,
    FOREIGN_OWNER,
    PUBLISHED,
    READABLE,
    SLOT,
    PostgreSQLFault,
)
from tests.support.databases.readiness import check_of, failing, warning
from tests.support.waiting import eventually

HEARTBEAT = TableName("shop", "heartbeat")
MAKE_HEARTBEAT = "CREATE TABLE shop.heartbeat (id integer PRIMARY KEY, ts timestamptz NOT NULL)"
OWN_HEARTBEAT = "ALTER TABLE shop.heartbeat OWNER TO {role}"


def test_working_shop_is_ready(shop: Shop) -> None:
    shop.run(MAKE_HEARTBEAT, OWN_HEARTBEAT)
    readiness = shop.readiness(shop.plan(heartbeat_table=HEARTBEAT))
    assert [check for check in readiness.checks if check.status is not CheckOutcome.PASS] == []
    assert readiness.status is ReadinessStatus.READY


def test_existing_publication_is_ready(shop: Shop) -> None:
    shop.run(FOREIGN_OWNER, READABLE, "REVOKE CREATE ON DATABASE {database} FROM {role}", MAKE_HEARTBEAT)
    shop.run(f"{PUBLISHED}, shop.heartbeat", "GRANT SELECT, INSERT, UPDATE ON shop.heartbeat TO {role}")
    plan = shop.plan(publication_mode=EXISTING, heartbeat_table=HEARTBEAT)
    assert shop.readiness(plan).status is ReadinessStatus.READY


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_each_fault_fails_its_own_check_and_the_recommended_sql_repairs_it(shop: Shop, fault: PostgreSQLFault) -> None:
    shop.run(*fault.statements)
    plan = shop.plan(**fault.plan())
    report = shop.readiness(plan)
    assert (warning if fault.warns else failing)(report) == {fault.check}
    assert report.status is (ReadinessStatus.WARNING if fault.warns else ReadinessStatus.NOT_READY)
    advice = check_of(report, fault.check).recommended_action or ""
    assert "OWNER TO" not in advice
    for line in advice.splitlines() if fault.repaired else ():
        statement, ends_as_sql, _ = line.partition(";")
        if ends_as_sql and statement.split()[0] in ("ALTER", "GRANT", "CREATE"):
            shop.run(statement)
    # The server ends the processes of the first reading some time later, and until then counts their connections.
    eventually(lambda: not shop.connections())
    repaired = shop.readiness(plan)
    assert (fault.check not in failing(repaired) | warning(repaired)) is fault.repaired


@pytest.mark.parametrize(
    ("deployed", "expected"),
    [pytest.param(False, {"slot"}, id="another client's"), pytest.param(True, set(), id="of a deployed pipeline")],
)
def test_slot_that_is_read_belongs_to_the_plan_only_where_it_is_deployed(
    shop: Shop, deployed: bool, expected: set[str]
) -> None:
    shop.run(PUBLISHED, SLOT)
    with shop.reading():
        assert failing(shop.readiness(shop.plan(publication_mode=EXISTING, deployed=deployed))) == expected


def test_idle_slot_of_this_database_can_be_used(shop: Shop) -> None:
    shop.run(SLOT)
    assert failing(shop.readiness(shop.plan())) == set()


def test_slot_of_another_database_is_refused(shop: Shop) -> None:
    with open_shop(shop.server) as other:
        other.run(f"SELECT pg_create_logical_replication_slot('slot_{shop.name}', 'pgoutput')")
        assert failing(shop.readiness(shop.plan())) == {"slot"}


def test_full_identity_makes_a_table_without_key_capturable(shop: Shop) -> None:
    shop.run("ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey", "ALTER TABLE shop.orders REPLICA IDENTITY FULL")
    readiness = shop.readiness(shop.plan())
    assert readiness.status is ReadinessStatus.WARNING
    assert warning(readiness) == {"primary_key"}


def test_publication_via_the_root_makes_a_partitioned_table_capturable(shop: Shop) -> None:
    shop.run(*FAULTS["partitions published individually"].statements)
    shop.run("ALTER PUBLICATION pub_{database} SET (publish_via_partition_root = true)")
    plan = shop.plan(publication_mode=EXISTING, tables=(TableName("shop", "parts"),))
    assert failing(shop.readiness(plan)) == set()


def test_member_of_amazons_replication_role_is_proved_by_a_connection(shop: Shop) -> None:
    shop.run("ALTER ROLE {role} NOREPLICATION", "CREATE ROLE rds_replication", "GRANT rds_replication TO {role}")
    try:
        # Here the membership gives no right: the connection that is tried says so.
        assert failing(shop.readiness(shop.plan())) == {"replication_connection"}
        shop.run("ALTER ROLE {role} NOINHERIT", "REVOKE rds_replication FROM {role}")
        shop.run("GRANT rds_replication TO {role}")
        assert failing(shop.readiness(shop.plan())) == {"replication_privilege"}
    finally:
        shop.run("DROP ROLE rds_replication")


def test_role_without_any_privilege_can_still_be_checked(shop: Shop) -> None:
    shop.run(
        FOREIGN_OWNER,
        "ALTER SCHEMA shop OWNER TO postgres",
        "REVOKE CREATE ON DATABASE {database} FROM {role}",
        "ALTER ROLE {role} NOREPLICATION",
    )
    expected = {"replication_privilege", "schema_usage", "select_privilege", "publication_rights"}
    assert failing(shop.readiness(shop.plan())) == expected


@pytest.fixture(scope="module")
def limited() -> Iterator[RunningPostgreSQL]:
    """A server with one slot and one sender, which keeps little log for a slot that nobody reads."""
    settings = {
        "max_replication_slots": "1",
        "max_wal_senders": "1",
        "max_slot_wal_keep_size": "1MB",
        "min_wal_size": "32MB",
    }
    with running_postgresql(settings) as server:
        yield server


def test_no_free_slot_is_reported(limited: RunningPostgreSQL) -> None:
    with open_shop(limited) as shop:
        shop.run("SELECT pg_create_physical_replication_slot('somebody')")
        assert failing(shop.readiness(shop.plan())) == {"replication_slots"}


def test_no_free_sender_is_reported(limited: RunningPostgreSQL) -> None:
    with open_shop(limited) as shop:
        shop.run(PUBLISHED, SLOT)
        with shop.reading():
            other_slot = shop.plan(publication_mode=EXISTING, slot_name="another")
            assert failing(shop.readiness(other_slot)) == {"replication_slots", "wal_senders"}


def test_slot_whose_log_was_removed_is_reported(limited: RunningPostgreSQL) -> None:
    with open_shop(limited) as shop:
        shop.run(SLOT)
        for _ in range(4):
            shop.run("CREATE TABLE shop.filler AS SELECT 1", "DROP TABLE shop.filler", "SELECT pg_switch_wal()")
        shop.run("CHECKPOINT")
        assert failing(shop.readiness(shop.plan())) == {"slot_log"}


def test_too_low_wal_level_is_reported() -> None:
    with running_postgresql({"wal_level": "minimal", "max_wal_senders": "0"}) as server, open_shop(server) as shop:
        for plan in (shop.plan(), None):
            assert failing(shop.readiness(plan)) == {"wal_level", "wal_senders"}
