"""Statements that break a source for capture, and that repair it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.apps.real_headgate import Json

EXISTING: Json = {
    "publication_mode": "existing",
    "publication_name": "existing_publication",
    "slot_name": "{database}_slot",
}
PUBLISHED = "CREATE PUBLICATION existing_publication FOR TABLE shop.orders"
READABLE = "GRANT SELECT ON shop.orders TO {role}"
READS_ONLY = (PUBLISHED, "ALTER TABLE shop.orders OWNER TO postgres", READABLE)
ALL_KINDS = "insert, update, delete, truncate"


@dataclass(frozen=True)
class Fault:
    """Statements that break a working source and that repair it; `check` is the readiness check that must fail."""

    check: str
    breaks: Sequence[str]
    repairs: Sequence[str]


OWNER_FAULTS = {
    "no REPLICATION": Fault(
        "replication_privilege", ["ALTER ROLE {role} NOREPLICATION"], ["ALTER ROLE {role} REPLICATION"]
    ),
    "no CREATE on the database": Fault(
        "publication_rights",
        ["REVOKE CREATE ON DATABASE {database} FROM {role}"],
        ["GRANT CREATE ON DATABASE {database} TO {role}"],
    ),
    "not owner of the table": Fault(
        "publication_rights",
        ["ALTER TABLE shop.orders OWNER TO postgres", READABLE],
        ["ALTER TABLE shop.orders OWNER TO {role}"],
    ),
    "unlogged table": Fault(
        "logged_tables", ["ALTER TABLE shop.orders SET UNLOGGED"], ["ALTER TABLE shop.orders SET LOGGED"]
    ),
    "columns that differ by case": Fault(
        "column_names",
        ['ALTER TABLE shop.orders ADD COLUMN "Customer" text'],
        ['ALTER TABLE shop.orders DROP COLUMN "Customer"'],
    ),
    "connection limit": Fault(
        "connection_limit", ["ALTER ROLE {role} CONNECTION LIMIT 1"], ["ALTER ROLE {role} CONNECTION LIMIT 9"]
    ),
    "no usable replica identity": Fault(
        "replica_identity",
        ["ALTER TABLE shop.orders REPLICA IDENTITY NOTHING"],
        ["ALTER TABLE shop.orders REPLICA IDENTITY DEFAULT"],
    ),
    "table that was renamed": Fault(
        "tables", ["ALTER TABLE shop.orders RENAME TO elsewhere"], ["ALTER TABLE shop.elsewhere RENAME TO orders"]
    ),
    "child table": Fault(
        "child_tables", ["CREATE TABLE shop.older () INHERITS (shop.orders)"], ["DROP TABLE shop.older"]
    ),
    "column that would stop the capture": Fault(
        "cursor_columns",
        ["ALTER TABLE shop.orders ADD COLUMN at_work refcursor"],
        ["ALTER TABLE shop.orders DROP COLUMN at_work"],
    ),
}
"""Faults of a source whose account owns the table and creates the publication."""

READER_FAULTS = {
    "publication missing": Fault("publication", ["DROP PUBLICATION existing_publication"], [PUBLISHED]),
    "publication without the table": Fault(
        "publication_tables",
        ["ALTER PUBLICATION existing_publication DROP TABLE shop.orders"],
        ["ALTER PUBLICATION existing_publication ADD TABLE shop.orders"],
    ),
    "publication without inserts": Fault(
        "publication_operations",
        ["ALTER PUBLICATION existing_publication SET (publish = 'update')"],
        [f"ALTER PUBLICATION existing_publication SET (publish = '{ALL_KINDS}')"],
    ),
    "publication whose column list lacks the key": Fault(
        "publication_rows",
        ["ALTER PUBLICATION existing_publication SET TABLE shop.orders (customer)"],
        ["ALTER PUBLICATION existing_publication SET TABLE shop.orders"],
    ),
    "no SELECT on the table": Fault("select_privilege", ["REVOKE SELECT ON shop.orders FROM {role}"], [READABLE]),
    "no SELECT on a column": Fault(
        "select_privilege",
        ["REVOKE SELECT ON shop.orders FROM {role}", "GRANT SELECT (id) ON shop.orders TO {role}"],
        [READABLE],
    ),
    "no USAGE on the schema": Fault(
        "schema_usage", ["ALTER SCHEMA shop OWNER TO postgres"], ["ALTER SCHEMA shop OWNER TO {role}"]
    ),
    "row level security": Fault(
        "row_security",
        ["ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY"],
        ["ALTER TABLE shop.orders DISABLE ROW LEVEL SECURITY"],
    ),
    "physical slot": Fault(
        "slot",
        ["SELECT pg_create_physical_replication_slot('{database}_slot')"],
        ["SELECT pg_drop_replication_slot('{database}_slot')"],
    ),
}
"""Faults of a source whose account may only read, and whose publication existed before."""
