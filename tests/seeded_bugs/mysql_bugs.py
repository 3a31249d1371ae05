"""Bugs of MySQL: what is captured and how it is written, whether anything of its log is lost, and how it is reached."""

from tests.seeded_bugs.bug import Bug

_PROVIDER = "chalicelib/domain/providers/mysql"
_UNIT = "tests/unit/domain/providers/mysql"
_CLIENT = "chalicelib/clients/databases/mysql"
_DATABASES = "tests/integration/databases"
_POSITIONS = (f"{_UNIT}/test_continuity.py", f"{_UNIT}/test_running_capture.py", f"{_UNIT}/test_gtid_set.py")
_LOG = (f"{_UNIT}/test_binlog_log.py", f"{_UNIT}/test_running_capture.py")
_CONFIG = (f"{_UNIT}/test_source_config.py", f"{_UNIT}/test_schema_history.py")
_SINK = (f"{_UNIT}/test_sink_config.py", f"{_UNIT}/test_target.py", f"{_DATABASES}/test_mysql_targets.py")
_READINESS = (f"{_UNIT}/readiness", f"{_DATABASES}/test_mysql_readiness.py")
_SESSIONS = (
    f"{_DATABASES}/test_mysql_connection.py",
    f"{_DATABASES}/test_mysql_encryption.py",
    f"{_DATABASES}/test_mysql_servers.py",
)

