"""Whether a PostgreSQL server can be captured from: every fault that a read-only connection can foresee."""

from chalicelib.domain.providers.postgresql.facts import PostgreSQLServerFacts
from chalicelib.domain.providers.postgresql.readiness import identity, log, publication, server, tables
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.readiness import CONNECTION, Check

CHECKS: tuple[Check[PostgreSQLServerFacts, PostgreSQLCapturePlan | None], ...] = (
    CONNECTION,
    server.server_version,
    server.wal_level,
    server.primary_server,
    server.replication_privilege,
    server.replication_connection,
    server.same_server,
    server.replication_slots,
    server.wal_senders,
    server.connection_limit,
    server.slot_usable,
    log.slot_log_kept,
    log.log_retention,
    log.heartbeat,
    log.open_transactions,
    log.session_limits,
    tables.tables_exist,
    tables.schema_usage,
    tables.select_privilege,
    tables.row_security,
    tables.logged_tables,
    tables.primary_key,
    tables.column_names,
    tables.cursor_columns,
    tables.topic_names,
    tables.column_types,
    identity.replica_identity,
    identity.large_values,
    identity.later_partitions,
    identity.child_tables,
    publication.publication_available,
    publication.publication_rights,
    publication.publication_operations,
    publication.publication_tables,
    publication.publication_rows,
    publication.partitioned_tables,
)
"""Every check, in the order in which they are shown."""
