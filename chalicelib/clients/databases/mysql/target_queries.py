"""The SQL that reads the targets of deliveries. The last parameter of most is the largest number of rows."""

from typing import LiteralString

STATISTICS_NOW: LiteralString = "SET SESSION information_schema_stats_expiry = 0"
"""From MySQL 8.0 on: otherwise numbers of rows may be a day old."""

SERVER: LiteralString = (
    "SELECT CURRENT_USER(), DATABASE(), @@collation_database, @@SESSION.max_user_connections, @@GLOBAL.max_connections"
)

VARIABLES = (
    *("server_uuid", "lower_case_table_names", "read_only", "super_read_only", "innodb_read_only"),
    *("sql_require_primary_key", "sql_generate_invisible_primary_key", "group_replication_group_name"),
    *("max_allowed_packet", "partial_revokes"),
)
"""Global variables. Names that a server does not have are left out of its answer."""

_NAMES: LiteralString = ", ".join(["%s"] * len(VARIABLES))
GLOBAL_VARIABLES: LiteralString = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({_NAMES})"

CONNECTIONS: LiteralString = "SHOW GLOBAL STATUS LIKE 'Threads_connected'"
OWN_CONNECTIONS: LiteralString = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = %s"

# Each is followed by a list of tables. Which names are equal follows from the server's collation of names.
TABLES: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, IF(TABLE_TYPE LIKE '%%VIEW', NULL, ENGINE) FROM information_schema.TABLES"
    " WHERE (TABLE_SCHEMA, TABLE_NAME) IN "
)
COLUMNS: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE = 'YES',"
    " COLUMN_DEFAULT IS NOT NULL OR EXTRA LIKE '%%DEFAULT_GENERATED%%', EXTRA LIKE '%%VIRTUAL GENERATED%%' OR"
    " EXTRA LIKE '%%STORED GENERATED%%', EXTRA LIKE '%%auto_increment%%', COLLATION_NAME, PRIVILEGES"
    " FROM information_schema.COLUMNS WHERE (TABLE_SCHEMA, TABLE_NAME) IN "
)
UNIQUE_INDEXES: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, IF(SUB_PART IS NULL, COLUMN_NAME, NULL)"
    " FROM information_schema.STATISTICS WHERE NON_UNIQUE = 0 AND (TABLE_SCHEMA, TABLE_NAME) IN "
)
IN_ORDER_OF_INDEXES: LiteralString = (
    " ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME = 'PRIMARY' DESC, INDEX_NAME, SEQ_IN_INDEX"
)
FOREIGN_KEYS: LiteralString = (
    "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE"
    " WHERE REFERENCED_TABLE_NAME IS NOT NULL AND (TABLE_SCHEMA, TABLE_NAME) IN "
)
REFERRING_FOREIGN_KEYS: LiteralString = (
    "SELECT DISTINCT REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, CONSTRAINT_NAME"
    " FROM information_schema.KEY_COLUMN_USAGE WHERE (REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME) IN "
)
TRIGGERS: LiteralString = (
    "SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS"
    " WHERE (EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE) IN "
)
"""Only those of tables for which the account has the privilege TRIGGER."""

# Statistics of the rows are wrong for some moments after each change of a table's definition.
STATES: LiteralString = (
    "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, t.CREATE_TIME, COALESCE(t.TABLE_ROWS, 0), (SELECT COUNT(PARTITION_NAME)"
    " FROM information_schema.PARTITIONS p WHERE p.TABLE_SCHEMA = t.TABLE_SCHEMA AND p.TABLE_NAME = t.TABLE_NAME)"
    " FROM information_schema.TABLES t WHERE t.TABLE_TYPE = 'BASE TABLE' AND (t.TABLE_SCHEMA, t.TABLE_NAME) IN "
)

# No metadata lock is waited for.
NAMED_COLUMNS: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS"
    " WHERE (TABLE_SCHEMA, TABLE_NAME) IN ({tables}) AND COLUMN_NAME IN ({names})"
)
NAMED_CONSTRAINTS: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS"
    " WHERE (TABLE_SCHEMA, TABLE_NAME) IN ({tables}) AND CONSTRAINT_NAME IN ({names})"
)

COUNT_ROWS = "SELECT COUNT(*) FROM (SELECT 1 FROM {table} LIMIT {bound}) AS some_rows"
