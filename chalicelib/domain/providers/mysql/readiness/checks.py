"""Whether a MySQL server can be captured from: every fault that a read-only connection can foresee.

The definitions of tables are not among them: Debezium's default parser of 3.6 fails at two double quotes inside one
literal, also of a table that is not captured, and the config of every capture has the parser that reads them all
(`ddl.parser.type`, source_config).
"""

from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness import (
    account,
    binary_log,
    heartbeat,
    readers,
    rights,
    server,
    snapshot,
    tables,
)
from chalicelib.domain.readiness import CONNECTION, Check

CHECKS: tuple[Check[MySQLServerFacts, MySQLCapturePlan | None], ...] = (
    CONNECTION,
    server.server_kind,
    server.server_version,
    server.same_server,
    binary_log.log_bin,
    binary_log.binlog_format,
    binary_log.binlog_row_image,
    binary_log.binlog_row_value_options,
    binary_log.binlog_row_metadata,
    binary_log.binlog_status,
    binary_log.binlog_retention,
    binary_log.binlog_transaction_compression,
    binary_log.gtid_mode,
    server.replica,
    readers.server_id,
    readers.server_id_clash,
    rights.default_roles,
    rights.grant_replication_slave,
    rights.grant_replication_client,
    rights.grant_select,
    rights.definitions,
    account.auth_plugin,
    account.tls,
    account.connections,
    snapshot.snapshot_lock,
    snapshot.active_transactions,
    snapshot.timeouts,
    snapshot.max_allowed_packet,
    heartbeat.heartbeat,
    server.time_zone,
    server.case,
    tables.tables_exist,
    tables.topic_names,
    tables.engine,
    tables.primary_key,
    tables.hidden_keys,
    tables.fk_cascades,
    tables.partitions,
    tables.generated,
    tables.invisible,
    tables.charset,
    tables.column_types,
)
"""Every check, in the order in which they are shown."""
