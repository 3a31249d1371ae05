"""The SQL that reads a PostgreSQL server: catalog reads only, for PostgreSQL 12 and later.

Columns that came with later versions are read through `to_jsonb(row) ->> 'column'`, which is null where there is none.
Catalogs and functions: PostgreSQL documentation, chapters 9.27, 52 and 53.
"""

VERSION = "SELECT current_setting('server_version'), current_setting('server_version_num')::int"

READABLE = "SELECT count(*) FROM (SELECT 1 FROM pg_class LIMIT 1) AS relation"

SERVER = """
SELECT current_setting('server_version'), current_setting('server_version_num')::int, current_database()::text,
       current_setting('wal_level'), pg_is_in_recovery(),
       current_setting('max_replication_slots')::int, current_setting('max_wal_senders')::int,
       (SELECT count(*) FROM pg_stat_replication)::int,
       (SELECT setting::int FROM pg_settings WHERE name = 'max_slot_wal_keep_size')
"""

# Signs of hosting providers, and the time limits of a new session (reset_val: it ignores the changes of this session).
HOSTING = """
SELECT ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%s::text[]))
       || ARRAY(SELECT name FROM unnest(%s::text[]) AS name WHERE current_setting(name, true) IS NOT NULL)
       || ARRAY(SELECT DISTINCT proname::text FROM pg_proc WHERE proname = ANY (%s::text[])),
       ARRAY(SELECT name FROM pg_settings WHERE name = ANY (%s::text[]) ORDER BY name),
       ARRAY(SELECT reset_val::bigint FROM pg_settings WHERE name = ANY (%s::text[]) ORDER BY name)
"""

# A new slot waits for every transaction that writes, prepared ones too. The age of transactions of other roles is
# visible only with pg_read_all_stats.
OPEN_TRANSACTIONS = """
(SELECT extract(epoch FROM clock_timestamp() - a.xact_start)::bigint, a.pid, NULL::text
 FROM pg_stat_activity a
 WHERE a.backend_xid IS NOT NULL AND a.xact_start IS NOT NULL AND a.pid <> pg_backend_pid()
 ORDER BY a.xact_start LIMIT %s)
UNION ALL
(SELECT extract(epoch FROM clock_timestamp() - p.prepared)::bigint, NULL::int, p.database::text
 FROM pg_prepared_xacts p ORDER BY p.prepared LIMIT %s)
LIMIT %s
"""

# Amazon does not grant REPLICATION, but membership in its role rds_replication.
ROLE = """
SELECT r.rolname::text, r.rolsuper,
       r.rolreplication OR EXISTS (
           SELECT 1 FROM pg_roles m
           WHERE m.rolname = 'rds_replication' AND pg_has_role(m.oid, 'USAGE')),
       r.rolconnlimit,
       (SELECT count(*) FROM pg_stat_activity a WHERE a.usesysid = r.oid AND a.pid <> pg_backend_pid())::int,
       d.datconnlimit,
       (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid AND a.pid <> pg_backend_pid())::int,
       has_database_privilege(d.oid, 'CREATE')
FROM pg_roles r, pg_database d
WHERE r.rolname = current_user AND d.datname = current_database()
"""

SLOTS = """
SELECT s.slot_name::text, s.plugin::text, s.database::text, s.active, to_jsonb(s) ->> 'wal_status',
       CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::bigint END,
       (to_jsonb(s) ->> 'safe_wal_size')::bigint
FROM pg_replication_slots s ORDER BY s.slot_name LIMIT %s
"""

PUBLICATIONS = """
SELECT p.pubname::text, p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete,
       COALESCE((to_jsonb(p) ->> 'pubviaroot')::boolean, false), pg_has_role(p.pubowner, 'USAGE'),
       CASE WHEN p.puballtables THEN NULL
            ELSE (SELECT count(*) FROM pg_publication_tables t WHERE t.pubname = p.pubname)::int END
FROM pg_publication p ORDER BY p.pubname LIMIT %s
"""

