"""The verdict on targets of a real server, and that PostgreSQL itself agrees with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
import pytest

from chalicelib.domain.delivery import DeliveryVerdict, TableMapping, TableWriting, WriteMode
from chalicelib.domain.providers.postgresql.facts import PostgreSQLTargetFacts
from chalicelib.domain.providers.postgresql.target import judge_target
from chalicelib.domain.providers.postgresql.target_ddl import target_statements
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from tests.e2e.column_types import CHANGED_BY_AUTO_CREATE, EQUAL, STOPPING, USER_TYPES
from tests.support.databases.postgresql import Shop, client

COPY = TableName("copy", "orders")
CREATED = "CREATE TABLE copy.orders (id bigint PRIMARY KEY, customer text, amount numeric(10, 2))"
OWNED = "ALTER TABLE copy.orders OWNER TO {role}"
GRANTED = "GRANT SELECT, INSERT, UPDATE, DELETE ON copy.orders TO {role}"


def facts(shop: Shop, *targets: TableName) -> PostgreSQLTargetFacts:
    return client(shop.endpoint).target_facts(targets or [COPY], Deadline.after(15))


def verdict(shop: Shop, target: TableName = COPY, tasks_max: int = 1, **options: Any) -> DeliveryVerdict:
    """The verdict on delivering the orders to the target."""
    mapping = TableMapping(topic="t.shop.orders", schema_name=target.schema_name, table_name=target.table_name)
    writing = TableWriting(mappings=(mapping,), **options)
    return judge_target(writing, tasks_max, {mapping.topic: shop.discovered()}, facts(shop, target))


@pytest.fixture(autouse=True)
def copy_schema(shop: Shop) -> None:
    """A schema to deliver into, owned by the role."""
    shop.run("CREATE SCHEMA copy AUTHORIZATION {role}")


@pytest.mark.parametrize(
    ("statements", "options"),
    [
        pytest.param((), {}, id="empty schema of the role"),
        pytest.param((CREATED, GRANTED), {"auto_create": False, "auto_evolve": False}, id="equal table"),
    ],
)
def test_a_target_that_takes_every_row_is_ready(
    shop: Shop, statements: tuple[str, ...], options: dict[str, Any]
) -> None:
    shop.run(*statements)
    judged = verdict(shop, **options)
    assert (judged.problems, judged.warnings) == ((), ())


@dataclass(frozen=True)
class Fault:
    """Statements that make a target unusable, and words of the problem."""

    words: str
    statements: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


FAULTS = {
    "no such schema": Fault("CREATE SCHEMA", ("DROP SCHEMA copy",)),
    "schema that may not be used": Fault("GRANT USAGE ON SCHEMA", ("ALTER SCHEMA copy OWNER TO postgres",)),
    "schema that takes no tables": Fault(
        "GRANT CREATE ON SCHEMA", ("ALTER SCHEMA copy OWNER TO postgres", "GRANT USAGE ON SCHEMA copy TO {role}")
    ),
    "no table and auto_create off": Fault("auto_create is off", options={"auto_create": False}),
    "view": Fault("is a view", ("CREATE VIEW copy.orders AS SELECT 1 AS id",)),
    "no DELETE": Fault("lacks DELETE", (CREATED, "GRANT SELECT, INSERT, UPDATE ON copy.orders TO {role}")),
    "no SELECT": Fault("lacks SELECT", (CREATED, "GRANT INSERT, UPDATE, DELETE ON copy.orders TO {role}")),
    "no unique key": Fault("ADD PRIMARY KEY", (CREATED, OWNED, "ALTER TABLE copy.orders DROP CONSTRAINT orders_pkey")),
    "key that ON CONFLICT cannot name": Fault(
        "ADD PRIMARY KEY",
        (CREATED, OWNED, "ALTER TABLE copy.orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id) DEFERRABLE"),
    ),
    "column missing": Fault(
        "lacks columns amount",
        (CREATED, OWNED, "ALTER TABLE copy.orders DROP COLUMN amount"),
        {"auto_evolve": False},
    ),
    "column missing in another's table": Fault(
        "only its owner may add them", (CREATED, GRANTED, "ALTER TABLE copy.orders DROP COLUMN amount")
    ),
    "NOT NULL column without a source": Fault(
        "NOT NULL", (CREATED, OWNED, "ALTER TABLE copy.orders ADD COLUMN region text NOT NULL")
    ),
    "generated column": Fault(
        "take no values", (CREATED, OWNED, "ALTER TABLE copy.orders ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY")
    ),
}
UPSERT_AND_DELETE = (
    "INSERT INTO copy.orders (id, customer, amount) VALUES (1, 'a', 1)"
    " ON CONFLICT (id) DO UPDATE SET customer = EXCLUDED.customer; DELETE FROM copy.orders WHERE id = 1"
)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_each_fault_of_a_target_is_a_problem_and_postgresql_agrees(shop: Shop, fault: Fault) -> None:
    shop.run(*fault.statements)
    (problem,) = verdict(shop, **fault.options).problems
    assert problem.code == "TARGET_NOT_READY"
    assert fault.words in problem.message
    with shop.as_role() as sink, pytest.raises(psycopg.Error):
        sink.execute(UPSERT_AND_DELETE)


@pytest.mark.parametrize("name", ["no such schema", "schema that takes no tables"])
def test_beside_the_statement_a_schema_is_named_in_which_the_role_may_create_tables(shop: Shop, name: str) -> None:
    shop.run(*FAULTS[name].statements, "CREATE SCHEMA lake AUTHORIZATION {role}", "CREATE SCHEMA locked")
    (problem,) = verdict(shop).problems
    assert problem.message.endswith("; Or choose a schema in which the role may create tables: lake, shop.")


def test_it_is_said_that_the_role_may_create_tables_nowhere(shop: Shop) -> None:
    owned = ("ALTER SCHEMA shop OWNER TO postgres", "GRANT USAGE ON SCHEMA shop TO {role}")
    shop.run(*FAULTS["schema that takes no tables"].statements, *owned)
    (problem,) = verdict(shop).problems
    assert problem.message.endswith("There is no other schema in which the role may create tables.")


def test_of_many_such_schemas_the_first_ones_are_named(shop: Shop) -> None:
    shop.run("DROP SCHEMA copy", *(f"CREATE SCHEMA s{number} AUTHORIZATION {{role}}" for number in range(9)))
    assert facts(shop).open_schemas == ("s0", "s1", "s2", "s3", "s4")


def test_columns_with_a_default_or_identity_may_be_missing_in_the_topic(shop: Shop) -> None:
    shop.run(
        CREATED,
        OWNED,
        "ALTER TABLE copy.orders ADD COLUMN at timestamptz NOT NULL DEFAULT now(), "
        "ADD COLUMN number int GENERATED ALWAYS AS IDENTITY",
    )
    assert verdict(shop).problems == ()


def test_unique_key_in_another_order_allows_an_upsert(shop: Shop) -> None:
    shop.run("ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id, customer)")
    shop.run("CREATE TABLE copy.orders (id bigint, customer text, amount numeric(10, 2), UNIQUE (customer, id))", OWNED)
    assert verdict(shop).problems == ()


def test_insert_needs_no_key_and_no_other_privilege(shop: Shop) -> None:
    shop.run(CREATED, "ALTER TABLE copy.orders DROP CONSTRAINT orders_pkey", "GRANT INSERT ON copy.orders TO {role}")
    assert verdict(shop, write_mode=WriteMode.INSERT).problems == ()


def test_unusual_names_are_found_unchanged(shop: Shop) -> None:
    shop.run('CREATE TABLE copy."Odd ""name" (id bigint PRIMARY KEY)', "CREATE TABLE copy.odd (id bigint PRIMARY KEY)")
    tables = facts(shop, TableName("copy", 'Odd "name'), TableName("copy", "ODD")).tables
    assert [table.name.table_name for table in tables] == ['Odd "name']


def warned(judged: DeliveryVerdict) -> dict[str, str]:
    return {warning.code: warning.message for warning in judged.warnings}


def test_foreign_keys_to_and_from_a_target_are_a_warning_with_two_ways_out(shop: Shop) -> None:
    shop.run(
        CREATED, OWNED, "CREATE TABLE copy.customers (name text PRIMARY KEY)",
        "CREATE TABLE copy.lines (id bigint, order_id bigint CONSTRAINT lines_order REFERENCES copy.orders)",
        "ALTER TABLE copy.orders ADD CONSTRAINT orders_customer FOREIGN KEY (customer) REFERENCES copy.customers",
    )  # fmt: skip
    message = warned(verdict(shop))["FOREIGN_KEYS"]
    assert "lines_order, orders_customer" in message
    statement = f'ALTER ROLE "{shop.role}" SET session_replication_role = replica;'
    assert statement in message
    with shop.as_role() as writer, pytest.raises(psycopg.errors.ForeignKeyViolation):
        writer.execute("INSERT INTO copy.orders VALUES (1, 'nobody', 1)")
    shop.run(statement)
    with shop.as_role() as writer:
        writer.execute("INSERT INTO copy.orders VALUES (1, 'nobody', 1)")
    assert "FOREIGN_KEYS" not in warned(verdict(shop))


def test_a_role_with_the_grant_of_postgresql_15_may_turn_foreign_keys_off_itself(shop: Shop) -> None:
    with shop.as_role() as writer:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute(f'ALTER ROLE "{shop.role}" SET session_replication_role = replica'.encode())
        shop.run("GRANT SET ON PARAMETER session_replication_role TO {role}")
        writer.execute(f'ALTER ROLE "{shop.role}" SET session_replication_role = replica'.encode())
    assert facts(shop).replica_role
    shop.run("REVOKE ALL ON PARAMETER session_replication_role FROM {role}")


def test_unique_keys_beside_the_key_are_a_warning_and_session_replication_role_does_not_turn_them_off(
    shop: Shop,
) -> None:
    shop.run(
        CREATED, OWNED, "CREATE UNIQUE INDEX orders_customer_once ON copy.orders (customer)",
        "CREATE UNIQUE INDEX orders_amount_once ON copy.orders (amount) WHERE amount > 0",
        "ALTER ROLE {role} SET session_replication_role = replica",
    )  # fmt: skip
    message = warned(verdict(shop))["SECONDARY_UNIQUE"]
    assert "orders_amount_once, orders_customer_once" in message
    assert "orders_pkey" not in message
    with shop.as_role() as writer:
        writer.execute("INSERT INTO copy.orders VALUES (1, 'x', 1)")
        with pytest.raises(psycopg.errors.UniqueViolation):
            writer.execute("INSERT INTO copy.orders VALUES (2, 'x', 2)")
    assert "orders_pkey" in warned(verdict(shop, write_mode=WriteMode.INSERT))["SECONDARY_UNIQUE"]


def test_triggers_that_fire_for_the_role_are_a_warning(shop: Shop) -> None:
    shop.run(
        CREATED, OWNED,
        "CREATE FUNCTION copy.stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER stamps BEFORE INSERT ON copy.orders FOR EACH ROW EXECUTE FUNCTION copy.stamp()",
        "CREATE TRIGGER off BEFORE INSERT ON copy.orders FOR EACH ROW EXECUTE FUNCTION copy.stamp()",
        "ALTER TABLE copy.orders DISABLE TRIGGER off",
    )  # fmt: skip
    assert "(stamps)" in warned(verdict(shop))["TRIGGERS"]
    shop.run("ALTER ROLE {role} SET session_replication_role = replica")
    assert "TRIGGERS" not in warned(verdict(shop))


def test_row_level_security_that_applies_to_the_role_is_a_warning(shop: Shop) -> None:
    shop.run(CREATED, GRANTED, "ALTER TABLE copy.orders ENABLE ROW LEVEL SECURITY")
    assert "BYPASSRLS" in warned(verdict(shop))["ROW_SECURITY"]
    shop.run("ALTER ROLE {role} BYPASSRLS")
    assert "ROW_SECURITY" not in warned(verdict(shop))


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        ("ALTER ROLE {role} CONNECTION LIMIT 7", "the connection limit of the role leaves 7 of 7"),
        ('ALTER DATABASE "{database}" CONNECTION LIMIT 7', "the connection limit of the database leaves"),
    ],
)
def test_more_tasks_than_connections_are_a_warning(shop: Shop, limit: str, names: str) -> None:
    shop.run(limit)
    assert "FEW_CONNECTIONS" not in warned(verdict(shop, tasks_max=2))
    message = warned(verdict(shop, tasks_max=4))["FEW_CONNECTIONS"]
    assert message.startswith("The delivery needs up to 8 connections")
    assert names in message


def test_the_limit_of_the_server_counts_without_what_is_reserved_for_superusers(shop: Shop) -> None:
    (server,) = [limit for limit in facts(shop).connection_limits if limit.name.startswith("max_connections")]
    (maximum, reserved) = shop.admin.execute(
        "SELECT current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int"
    ).fetchone() or (0, 0)
    assert server.maximum == maximum - reserved


def test_a_server_has_one_identity_under_each_of_its_names_for_a_role_without_any_rights(shop: Shop) -> None:
    by_address = facts(shop).server_identity
    endpoint = replace(shop.endpoint, address=replace(shop.address, host="localhost"))
    by_name = replace(client(endpoint), check_host=lambda _: ("127.0.0.1",)).target_facts([COPY], Deadline.after(15))
    assert by_address
    assert by_name.server_identity == by_address


def test_a_role_that_may_not_read_the_identity_of_the_server_has_all_other_facts(shop: Shop) -> None:
    shop.run("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    assert facts(shop).server_identity is None


ODD = "Odd 'name' größer"


def test_the_statement_for_a_target_runs_and_makes_one_without_problems_and_differing_types(shop: Shop) -> None:
    shop.run(*(text.replace("{schema}", '"shop"') for text in USER_TYPES))
    columns = (*EQUAL, *CHANGED_BY_AUTO_CREATE, *STOPPING)
    named = ", ".join(f'"{at} {column.column}" {column.type}' for at, column in enumerate(columns))
    shop.run(
        f'CREATE TABLE shop."odd one" ("{ODD}" bigint, "Größe" varchar(7), {named}, '
        f'PRIMARY KEY ("Größe", "{ODD}"))'.replace("{schema}", '"shop"'),
        "GRANT USAGE ON SCHEMA copy TO {role}",
    )
    source = shop.discovered("odd one")
    mapping = TableMapping(topic="t", schema_name="copy", table_name="odd one")
    writing = TableWriting(mappings=(mapping,), auto_evolve=False)
    (proposed,) = target_statements(writing, {"t": source})
    with shop.as_role() as writer:
        writer.execute(proposed.statement.encode())
    (made,) = facts(shop, TableName("copy", "odd one")).tables
    assert {column.name for column in made.columns if not column.nullable} == {ODD, "Größe"}
    assert made.unique_keys == (("Größe", ODD),)
    kept = {column.name: column.type for column in made.columns}
    assert (kept["Größe"], kept["3 exact"], kept["26 jsonb"]) == ("character varying(7)", "numeric(38,10)", "jsonb")
    judged = judge_target(writing, 1, {"t": source}, facts(shop, mapping.target))
    assert [problem.details for problem in judged.problems if problem.code != "TYPE_UNSUPPORTED"] == []
    assert {"TYPE_DIFFERS", "NULL_NOT_ACCEPTED"} & warned(judged).keys() == set()
