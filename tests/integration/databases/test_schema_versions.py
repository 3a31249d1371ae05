"""What becomes of changes of tables on real servers: the schemas that discovery reads, and what has changed in them."""

from collections.abc import Sequence

from chalicelib.domain.providers.mysql.capture_provider import MySQLCapture
from chalicelib.domain.providers.postgresql.capture_provider import PostgreSQLCapture
from chalicelib.domain.schema.change import Alteration
from chalicelib.domain.schema.difference import changes
from chalicelib.domain.schema.table_schema import DiscoveredSchema, TableSchema, schema_hash
from tests.support.databases.mysql import MySQLServer, MySQLShop, open_mysql_shop
from tests.support.databases.mysql_capture import listing_of
from tests.support.databases.postgresql import Shop

POSTGRESQL, MYSQL = PostgreSQLCapture(), MySQLCapture()
Found = tuple[Alteration, str | None]


def schema_of(found: Sequence[DiscoveredSchema], table: str = "orders") -> TableSchema:
    (schema,) = (one.schema for one in found if one.name.table_name == table)
    assert schema is not None
    return schema


def in_postgresql(shop: Shop) -> TableSchema:
    return schema_of(POSTGRESQL.table_schemas(shop.listing().tables))


def in_mysql(shop: MySQLShop) -> TableSchema:
    tables = [table for table in listing_of(shop).tables if table.name.schema_name == shop.name]
    return schema_of(MYSQL.table_schemas(tables))


POSTGRESQL_CASES: dict[str, list[Found]] = {
    "ALTER TABLE shop.orders ADD note text": [(Alteration.NULLABLE_COLUMN_ADDED, "note")],
    "ALTER TABLE shop.orders ADD note text NOT NULL DEFAULT 'x'": [(Alteration.COLUMN_WITH_DEFAULT_ADDED, "note")],
    "ALTER TABLE shop.orders ADD note text NOT NULL": [(Alteration.REQUIRED_COLUMN_ADDED, "note")],
    "ALTER TABLE shop.orders DROP amount": [(Alteration.NULLABLE_COLUMN_DROPPED, "amount")],
    "ALTER TABLE shop.orders DROP customer": [(Alteration.REQUIRED_COLUMN_DROPPED, "customer")],
    "ALTER TABLE shop.orders RENAME customer TO buyer": [(Alteration.COLUMN_PROBABLY_RENAMED, "customer")],
    "ALTER TABLE shop.orders ALTER amount TYPE numeric(12,2)": [(Alteration.TYPE_WIDENED, "amount")],
    "ALTER TABLE shop.orders ALTER amount TYPE numeric(8,2)": [(Alteration.TYPE_NARROWED, "amount")],
    "ALTER TABLE shop.orders ALTER amount TYPE text": [(Alteration.TYPE_CHANGED, "amount")],
    "ALTER TABLE shop.orders ALTER customer DROP NOT NULL": [(Alteration.NULLS_ALLOWED, "customer")],
    "ALTER TABLE shop.orders ALTER amount SET NOT NULL": [(Alteration.NULLS_FORBIDDEN, "amount")],
    "ALTER TABLE shop.orders ALTER amount SET DEFAULT 1": [(Alteration.DEFAULT_CHANGED, "amount")],
    "ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey": [(Alteration.PRIMARY_KEY_CHANGED, None)],
    "ALTER TABLE shop.orders REPLICA IDENTITY FULL": [(Alteration.REPLICA_IDENTITY_CHANGED, None)],
    "ALTER TABLE shop.orders ADD twice numeric GENERATED ALWAYS AS (amount * 2) STORED": [
        (Alteration.NULLABLE_COLUMN_ADDED, "twice")
    ],
    "ALTER TABLE shop.orders DROP amount, ADD paid numeric(10,2)": [(Alteration.COLUMN_PROBABLY_RENAMED, "amount")],
    "ALTER TABLE shop.orders DROP customer, ADD buyer text NOT NULL": [
        (Alteration.REQUIRED_COLUMN_DROPPED, "customer"),
        (Alteration.REQUIRED_COLUMN_ADDED, "buyer"),
    ],
    "INSERT INTO shop.orders SELECT n, 'x', n FROM generate_series(1, 100) n": [],
    "ANALYZE shop.orders": [],
    "CREATE INDEX ON shop.orders (customer)": [],
}
"""By statement. The last column is dropped and another one is added: that is taken for a new name, too."""


def test_changes_in_postgresql_are_found_as_what_they_are(shop: Shop) -> None:
    found: dict[str, list[Found]] = {}
    for statement, expected in POSTGRESQL_CASES.items():
        before = in_postgresql(shop)
        shop.run(statement)
        after = in_postgresql(shop)
        found[statement] = [(one.change, one.column) for one in changes(before, after, POSTGRESQL.type_order)]
        assert (schema_hash(before) == schema_hash(after)) == (not expected)
        shop.run(
            "DROP TABLE shop.orders",
            "CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer text NOT NULL, amount numeric(10, 2))",
        )
    assert found == POSTGRESQL_CASES


MYSQL_CASES: dict[str, list[Found]] = {
    "ALTER TABLE orders ADD note TEXT": [(Alteration.NULLABLE_COLUMN_ADDED, "note")],
    "ALTER TABLE orders ADD note INT NOT NULL DEFAULT 7": [(Alteration.COLUMN_WITH_DEFAULT_ADDED, "note")],
    "ALTER TABLE orders RENAME COLUMN customer TO buyer": [(Alteration.COLUMN_PROBABLY_RENAMED, "customer")],
    "ALTER TABLE orders MODIFY customer VARCHAR(200) NOT NULL": [(Alteration.TYPE_WIDENED, "customer")],
    "ALTER TABLE orders MODIFY customer VARCHAR(50) NOT NULL": [(Alteration.TYPE_NARROWED, "customer")],
    "ALTER TABLE orders ALTER amount SET DEFAULT 1": [(Alteration.DEFAULT_CHANGED, "amount")],
    "ALTER TABLE orders MODIFY customer VARCHAR(100) CHARACTER SET latin1 NOT NULL": [
        (Alteration.CHARACTER_SET_CHANGED, "customer"),
        (Alteration.COLLATION_CHANGED, "customer"),
    ],
    "ALTER TABLE orders ADD UNIQUE KEY by_customer (customer)": [(Alteration.UNIQUE_KEY_ADDED, None)],
    "ALTER TABLE orders MODIFY amount DECIMAL(10,2) FIRST": [],
    "INSERT INTO orders VALUES (1, 'x', 1)": [],
}


def test_changes_in_mysql_are_found_as_what_they_are(mysql_server: MySQLServer) -> None:
    found: dict[str, list[Found]] = {}
    for statement, expected in MYSQL_CASES.items():
        with open_mysql_shop(mysql_server) as shop:
            before = in_mysql(shop)
            shop.run(statement)
            after = in_mysql(shop)
        found[statement] = [(one.change, one.column) for one in changes(before, after, MYSQL.type_order)]
        assert (schema_hash(before) == schema_hash(after)) == (not expected)
    assert found == MYSQL_CASES


def test_a_table_that_the_account_sees_in_part_has_no_schema(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("REVOKE SELECT ON *.* FROM {role}", "GRANT SELECT (id) ON {database}.orders TO {role}")
    (found,) = MYSQL.table_schemas(listing_of(mysql_shop).tables)
    assert (found.name.table_name, found.schema) == ("orders", None)