PUBLISHED_TABLES = """
SELECT t.pubname::text, t.schemaname::text, t.tablename::text, to_jsonb(t) ->> 'rowfilter' IS NOT NULL,
       CASE WHEN jsonb_typeof(to_jsonb(t) -> 'attnames') = 'array'
            THEN ARRAY(SELECT jsonb_array_elements_text(to_jsonb(t) -> 'attnames')) END
FROM pg_publication_tables t
JOIN unnest(%s::text[], %s::text[]) AS named (schema_name, table_name)
  ON t.schemaname = named.schema_name AND t.tablename = named.table_name
ORDER BY 1, 2, 3 LIMIT %s
"""

# Whether PostgreSQL can publish an update of the relation `c`.
_IDENTITY_USABLE = """
       CASE c.relreplident
           WHEN 'f' THEN true WHEN 'n' THEN false
           WHEN 'i' THEN EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisreplident)
           ELSE EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate) END"""

_RELATION_ITSELF = """
SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text,
       c.relreplident::text, has_schema_privilege(n.oid, 'USAGE'), pg_has_role(c.relowner, 'USAGE'),
       (SELECT r.rolname::text FROM pg_roles r WHERE r.oid = c.relowner AND NOT r.rolsuper),
       c.relkind IN ('r', 'p') AND row_security_active(c.oid) AND NOT (
           EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd IN ('r', '*')
                     AND pg_get_expr(p.polqual, p.polrelid) = 'true'
                     AND EXISTS (SELECT 1 FROM unnest(p.polroles) r WHERE r = 0 OR pg_has_role(r, 'USAGE')))
           AND NOT EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND NOT p.polpermissive
                     AND p.polcmd IN ('r', '*')
                     AND EXISTS (SELECT 1 FROM unnest(p.polroles) r WHERE r = 0 OR pg_has_role(r, 'USAGE')))),
       ARRAY(SELECT a.attname::text FROM pg_index i
             CROSS JOIN unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, ordinal)
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
             WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY k.ordinal),
"""

_MORE_OF_RELATION = """,
       ARRAY(SELECT a.attname::text FROM pg_index i CROSS JOIN unnest(i.indkey::int2[]) AS k (attnum)
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
             WHERE i.indrelid = c.oid AND i.indisreplident),
       c.reltoastrelid <> 0,
       EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'id'
               WHERE i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
                 AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
       COALESCE((SELECT bool_and(has_column_privilege(c.oid, a.attnum, 'INSERT')
                                 AND has_column_privilege(c.oid, a.attnum, 'UPDATE'))
                 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('id', 'ts')), false),
"""

_RELATION = _RELATION_ITSELF + _IDENTITY_USABLE + _MORE_OF_RELATION

# Read from pg_inherits, not with pg_partition_tree(): it takes no lock on a partition that is being altered.
_BELOW = """
WITH RECURSIVE below AS (
    SELECT i.inhparent AS root, i.inhrelid AS relation FROM pg_inherits i WHERE i.inhparent = ANY (%s::oid[])
    UNION
    SELECT b.root, i.inhrelid FROM below b JOIN pg_inherits i ON i.inhparent = b.relation),
described AS (
    SELECT b.root, ARRAY[n.nspname::text, c.relname::text] AS name, c.relispartition AS is_partition,
           c.reltoastrelid <> 0 AS stores_apart, c.relreplident = 'f' AS is_full,
"""

_COUNTED = """ AS identity_usable
    FROM below b JOIN pg_class c ON c.oid = b.relation AND c.relkind = 'r'
    JOIN pg_namespace n ON n.oid = c.relnamespace)
SELECT root::bigint, count(*) FILTER (WHERE is_partition)::int,
       COALESCE(bool_or(stores_apart) FILTER (WHERE is_partition), false),
       count(*) FILTER (WHERE is_partition AND NOT identity_usable)::int,
       (array_agg(name ORDER BY name) FILTER (WHERE is_partition AND NOT identity_usable))[1:10],
       count(*) FILTER (WHERE is_partition AND stores_apart AND NOT is_full)::int,
       (array_agg(name ORDER BY name) FILTER (WHERE is_partition AND stores_apart AND NOT is_full))[1:10],
       count(*) FILTER (WHERE NOT is_partition)::int,
       (array_agg(name ORDER BY name) FILTER (WHERE NOT is_partition))[1:10]
FROM described GROUP BY root LIMIT %s
"""

DESCENDANTS = _BELOW + _IDENTITY_USABLE + _COUNTED

