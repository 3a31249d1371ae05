"""PostgreSQL sources with one fault each: how it is made, and what readiness says."""

from dataclasses import dataclass
from typing import Any

from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.table import TableName
from tests.support.databases.postgresql import ORDERS

EXISTING = PublicationMode.EXISTING
PUBLISHED = "CREATE PUBLICATION pub_{database} FOR TABLE shop.orders"
FOREIGN_OWNER = "ALTER TABLE shop.orders OWNER TO postgres"
SLOT = "SELECT pg_create_logical_replication_slot('slot_{database}', 'pgoutput')"
READABLE = "GRANT SELECT ON shop.orders TO {role}"


@dataclass(frozen=True)
class PostgreSQLFault:
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
    "role without REPLICATION": PostgreSQLFault("replication_privilege", ("ALTER ROLE {role} NOREPLICATION",)),
    "no CREATE on the database": PostgreSQLFault(
        "publication_rights", ("REVOKE CREATE ON DATABASE {database} FROM {role}",)
    ),
    "table of another owner": PostgreSQLFault("publication_rights", (FOREIGN_OWNER, READABLE)),
    "publication of another owner": PostgreSQLFault(
        "publication_rights", ("CREATE PUBLICATION pub_{database} FOR TABLES IN SCHEMA public",)
    ),
    "connection limit of the role": PostgreSQLFault("connection_limit", ("ALTER ROLE {role} CONNECTION LIMIT 1",)),
    "connection limit of the database": PostgreSQLFault(
        "connection_limit", ("ALTER DATABASE {database} CONNECTION LIMIT 2",)
    ),
    "unlogged table": PostgreSQLFault("logged_tables", ("ALTER TABLE shop.orders SET UNLOGGED",)),
    "columns that differ by case": PostgreSQLFault(
        "column_names", ('ALTER TABLE shop.orders ADD COLUMN "Customer" text',)
    ),
    "no SELECT on the table": PostgreSQLFault("select_privilege", (FOREIGN_OWNER, PUBLISHED), existing=True),
    "no SELECT on one column": PostgreSQLFault(
        "select_privilege",
        (FOREIGN_OWNER, "GRANT SELECT (id, customer) ON shop.orders TO {role}", PUBLISHED),
        existing=True,
    ),
    "no USAGE on the schema": PostgreSQLFault(
        "schema_usage", (FOREIGN_OWNER, READABLE, "ALTER SCHEMA shop OWNER TO postgres", PUBLISHED), existing=True
    ),
    "row level security": PostgreSQLFault(
        "row_security",
        (FOREIGN_OWNER, READABLE, "ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY", PUBLISHED),
        existing=True,
    ),
    "row level security forced on the owner": PostgreSQLFault(
        "row_security", ("ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",)
    ),
    "table that does not exist": PostgreSQLFault(
        "tables", (), tables=(ORDERS, TableName("shop", "nothing")), repaired=False
    ),
    "view": PostgreSQLFault(
        "tables",
        ("CREATE VIEW shop.seen AS SELECT * FROM shop.orders", "GRANT SELECT ON shop.seen TO {role}"),
        tables=(TableName("shop", "seen"),),
        repaired=False,
    ),
    "no key with default identity": PostgreSQLFault(
        "replica_identity", ("ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey",)
    ),
    "identity NOTHING": PostgreSQLFault("replica_identity", ("ALTER TABLE shop.orders REPLICA IDENTITY NOTHING",)),
    "identity index that was dropped": PostgreSQLFault(
        "replica_identity",
        (
            "ALTER TABLE shop.orders ADD CONSTRAINT one UNIQUE (id)",
            "ALTER TABLE shop.orders REPLICA IDENTITY USING INDEX one",
            "ALTER TABLE shop.orders DROP CONSTRAINT one",
        ),
    ),
    "key that is deferrable": PostgreSQLFault(
        "replica_identity", ("ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id) DEFERRABLE",)
    ),
    "publication that is missing": PostgreSQLFault("publication", (), existing=True),
    "publication FOR ALL TABLES": PostgreSQLFault(
        "publication", ("CREATE PUBLICATION pub_{database} FOR ALL TABLES",), repaired=False
    ),
    "publication without the table": PostgreSQLFault(
        "publication_tables", ("CREATE PUBLICATION pub_{database}",), existing=True
    ),
    "publication of inserts only": PostgreSQLFault(
        "publication_operations", (f"{PUBLISHED} WITH (publish = 'insert')",), existing=True, warns=True
    ),
    "own publication of inserts only": PostgreSQLFault(
        "publication_operations",
        (f"{PUBLISHED} WITH (publish = 'insert')", "ALTER PUBLICATION pub_{database} OWNER TO {role}"),
        warns=True,
    ),
    "publication with a row filter": PostgreSQLFault(
        "publication_rows", (f"{PUBLISHED} WHERE (id > 5)",), existing=True, warns=True
    ),
    "filtered publication with a row filter": PostgreSQLFault(
        "publication_rows", (f"{PUBLISHED} WHERE (id > 5)",), warns=True
    ),
    "publication with a column list": PostgreSQLFault(
        "publication_rows",
        ("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders (id)",),
        existing=True,
        warns=True,
    ),
    "publication whose column list lacks the key": PostgreSQLFault(
        "publication_rows", ("CREATE PUBLICATION pub_{database} FOR TABLE shop.orders (customer)",), existing=True
    ),
    "publication of updates and deletes only": PostgreSQLFault(
        "publication_operations", (f"{PUBLISHED} WITH (publish = 'update, delete')",), existing=True
    ),
    "partitions published individually": PostgreSQLFault(
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
    "physical slot": PostgreSQLFault(
        "slot", ("SELECT pg_create_physical_replication_slot('slot_{database}')",), repaired=False
    ),
}
