"""The SQL that reads side effects of writes into target tables, and the identity of the server: catalog reads only.

The rules are those of `queries`.
"""

# PostgreSQL 18 lets PUBLIC call pg_control_system(); a hosting provider may revoke it.
MAY_READ_IDENTITY = "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')"

# Copies of a server (restored snapshots, promoted standbys) have the same identifier, but another address.
IDENTITY = """
SELECT system_identifier::text, CASE WHEN inet_server_addr() << '127.0.0.0/8' OR inet_server_addr() = '::1'
                                     THEN 'loopback' ELSE host(inet_server_addr()) END, inet_server_port()
FROM pg_control_system()
"""

# Each limit with the number of connections of others. Reserved connections are not for ordinary roles.
CONNECTIONS = """
SELECT 'max_connections of the server',
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - COALESCE((SELECT setting::int FROM pg_settings WHERE name = 'reserved_connections'), 0),
       (SELECT count(*) FROM pg_stat_activity a WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid())
UNION ALL
SELECT 'the connection limit of the role', r.rolconnlimit,
       (SELECT count(*) FROM pg_stat_activity a WHERE a.usesysid = r.oid AND a.pid <> pg_backend_pid())
FROM pg_roles r WHERE r.rolname = current_user
UNION ALL
SELECT 'the connection limit of the database', d.datconnlimit,
       (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid AND a.pid <> pg_backend_pid())
FROM pg_database d WHERE d.datname = current_database()
"""

# Foreign keys of the table and those that point at it, unique indexes and exclusion constraints with their columns
# (null where an expression or a condition is part of it), and triggers that fire for this role.
SIDE_EFFECTS = """
SELECT t.oid::bigint, 'foreign key', f.conname::text, NULL::text[]
FROM unnest(%(tables)s::oid[]) AS t (oid)
JOIN pg_constraint f ON f.contype = 'f' AND f.conparentid = 0 AND t.oid IN (f.conrelid, f.confrelid)
UNION ALL
SELECT i.indrelid::bigint, 'unique', c.relname::text,
       CASE WHEN i.indpred IS NULL AND i.indexprs IS NULL AND i.indisunique THEN ARRAY(
           SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, ordinal)
           JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
           WHERE k.ordinal <= i.indnkeyatts ORDER BY k.ordinal) END
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = ANY (%(tables)s::oid[]) AND (i.indisunique OR i.indisexclusion) AND i.indisready
UNION ALL
SELECT g.tgrelid::bigint, 'trigger', g.tgname::text, NULL
FROM pg_trigger g
WHERE g.tgrelid = ANY (%(tables)s::oid[]) AND NOT g.tgisinternal
  AND g.tgenabled::text IN ('A', CASE current_setting('session_replication_role') WHEN 'replica' THEN 'R' ELSE 'O' END)
UNION ALL
SELECT c.oid::bigint, 'row security', c.relname::text, NULL
FROM pg_class c WHERE c.oid = ANY (%(tables)s::oid[]) AND c.relkind IN ('r', 'p') AND row_security_active(c.oid)
ORDER BY 1, 2, 3 LIMIT %(max_rows)s
"""

REPLICATION_ROLE = "SELECT current_setting('session_replication_role') = 'replica'"