# Rows: -1, and 0 with no page at all, mean "never analysed". A partitioned table is the sum of its leaves.
_EXACT_SIZE = """
       CASE c.relkind
           WHEN 'r' THEN CASE WHEN c.reltuples > 0 OR (c.reltuples = 0 AND c.relpages > 0) THEN c.reltuples::bigint END
           WHEN 'p' THEN (SELECT CASE WHEN min(l.reltuples) >= 0 THEN sum(l.reltuples)::bigint END
                          FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf) END,
       CASE c.relkind
           WHEN 'r' THEN pg_table_size(c.oid)
           WHEN 'p' THEN (SELECT sum(pg_table_size(t.relid))::bigint FROM pg_partition_tree(c.oid) t WHERE t.isleaf) END
"""

# Sizes by the last count of pages: it takes no lock, in case another session alters a table.
_COUNTED_SIZE = """
       CASE WHEN c.relkind = 'r' AND c.relpages > 0 THEN c.reltuples::bigint END,
       CASE WHEN c.relkind = 'r' AND c.relpages > 0
            THEN (c.relpages + COALESCE((SELECT t.relpages FROM pg_class t WHERE t.oid = c.reltoastrelid), 0))::bigint
                 * current_setting('block_size')::bigint END
"""

_NO_SIZE = " NULL::bigint, NULL::bigint "

_DISCOVERED = """
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg|_timescaledb)_'
  AND n.nspname <> 'information_schema'
ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C" LIMIT %s
"""

_NAMED = """
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN unnest(%s::text[], %s::text[]) AS named (schema_name, table_name)
  ON n.nspname = named.schema_name AND c.relname = named.table_name
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C" LIMIT %s
"""

DISCOVERED_TABLES = _RELATION + _EXACT_SIZE + _DISCOVERED
DISCOVERED_TABLES_WITHOUT_SIZES = _RELATION + _NO_SIZE + _DISCOVERED
DISCOVERED_TABLES_WITHOUT_LOCKS = _RELATION + _COUNTED_SIZE + _DISCOVERED
NAMED_TABLES = _RELATION + _NO_SIZE + _NAMED

# A domain is followed down to its base type; an array is described by its element, which may be a domain again.
COLUMNS = """
WITH RECURSIVE
column_types AS (
    SELECT DISTINCT a.atttypid AS declared FROM pg_attribute a
    WHERE a.attrelid = ANY (%(tables)s::oid[]) AND a.attnum > 0 AND NOT a.attisdropped),
below AS (
    SELECT declared, declared AS type, NULL::int AS modifier, 0 AS depth FROM column_types
    UNION ALL
    SELECT b.declared, t.typbasetype, t.typtypmod, b.depth + 1
    FROM below b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd' AND b.depth < 32),
base AS (SELECT DISTINCT ON (declared) declared, type, modifier, depth FROM below ORDER BY declared, depth DESC),
described AS (
    SELECT b.declared, b.depth > 0 AS is_domain, t.typlen = -1 AND t.typelem <> 0 AND t.typcategory = 'A' AS is_array,
           CASE WHEN t.typlen = -1 AND t.typelem <> 0 AND t.typcategory = 'A' THEN t.typelem ELSE t.oid END AS element,
           b.modifier, t.typndims AS domain_dimensions
    FROM base b JOIN pg_type t ON t.oid = b.type)
SELECT a.attrelid::bigint, a.attname::text, row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum)::int,
       format_type(a.atttypid, a.atttypmod),
       format_type(e.oid, CASE WHEN d.is_domain THEN d.modifier ELSE a.atttypmod END), e.typtype::text,
       d.is_array, CASE WHEN d.is_array THEN a.attndims ELSE 0 END, d.is_domain,
       NOT a.attnotnull, a.atthasdef OR a.attidentity <> '' OR EXISTS (
           SELECT 1 FROM pg_type own WHERE own.oid = a.atttypid AND own.typdefaultbin IS NOT NULL),
       a.attgenerated::text, has_column_privilege(a.attrelid, a.attnum, 'SELECT'),
       a.attgenerated = '' AND a.attidentity <> 'a', a.attgenerated = '' AND a.attstorage <> 'p',
       a.attname !~ '^[a-z_][a-z0-9_]*$'
       OR a.attname::text IN (SELECT k.word FROM pg_get_keywords() k WHERE k.catcode IN ('R', 'T')),
       e.typcategory = 'D' AND a.attgenerated = '' AND EXISTS (
           SELECT 1 FROM pg_attrdef own WHERE own.adrelid = a.attrelid AND own.adnum = a.attnum
           AND left(pg_get_expr(own.adbin, own.adrelid), 1) <> '''')
FROM pg_attribute a
JOIN described d ON d.declared = a.atttypid
JOIN pg_type e ON e.oid = d.element
WHERE a.attrelid = ANY (%(tables)s::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY array_position(%(tables)s::oid[], a.attrelid), a.attnum LIMIT %(max_rows)s
"""

