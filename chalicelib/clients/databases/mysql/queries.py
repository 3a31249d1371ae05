"""The SQL that reads a MySQL server. The last parameter of most is the largest number of rows, plus one."""

from typing import LiteralString

READABLE: LiteralString = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'information_schema'"

VARIABLES = (
    *("version", "version_comment", "server_id", "server_uuid", "log_bin", "binlog_format", "binlog_row_image"),
    *("binlog_row_metadata", "binlog_row_value_options", "binlog_expire_logs_seconds", "expire_logs_days"),
    *("binlog_expire_logs_auto_purge", "binlog_transaction_compression", "gtid_mode", "enforce_gtid_consistency"),
    *("log_replica_updates", "log_slave_updates", "read_only", "super_read_only", "lower_case_table_names"),
    *("time_zone", "system_time_zone", "require_secure_transport", "have_ssl", "max_connections"),
    *("max_user_connections", "max_allowed_packet", "wait_timeout", "net_write_timeout", "net_read_timeout"),
    *("sql_mode", "innodb_native_foreign_keys", "character_set_server", "collation_server", "partial_revokes"),
    *("sql_generate_invisible_primary_key", "show_gipk_in_create_table_and_information_schema", "aurora_version"),
    *("innodb_read_only", "default_storage_engine", "explicit_defaults_for_timestamp", "basedir"),
    *("sql_require_primary_key", "gtid_purged", "binlog_encryption"),
)
"""Global variables. Names that a server does not have are left out of its answer."""

_VARIABLE_NAMES: LiteralString = ", ".join(["%s"] * len(VARIABLES))
GLOBAL_VARIABLES: LiteralString = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({_VARIABLE_NAMES})"

WAYS_OF_SERVER: LiteralString = (
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN"
    " ('innodb_native_foreign_keys', 'show_gipk_in_create_table_and_information_schema')"
)
THREADS_CONNECTED: LiteralString = "SHOW GLOBAL STATUS LIKE 'Threads_connected'"

ACCOUNT: LiteralString = "SELECT CURRENT_USER(), @@SESSION.max_user_connections"
"""The limit of the session is that of the account, where it has one, else that of all accounts."""
ACTIVE_ROLES: LiteralString = "SELECT CURRENT_ROLE() AS roles"
GRANTS: LiteralString = "SHOW GRANTS FOR CURRENT_USER()"
"""With those of active roles (MySQL 8.0 reference, SHOW GRANTS)."""

# Each statement is unknown to some versions: the first is that of newer ones.
BINLOG_STATUS: tuple[LiteralString, ...] = ("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS")
REPLICAS: tuple[LiteralString, ...] = ("SHOW REPLICAS", "SHOW SLAVE HOSTS")
REPLICA_STATUS: tuple[LiteralString, ...] = ("SHOW REPLICA STATUS", "SHOW SLAVE STATUS")
BINARY_LOGS: LiteralString = "SHOW BINARY LOGS"

SESSIONS: LiteralString = (
    "SELECT COUNT(USER = %s OR NULL), COUNT(COMMAND LIKE 'Binlog Dump%%' OR NULL),"
    " COUNT(COMMAND LIKE 'Binlog Dump%%' AND USER = %s OR NULL) FROM information_schema.PROCESSLIST"
)
"""Without PROCESS an account sees its own only."""
OPEN_TRANSACTIONS: LiteralString = (
    "SELECT TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS seconds FROM information_schema.INNODB_TRX"
    " ORDER BY trx_started LIMIT 20"
)
AMAZON_RETENTION: LiteralString = "SELECT value FROM mysql.rds_configuration WHERE name = 'binlog retention hours'"
"""What `CALL mysql.rds_show_configuration` shows: a table that only Amazon's servers have."""

# Each reads no row. The star needs a right on every column.
READ_ALL_COLUMNS: LiteralString = "SELECT 1 FROM (SELECT * FROM {table} LIMIT 0) AS none"
READ_ANY_COLUMN: LiteralString = "SELECT 1 FROM {table} LIMIT 0"
READ_DEFINITION: LiteralString = "SHOW CREATE TABLE {table}"

_SYSTEM: LiteralString = (
    "('mysql', 'information_schema', 'performance_schema', 'sys', 'mysql_innodb_cluster_metadata', 'ndbinfo',"
    " 'rdsadmin')"
)
_TABLE: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE, TABLE_COLLATION, COALESCE(CREATE_OPTIONS, '') LIKE '%%partitioned%%',"
    " TABLE_ROWS, DATA_LENGTH, TABLE_TYPE = 'BASE TABLE' FROM information_schema.TABLES"
)
DISCOVERED_TABLES: LiteralString = (
    f"{_TABLE} WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN {_SYSTEM}"
    " ORDER BY TABLE_SCHEMA <> %s, TABLE_SCHEMA, TABLE_NAME LIMIT %s"
)
"""Those of the database of the address first."""

EXISTING_TABLES: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE (TABLE_SCHEMA, TABLE_NAME) IN "
)
NAMED_TABLES: LiteralString = f"{_TABLE} WHERE (TABLE_SCHEMA, TABLE_NAME) IN "
COLUMNS: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE = 'YES', COLUMN_DEFAULT,"
    " EXTRA, CHARACTER_SET_NAME, COLLATION_NAME, PRIVILEGES, SRS_ID FROM information_schema.COLUMNS"
    " WHERE (TABLE_SCHEMA, TABLE_NAME) IN "
)
COLUMNS_BEFORE_8: LiteralString = COLUMNS.replace("SRS_ID", "NULL")
INDEXES: LiteralString = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS"
    " WHERE NON_UNIQUE = 0 AND (TABLE_SCHEMA, TABLE_NAME) IN "
)
INDEX_ORDER: LiteralString = " ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
COLUMN_ORDER: LiteralString = " ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"
FOREIGN_KEYS: LiteralString = (
    "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME,"
    " UPDATE_RULE, DELETE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS"
    " WHERE (CONSTRAINT_SCHEMA, TABLE_NAME) IN "
)