MYSQL_BUGS: tuple[Bug, ...] = (
    # the log of the server
    Bug(
        "a purged log is not seen while the file of the position is gone",
        f"{_PROVIDER}/continuity.py",
        "return None if stored.bytes <= binlog.files.get(stored.file, -1) else Gap.PURGED",
        "return None",
        _POSITIONS,
    ),
    Bug(
        "purged transactions that were not read are no loss",
        f"{_PROVIDER}/continuity.py",
        "return Gap.PURGED if purged is not None and not read.contains(purged) else None",
        "return Gap.PURGED if purged is not None and not purged.contains(read) else None",
        _POSITIONS,
    ),
    Bug(
        "a log that was begun anew counts as read",
        f"{_PROVIDER}/continuity.py",
        "    if _has_begun_anew(binlog, last_end) or end.is_before(stored):",
        "    if end.is_before(stored):",
        _POSITIONS,
    ),
    Bug(
        "another server is taken for the one that was captured from",
        f"{_PROVIDER}/running_capture.py",
        "return bool(before and before.server and facts.server_uuid and before.server != facts.server_uuid)",
        "return False",
        _POSITIONS,
    ),
    Bug(
        "a failover to a replica that has everything is a loss",
        f"{_PROVIDER}/continuity.py",
        "    if stored.gtids and binlog.uses_gtids:",
        "    if stored.gtids and binlog.uses_gtids and not is_other_server:",
        _POSITIONS,
    ),
    Bug(
        "numbers of log files are compared as texts",
        f"{_PROVIDER}/binlog.py",
        "    return (base, int(number)) if number.isascii() and number.isdecimal() else (file, 0)",
        "    return (base, number) if number.isascii() and number.isdecimal() else (file, 0)  # type: ignore",
        (f"{_UNIT}/test_binlog_log.py", *_POSITIONS),
    ),
    Bug(
        "the gaps of a set of transactions are closed",
        f"{_PROVIDER}/gtid_set.py",
        "        if start > last + 1:",
        "        if start > last + 2:",
        _POSITIONS,
    ),
    Bug(
        "transactions of a tag are those without it",
        f"{_PROVIDER}/gtid_set.py",
        "            tag = word\n",
        '            tag = ""\n',
        _POSITIONS,
    ),
    Bug(
        "a log that goes soon is told when it is gone",
        f"{_PROVIDER}/binlog_log.py",
        "    if log.status == PURGED or (share >= LITTLE_LEFT and left > _bounded(SOON, 0.5, kept_for)):",
        "    if log.status == PURGED or (share >= LITTLE_LEFT and left > timedelta()):",
        _LOG,
    ),
    Bug(
        "the newest file of the log is said to go",
        f"{_PROVIDER}/binlog_log.py",
        "    if is_newest or until is None or binlog.retention_seconds is None:",
        "    if until is None or binlog.retention_seconds is None:",
        _LOG,
    ),
    # what is written into topics
    Bug(
        "large unsigned numbers become negative",
        f"{_PROVIDER}/source_config.py",
        '    "bigint.unsigned.handling.mode": "precise",\n',
        "",
        _CONFIG,
    ),
    Bug(
        "the years 0 to 99 are moved",
        f"{_PROVIDER}/source_config.py",
        '    "enable.time.adjuster": "false",\n',
        "",
        _CONFIG,
    ),
    Bug(
        "two pipelines share one schema history topic",
        f"{_PROVIDER}/schema_history.py",
        'return f"{pipeline.capture.topic_prefix}.headgate-history-{pipeline.id}{number}"',
        'return f"{pipeline.capture.topic_prefix}.headgate-history{number}"',
        (*_CONFIG, "tests/integration/api/test_mysql_pipelines.py"),
    ),
    Bug(
        "after lost changes the old schema history is read",
        f"{_PROVIDER}/schema_history.py",
        '    number = f"-{pipeline.gaps_passed}" if pipeline.gaps_passed else ""\n',
        '    number = ""\n',
        (*_CONFIG, "tests/service/connectors/test_mysql_gaps.py"),
    ),
    Bug(
        "the schema history is kept for a week",
        f"{_PROVIDER}/schema_history.py",
        '"cleanup.policy": "delete", "retention.ms": "-1",',
        '"cleanup.policy": "delete", "retention.ms": "604800000",',
        (*_CONFIG, "tests/integration/api/test_mysql_pipelines.py"),
    ),
    Bug(
        "the schema history signs in with no password",
        f"{_PROVIDER}/schema_history.py",
        '        yield "sasl.jaas.config", credentials.reference(SIGN_IN)\n',
        "",
        _CONFIG,
    ),
    Bug(
        "a quotation mark ends the password in the sign-in",
        "chalicelib/domain/kafka_sign_in.py",
        """    return value.replace("\\\\", "\\\\\\\\").replace('"', '\\\\"')""",
        """    return value.replace("\\\\", "\\\\\\\\")""",
        ("tests/unit/domain/test_kafka_sign_in.py",),
    ),
    # what is written into targets
    Bug(
        "a name of another database is taken for the target",
        f"{_PROVIDER}/sink_config.py",
        '    "nullDatabaseMeansCurrent": "true",\n',
        "",
        _SINK,
    ),
    Bug(
        "values that do not fit are cut off",
        f"{_PROVIDER}/sink_config.py",
        'SQL_MODE = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO"',
        'SQL_MODE = "NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO"',
        _SINK,
    ),
    Bug(
        "times are written in the zone of the worker",
        f"{_PROVIDER}/sink_config.py",
        '    "connectionTimeZone": "UTC",\n',
        "",
        _SINK,
    ),
    Bug(
        "text keys that differ by an accent overwrite each other",
        f"{_PROVIDER}/target_keys.py",
        '    return collation == "binary" or collation.endswith("_bin") or "_as_cs" in collation',
        '    return collation == "binary" or collation.endswith("_bin") or "_cs" in collation or "_ci" in collation',
        _SINK,
    ),
    Bug(
        "a second unique index of the target is no danger",
        f"{_PROVIDER}/target_keys.py",
        "    return not key <= set(index.columns) and counted.isdisjoint(index.columns)",
        "    return key.isdisjoint(index.columns) and not counted.isdisjoint(index.columns)",
        _SINK,
    ),
    Bug(
        "blanks at the ends of keys are told where they count",
        f"{_PROVIDER}/target_keys.py",
        '    return "_0900_" not in collation and collation != "binary"',
        '    return collation != "binary"',
        _SINK,
    ),
    # what readiness proves
    Bug(
        "a log of statements is ready",
        f"{_PROVIDER}/readiness/binary_log.py",
        '    if current == "ROW":',
        '    if current != "STATEMENT":',
        _READINESS,
    ),
    Bug(
        "rows with some of their columns are ready",
        f"{_PROVIDER}/readiness/binary_log.py",
        '    if current == "FULL":',
        '    if current in ("FULL", "MINIMAL"):',
        _READINESS,
    ),
    Bug(
        "partial JSON values are ready",
        f"{_PROVIDER}/readiness/binary_log.py",
        '    if not current:\n        return passed("none", "none")',
        '    if current:\n        return passed("none", "none")',
        _READINESS,
    ),
    Bug(
        "a database that the log leaves out is ready",
        f"{_PROVIDER}/readiness/binary_log.py",
        "    filtered = [database for database in databases if status.is_filtered(database)]",
        "    filtered = [database for database in databases if database in status.ignored_databases]",
        _READINESS,
    ),
    Bug(
        "the server id of a replica is ready",
        f"{_PROVIDER}/readiness/readers.py",
        "    if plan.server_id in readers.registered:",
        "    if plan.server_id == len(readers.registered):",
        _READINESS,
    ),
    Bug(
        "a snapshot that locks tables is ready",
        f"{_PROVIDER}/readiness/snapshot.py",
        "    if facts.grants.satisfies_debezium:",
        "    if lacks_lock_right(facts):",
        _READINESS,
    ),
    # how a server is reached
    Bug(
        "the password is sent readable to a server that asks for it",
        f"{_CLIENT}/connection.py",
        '"caching_sha2_password", "sha256_password", "mysql_native_password"})',
        '"caching_sha2_password", "sha256_password", "mysql_native_password", "mysql_clear_password"})',
        (*_SESSIONS, f"{_DATABASES}/test_hostile_servers.py"),
    ),
    Bug(
        "an answer of a server has no limit",
        f"{_CLIENT}/connection.py",
        "MAX_BYTES = 32 * 1024 * 1024",
        "MAX_BYTES = 32 * 1024 * 1024 * 1024",
        (f"{_DATABASES}/test_hostile_servers.py",),
    ),
    Bug(
        "the name in a certificate is not compared",
        f"{_CLIENT}/session.py",
        "    context.check_hostname = mode is SslMode.VERIFY_FULL",
        "    context.check_hostname = False",
        _SESSIONS,
    ),
    Bug(
        "a session may write",
        f"{_CLIENT}/session.py",
        '    session.rows("SET SESSION TRANSACTION READ ONLY", max_rows=0)\n',
        "",
        (*_SESSIONS, f"{_DATABASES}/test_mysql_discovery.py"),
    ),
    Bug(
        "a server id of another pipeline is taken",
        f"{_PROVIDER}/capture_provider.py",
        '    claim_codes: Mapping[str, str] = {_SERVER_ID: "SERVER_ID_CONFLICT"}',
        "    claim_codes: Mapping[str, str] = {}",
        ("tests/integration/api/test_mysql_pipelines.py",),
    ),
)
"""Bugs that only captures from MySQL and deliveries to it can have."""
