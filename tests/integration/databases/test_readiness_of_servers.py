"""What readiness says about a server's log, time limits, transactions, hosting and front: one thing at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import Hosting
from chalicelib.domain.providers.postgresql.readiness.checks import CHECKS
from chalicelib.domain.readiness import CheckOutcome, ReadinessReport, judge
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline, utc_now
from tests.support.databases.pooler import OnReplication, pooler
from tests.support.databases.postgresql import ORDERS, Shop, client, open_shop, running_postgresql
from tests.support.databases.readiness import check_of, failing

HEARTBEAT = TableName("shop", "heartbeat")
MAKE_HEARTBEAT = "CREATE TABLE shop.heartbeat (id integer PRIMARY KEY, ts timestamptz NOT NULL)"


def test_the_identity_of_the_server_is_shown(shop: Shop) -> None:
    check = check_of(shop.readiness(shop.plan()), "replication_connection")
    row = shop.admin.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone()
    assert check.status is CheckOutcome.PASS
    assert row is not None
    assert row[0] in (check.current_value or "")


def test_limits_of_the_role_are_warned_of_and_those_of_our_own_session_are_not(shop: Shop) -> None:
    assert check_of(shop.readiness(None), "session_limits").status is CheckOutcome.PASS
    shop.run(
        "ALTER ROLE {role} SET statement_timeout = '30s'",
        "ALTER DATABASE {database} SET idle_in_transaction_session_timeout = '5min'",
    )
    check = check_of(shop.readiness(None), "session_limits")
    assert check.status is CheckOutcome.WARN
    assert check.current_value == "idle_in_transaction_session_timeout = 300000 ms, statement_timeout = 30000 ms"
    for line in (check.recommended_action or "").splitlines()[:2]:
        shop.run(line)
    assert check_of(shop.readiness(None), "session_limits").status is CheckOutcome.PASS


def test_a_prepared_transaction_is_warned_of_until_the_slot_exists() -> None:
    with running_postgresql({"max_prepared_transactions": "2"}) as server, open_shop(server) as shop:
        shop.run("BEGIN", "CREATE TABLE shop.waiting (id int)", "PREPARE TRANSACTION 'secret-text'")
        try:
            check = check_of(shop.readiness(shop.plan()), "open_transactions")
            assert check.status is CheckOutcome.WARN
            assert check.current_value == f"prepared in {shop.name} (0 min)"
            assert "secret-text" not in str(check)
        finally:
            shop.run("ROLLBACK PREPARED 'secret-text'")
        assert check_of(shop.readiness(shop.plan()), "open_transactions").status is CheckOutcome.PASS


def test_the_age_of_a_transaction_that_writes_is_read(shop: Shop) -> None:
    with shop.as_role() as other:
        other.execute("BEGIN")
        assert shop.facts().open_transactions == ()
        other.execute("INSERT INTO shop.orders VALUES (1, 'x', 1)")
        (transaction,) = shop.facts().open_transactions
        assert transaction.process_id == other.info.backend_pid
        facts = replace(shop.facts(), open_transactions=(replace(transaction, seconds=601),))
    check = check_of(judge(CHECKS, facts, None, utc_now()), "open_transactions")
    assert check.current_value == f"process {transaction.process_id} (10 min)"
    assert f"pg_terminate_backend({transaction.process_id})" in (check.recommended_action or "")


def test_what_is_kept_for_a_slot_is_read(shop: Shop) -> None:
    shop.run("SELECT pg_create_logical_replication_slot('slot_{database}', 'pgoutput')")
    slot = shop.facts().slot(f"slot_{shop.name}")
    assert slot is not None
    assert slot.retained_bytes is not None
    assert 0 <= slot.retained_bytes < 1024**3
    assert slot.safe_bytes is not None
    assert slot.safe_bytes > 9 * 1024**3


@pytest.mark.parametrize("existing", [True, False])
def test_statements_for_a_missing_heartbeat_table_make_one_that_passes(shop: Shop, existing: bool) -> None:
    mode = PublicationMode.EXISTING if existing else PublicationMode.FILTERED
    if existing:
        shop.run("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders")
    none = check_of(shop.readiness(shop.plan(publication_mode=mode)), "heartbeat")
    assert (none.status, none.current_value) == (CheckOutcome.WARN, "none")
    plan = shop.plan(publication_mode=mode, heartbeat_table=TableName("shop", "headgate_heartbeat"))
    assert failing(shop.readiness(plan)) == {"heartbeat"}
    with shop.as_role() as as_role:
        for line in (none.recommended_action or "").splitlines():
            if line.startswith("CREATE") and not existing:
                as_role.execute(line.encode())
            elif line.startswith(("CREATE", "GRANT", "ALTER")):
                shop.run(line)
    readiness = shop.readiness(plan)
    assert failing(readiness) == set()
    assert check_of(readiness, "heartbeat").status is CheckOutcome.PASS


HEARTBEAT_FAULTS = {
    "no such column": "ALTER TABLE shop.heartbeat DROP COLUMN ts",
    "no unique key": "ALTER TABLE shop.heartbeat DROP CONSTRAINT heartbeat_pkey",
    "no privilege to insert": "REVOKE INSERT ON shop.heartbeat FROM {role}",
    "no privilege to update": "REVOKE UPDATE ON shop.heartbeat FROM {role}",
    "column that needs a value": "ALTER TABLE shop.heartbeat ADD COLUMN more int NOT NULL",
    "not published": "ALTER PUBLICATION pub_{database} DROP TABLE shop.heartbeat",
}


@pytest.mark.parametrize("name", HEARTBEAT_FAULTS)
def test_a_heartbeat_table_that_would_not_take_a_row_is_refused(shop: Shop, name: str) -> None:
    shop.run(
        MAKE_HEARTBEAT,
        "GRANT SELECT, INSERT, UPDATE ON shop.heartbeat TO {role}",
        "CREATE PUBLICATION pub_{database} FOR TABLE shop.orders, shop.heartbeat",
    )
    plan = shop.plan(publication_mode=PublicationMode.EXISTING, heartbeat_table=HEARTBEAT)
    assert failing(shop.readiness(plan)) == set()
    shop.run(HEARTBEAT_FAULTS[name])
    assert failing(shop.readiness(plan)) == {"heartbeat"}


SERVICES = {
    Hosting.RDS: ("-c", "rds.extensions"),
    Hosting.AZURE: ("-c", "azure.extensions"),
    Hosting.CLOUD_SQL: ("role", "cloudsqlsuperuser"),
    Hosting.ALLOYDB: ("role", "alloydbsuperuser"),
    Hosting.NEON: ("role", "neon_superuser"),
    Hosting.SUPABASE: ("role", "supabase_admin"),
}


@contextmanager
def imitated(shop: Shop, hosting: Hosting) -> Iterator[None]:
    """The server shows the sign of a service."""
    kind, name = SERVICES[hosting]
    made, unmade = (
        (f"ALTER DATABASE {shop.name} SET {name} = 'x'", f"ALTER DATABASE {shop.name} RESET {name}")
        if kind == "-c"
        else (f"CREATE ROLE {name}", f"DROP ROLE {name}")
    )
    shop.run(made)
    try:
        yield
    finally:
        shop.run(unmade)


@pytest.mark.parametrize("hosting", SERVICES)
def test_a_service_is_known_by_its_sign(shop: Shop, hosting: Hosting) -> None:
    assert shop.facts().hosting is Hosting.SELF_MANAGED
    with imitated(shop, hosting):
        assert shop.facts().hosting is hosting


def test_aurora_is_known_by_its_function(shop: Shop) -> None:
    shop.run("CREATE FUNCTION shop.aurora_version() RETURNS text LANGUAGE sql AS 'SELECT 1::text'")
    with imitated(shop, Hosting.RDS):
        assert shop.facts().hosting is Hosting.AURORA


def through(shop: Shop, behaviour: OnReplication) -> ReadinessReport:
    with pooler(shop.server.port, behaviour) as port:
        endpoint = replace(shop.endpoint, address=replace(shop.address, port=port))
        facts = client(endpoint).server_facts((ORDERS,), Deadline.after(15))
        return judge(CHECKS, facts, shop.plan(), utc_now())


@pytest.mark.parametrize("behaviour", [OnReplication.REFUSE, OnReplication.IGNORE])
def test_a_pooler_before_the_server_fails_readiness(shop: Shop, behaviour: OnReplication) -> None:
    readiness = through(shop, behaviour)
    assert failing(readiness) == {"replication_connection"}
    check = check_of(readiness, "replication_connection")
    assert check.current_value == "REPLICATION_NOT_SUPPORTED"
    assert "PgBouncer" in (check.recommended_action or "")


def test_a_replication_connection_that_gets_no_answer_in_time_is_unknown(shop: Shop) -> None:
    readiness = through(shop, OnReplication.STAY_SILENT)
    assert failing(readiness) == set()
    check = check_of(readiness, "replication_connection")
    assert (check.status, check.current_value) == (CheckOutcome.UNKNOWN, "TIMEOUT")
