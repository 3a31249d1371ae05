"""One fault at a time on a real server: readiness reports exactly that one, as seen by the role that captures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.readiness import CheckOutcome, ReadinessStatus
from chalicelib.domain.table import TableName
from tests.support.databases.postgresql import ORDERS, RunningPostgreSQL, Shop, open_shop, running_postgresql
from tests.support.databases.readiness import check_of, failing, warning
from tests.support.waiting import eventually

EXISTING = PublicationMode.EXISTING
PUBLISHED = "CREATE PUBLICATION pub_{database} FOR TABLE shop.orders"
FOREIGN_OWNER = "ALTER TABLE shop.orders OWNER TO postgres"
SLOT = "SELECT pg_create_logical_replication_slot('slot_{database}', 'pgoutput')"
READABLE = "GRANT SELECT ON shop.orders TO {role}"


@dataclass(frozen=True)
class Fault:
    """Statements that break a working shop, the plan to check, and the check that has to fail, or to warn.

    `repaired`: the check recommends statements that repair it.
    """

    check: str
    statements: tuple[str, ...]
    existing: bool = False
    warns: bool = False
    tables: tuple[TableName, ...] = (ORDERS,)
    repaired: bool = True

    def plan(self) -> dict[str, Any]:
        mode = PublicationMode.EXISTING if self.existing else PublicationMode.FILTERED
        return {"publication_mode": mode, "tables": self.tables}


FAULTS = {
    "role without REPLICATION": Fault("replication_privilege", ("ALTER ROLE {role} NOREPLICATION",)),
    "no CREATE on the database": Fault("publication_rights", ("REVOKE CREATE ON DATABASE {database} FROM {role}",)),
    "table of another owner": Fault("publication_rights", (FOREIGN_OWNER, READABLE)),
    "publication of another owner": Fault(
        "publication_rights", ("CREATE PUBLICATION pub_{database} FOR TABLES IN SCHEMA public",)
    ),
    "connection limit of the role": Fault("connection_limit", ("ALTER ROLE {role} CONNECTION LIMIT 1",)),
    "connection limit of the database": Fault("connection_limit", ("ALTER DATABASE {database} CONNECTION LIMIT 2",)),
    "unlogged table": Fault("logged_tables", ("ALTER TABLE shop.orders SET UNLOGGED",)),
    "columns that differ by case": Fault("column_names", ('ALTER TABLE shop.orders ADD COLUMN "Customer" text',)),
    "no SELECT on the table": Fault("select_privilege", (FOREIGN_OWNER, PUBLISHED), existing=True),
    "no SELECT on one column": Fault(
        "select_privilege",
        (FOREIGN_OWNER, "GRANT SELECT (id, customer) ON shop.orders TO {role}", PUBLISHED),
        existing=True,
    ),
    "no USAGE on the schema": Fault(
        "schema_usage", (FOREIGN_OWNER, READABLE, "ALTER SCHEMA shop OWNER TO postgres", PUBLISHED), existing=True
    ),
    "row level security": Fault(
        "row_security",
        (FOREIGN_OWNER, READABLE, "ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY", PUBLISHED),
        existing=True,
    ),
    "row level security forced on the owner": Fault(
        "row_security", ("ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",)
    ),
    "table that does not exist": Fault("tables", (), tables=(ORDERS, TableName("shop", "nothing")), repaired=False),
    "view": Fault(
        "tables",
        ("CREATE VIEW shop.seen AS SELECT * FROM shop.orders", "GRANT SELECT ON shop.seen TO {role}"),
        tables=(TableName("shop", "seen"),),
        repaired=False,
    ),
    "no key with default identity": Fault("replica_identity", ("ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey",)),
    "identity NOTHING": Fault("replica_identity", ("ALTER TABLE shop.orders REPLICA IDENTITY NOTHING",)),
    "identity index that was dropped": Fault(
        "replica_identity",
        (
            "ALTER TABLE shop.orders ADD CONSTRAINT one UNIQUE (id)",
            "ALTER TABLE shop.orders REPLICA IDENTITY USING INDEX one",
            "ALTER TABLE shop.orders DROP CONSTRAINT one",
        ),
    ),
    "key that is deferrable": Fault(
        "replica_identity", ("ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id) DEFERRABLE",)
    ),
    "publication that is missing": Fault("publication", (), existing=True),
    "publication FOR ALL TABLES": Fault(
        "publication", ("CREATE PUBLICATION pub_{database} FOR ALL TABLES",), repaired=False
    ),
    "publication without the table": Fault("publication_tables", ("CREATE PUBLICATION pub_{database}",), existing=True),
    "publication of inserts only": Fault(
        "publication_operations", (f"{PUBLISHED} WITH (publish = 'insert')",), existing=True, warns=True
    ),
    "own publication of inserts only": Fault(
        "publication_operations",
        (f"{PUBLISHED} WITH (publish = 'insert')", "ALTER PUBLICATION pub_{database} OWNER TO {role}"),
        warns=True,
    ),
    "publication with a row filter": Fault(
        "publication_rows", (f"{PUBLISHED} WHERE (id > 5)",), existing=True, warns=True
    ),
    "filtered publication with a row filter": Fault("publication_rows", (f"{PUBLISHED} WHERE (id > 5)",), warns=True),
    "publication with a column list": Fault(
        "publication_rows",
        ("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders (id)",),
        existing=True,
        warns=True,
    ),
    "publication whose column list lacks the key": Fault(
        "publication_rows", ("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders (customer)",), existing=True
    ),
    "publication of updates and deletes only": Fault(
        "publication_operations", (f"{PUBLISHED} WITH (publish = 'update, delete')",), existing=True
    ),
    "partitions published individually": Fault(
        "partitioned_tables",
        (
            "CREATE TABLE shop.parts (id int PRIMARY KEY) PARTITION BY RANGE (id)",
            "ALTER TABLE shop.parts OWNER TO {role}",
            "CREATE TABLE shop.parts1 PARTITION OF shop.parts FOR VALUES FROM (1) TO (9)",
            "CREATE PUBLICATION pub_{database} FOR TABLE shop.parts",
            "ALTER PUBLICATION pub_{database} OWNER TO {role}",
        ),
        tables=(TableName("shop", "parts"),),
    ),
    "physical slot": Fault("slot", ("SELECT pg_create_physical_replication_slot('slot_{database}')",), repaired=False),
}


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
def test_each_fault_fails_its_own_check_and_the_recommended_sql_repairs_it(shop: Shop, fault: Fault) -> None:
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