TARGET_SERVER = """
SELECT current_setting('server_version_num')::int, current_user::text, pg_is_in_recovery(),
       ARRAY(SELECT extname::text FROM pg_extension ORDER BY extname LIMIT 1000)
"""

TARGET_SCHEMAS = """
SELECT n.nspname::text, has_schema_privilege(n.oid, 'USAGE'), has_schema_privilege(n.oid, 'CREATE')
FROM pg_namespace n WHERE n.nspname = ANY (%s::text[]) LIMIT %s
"""

# A privilege counts when the table or each of its columns grants it. Keys that ON CONFLICT can name: unique, immediate,
# valid, without condition and without expression.
TARGET_TABLES = """
SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, pg_has_role(c.relowner, 'USAGE'),
       has_any_column_privilege(c.oid, 'SELECT') AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid
           AND a.attnum > 0 AND NOT a.attisdropped AND NOT has_column_privilege(c.oid, a.attnum, 'SELECT')),
       has_any_column_privilege(c.oid, 'INSERT') AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid
           AND a.attnum > 0 AND NOT a.attisdropped AND NOT has_column_privilege(c.oid, a.attnum, 'INSERT')),
       has_any_column_privilege(c.oid, 'UPDATE') AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid
           AND a.attnum > 0 AND NOT a.attisdropped AND NOT has_column_privilege(c.oid, a.attnum, 'UPDATE')),
       has_table_privilege(c.oid, 'DELETE')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN unnest(%s::text[], %s::text[]) AS named (schema_name, table_name)
  ON n.nspname = named.schema_name AND c.relname = named.table_name
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 2, 3 LIMIT %s
"""

# All members of a table: itself, its partitions and theirs. A table is rewritten under another file number, and one
# that was made again has another oid. Statistics count twice what a session inserts and ANALYZE sees before they get
# its report (measured: 1980 live rows of 990), and begin at zero after a crash: the estimate takes the lower one. No
# lock of a table is waited for.
TARGET_TABLE_STATES = """
WITH RECURSIVE members (root, oid) AS (
    SELECT c.oid, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN unnest(%s::text[], %s::text[]) AS named (schema_name, table_name)
      ON n.nspname = named.schema_name AND c.relname = named.table_name
    WHERE c.relkind IN ('r', 'p')
    UNION SELECT m.root, i.inhrelid FROM members m JOIN pg_inherits i ON i.inhparent = m.oid
), counted AS (
    SELECT m.root, c.oid, pg_relation_filenode(c.oid) AS file, c.relkind <> 'p' AS has_rows,
           c.reltuples::bigint AS analyzed, pg_stat_get_live_tuples(c.oid) AS live,
           pg_stat_get_tuples_inserted(c.oid) AS inserted, pg_stat_get_tuples_deleted(c.oid) AS deleted,
           coalesce(pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_last_autovacuum_time(c.oid),
                    pg_stat_get_last_analyze_time(c.oid), pg_stat_get_last_autoanalyze_time(c.oid))
               IS NULL AS only_counted
    FROM members m JOIN pg_class c ON c.oid = m.oid
)
SELECT n.nspname::text, t.relname::text, t.oid::text, md5(string_agg(concat(c.oid, ':', c.file), ',' ORDER BY c.oid)),
       count(*) FILTER (WHERE c.oid <> t.oid),
       coalesce(sum(CASE WHEN c.only_counted AND c.inserted < c.analyzed THEN c.analyzed
                         ELSE least(c.live, greatest(c.analyzed, c.inserted - c.deleted, 0)) END)
                FILTER (WHERE c.has_rows), 0)::bigint,
       coalesce(sum(c.live) FILTER (WHERE c.has_rows), 0)::bigint,
       coalesce(sum(c.deleted) FILTER (WHERE c.has_rows), 0)::bigint,
       has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(t.oid, 'SELECT')
           AND NOT row_security_active(t.oid)
FROM counted c JOIN pg_class t ON t.oid = c.root JOIN pg_namespace n ON n.oid = t.relnamespace
GROUP BY n.oid, n.nspname, t.oid, t.relname LIMIT %s
"""

COUNT_ROWS = "SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {bound}) AS some_rows"

UNIQUE_KEYS = """
SELECT i.indrelid::bigint, ARRAY(
           SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, ordinal)
           JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
           WHERE k.ordinal <= i.indnkeyatts ORDER BY k.ordinal)
FROM pg_index i
WHERE i.indrelid = ANY (%s::oid[]) AND i.indisunique AND i.indimmediate AND i.indisvalid
  AND i.indpred IS NULL AND i.indexprs IS NULL
ORDER BY i.indrelid, i.indisprimary DESC, i.indexrelid LIMIT %s
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
LIMIT %s
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

SYSTEM_IDENTIFIER = "SELECT system_identifier::text FROM pg_control_system()"

CAPTURE_SLOTS = """
SELECT s.slot_name::text, (s.restart_lsn - '0/0'::pg_lsn)::bigint,
       (s.confirmed_flush_lsn - '0/0'::pg_lsn)::bigint,
       NULLIF(concat_ws('@', s.active_pid, extract(epoch FROM r.backend_start)::bigint), ''),
       to_jsonb(s) ->> 'wal_status', (e.lsn - '0/0'::pg_lsn)::bigint,
       pg_wal_lsn_diff(e.lsn, s.restart_lsn)::bigint, (to_jsonb(s) ->> 'safe_wal_size')::bigint,
       NULLIF(pg_size_bytes(current_setting('max_slot_wal_keep_size', true)), -1),
       extract(epoch FROM (to_jsonb(s) ->> 'inactive_since')::timestamptz - now()
               + NULLIF(current_setting('idle_replication_slot_timeout', true), '0')::interval)::bigint
FROM pg_replication_slots s
LEFT JOIN pg_stat_activity r ON r.pid = s.active_pid
CROSS JOIN (SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_lsn() END AS lsn) e
WHERE s.slot_name = ANY (%s) AND s.database = current_database() LIMIT %s
"""

# To be read after the slots. The first eight digits of a file of the log are its timeline. A standby has no end.
SERVER_LOG = """
SELECT CASE WHEN NOT pg_is_in_recovery() THEN (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint END,
       CASE WHEN NOT pg_is_in_recovery()
            THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END,
       extract(epoch FROM pg_postmaster_start_time())::bigint
"""

# Right after a promotion the last checkpoint is still one of the timeline before.
LAST_CHECKPOINT = "SELECT timeline_id, (checkpoint_lsn - '0/0'::pg_lsn)::bigint FROM pg_control_checkpoint()"

# A partitioned table is listed by its partitions where the publication does not publish by the root.
CAPTURE_PUBLICATIONS = """
WITH named_tables AS (
    SELECT c.oid, named.schema_name, named.table_name
    FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS named (schema_name, table_name)
    JOIN pg_namespace n ON n.nspname = named.schema_name
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = named.table_name
), publications AS (
    SELECT p.oid, p.pubname, p.puballtables FROM pg_publication p WHERE p.pubname = ANY (%(publications)s)
)
SELECT a.pubname::text, NULL::text, NULL::text FROM publications a
UNION SELECT a.pubname::text, f.schema_name, f.table_name FROM publications a, named_tables f WHERE a.puballtables
UNION SELECT a.pubname::text, f.schema_name, f.table_name
    FROM publications a JOIN pg_publication_rel r ON r.prpubid = a.oid JOIN named_tables f ON f.oid = r.prrelid
UNION SELECT a.pubname::text, f.schema_name, f.table_name
    FROM publications a JOIN pg_publication_tables t ON t.pubname = a.pubname AND NOT a.puballtables
    JOIN named_tables f ON f.schema_name = t.schemaname AND f.table_name = t.tablename
LIMIT %(max_rows)s
"""
