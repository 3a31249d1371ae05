import pytest

from chalicelib.domain.diagnosis.classifier import MAX_CHARACTERS, classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.names import ConnectorKind
from tests.support.diagnoses import event_kind

SOURCE, SINK = ConnectorKind.SOURCE, ConnectorKind.SINK

FRAMES = (
    "\tat io.debezium.pipeline.ErrorHandler.setProducerThrowable(ErrorHandler.java:63)\n"
    "\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)\n"
)
PRODUCER = "org.apache.kafka.connect.errors.ConnectException: An exception occurred in the change event producer."
SINK_TASK = "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception."
JDBC_SINK = "org.apache.kafka.connect.errors.ConnectException: JDBC sink connector failure"


def wrapped(*causes: str) -> str:
    """A trace as Java prints it: the outermost exception first, each cause with its own frames."""
    return "Caused by: ".join(f"{cause}\n{FRAMES}" for cause in causes)


def of_source(cause: str) -> str:
    return wrapped(PRODUCER + " This connector will be stopped.", "io.debezium.DebeziumException: " + cause, cause)


def of_sink(cause: str) -> str:
    return wrapped(
        SINK_TASK, JDBC_SINK, "io.debezium.connector.jdbc.JdbcSinkException: Failed to process a sink record", cause
    )


SQL = "org.postgresql.util.PSQLException: "

SOURCE_CAUSES = [
    # slots
    (SQL + 'ERROR: replication slot "a" is active for PID 4711', "CDC_REPLICATION_SLOT_ERROR"),
    (SQL + 'ERROR: replication slot "a" already exists', "CDC_REPLICATION_SLOT_ERROR"),
    (SQL + 'ERROR: replication slot "a" does not exist', "CDC_REPLICATION_SLOT_ERROR"),
    (
        SQL + "ERROR: all replication slots are in use\n  Hint: Free one or increase max_replication_slots.",
        "CDC_REPLICATION_SLOT_ERROR",
    ),
    (SQL + 'ERROR: can no longer get changes from replication slot "a"', "CDC_REPLICATION_SLOT_ERROR"),
    (SQL + 'ERROR: can no longer access replication slot "a"', "CDC_REPLICATION_SLOT_ERROR"),
    (SQL + 'ERROR: cannot read from logical replication slot "a"', "CDC_REPLICATION_SLOT_ERROR"),
    (SQL + 'ERROR: replication slot "a" was not created in this database', "CDC_REPLICATION_SLOT_ERROR"),
    ("io.debezium.DebeziumException: Creation of replication slot failed", "CDC_REPLICATION_SLOT_ERROR"),
    ("io.debezium.DebeziumException: Failed to start replication stream at LSN{0/1}", "CDC_REPLICATION_SLOT_ERROR"),
    ("io.debezium.jdbc.JdbcConnectionException: Unable to obtain valid replication slot", "CDC_REPLICATION_SLOT_ERROR"),
    (SQL + 'ERROR: publication "p" does not exist', "CDC_REPLICATION_SLOT_ERROR"),
    (
        "org.apache.kafka.connect.errors.ConnectException: Publication autocreation is disabled, please create one",
        "CDC_REPLICATION_SLOT_ERROR",
    ),
    ("io.debezium.DebeziumException: No table filters found for filtered publication p", "CDC_REPLICATION_SLOT_ERROR"),
    # write-ahead log
    (SQL + 'ERROR: logical decoding requires "wal_level" >= "logical"', "CDC_WAL_ERROR"),
    (SQL + "ERROR: logical decoding requires wal_level >= logical", "CDC_WAL_ERROR"),
    (SQL + "ERROR: requested WAL segment 0000000100000000000000A1 has already been removed", "CDC_WAL_ERROR"),
    (
        "x: Reading change stream starting at PostgresOffsetContext, but this is no longer available on the server.",
        "CDC_WAL_ERROR",
    ),
    ("io.debezium.DebeziumException: Cannot seek to the last known offset 'LSN{0/1}'", "CDC_WAL_ERROR"),
    (SQL + "FATAL: number of requested standby connections exceeds max_wal_senders (currently 2)", "CDC_WAL_ERROR"),
    (SQL + "ERROR: logical decoding cannot be used while in recovery", "CDC_WAL_ERROR"),
    (SQL + "ERROR: invalid memory alloc request size 1073741824", "CDC_WAL_ERROR"),
    (SQL + 'ERROR: could not read from reorderbuffer spill file: No such file"', "CDC_WAL_ERROR"),
    # permissions
    (
        SQL + "FATAL: permission denied to start WAL sender\n  Detail: Only roles with the REPLICATION attribute may.",
        "CDC_PERMISSION_ERROR",
    ),
    (SQL + "ERROR: must be superuser or replication role to use replication slots", "CDC_PERMISSION_ERROR"),
    (SQL + "ERROR: permission denied for table orders", "CDC_PERMISSION_ERROR"),
    (SQL + "ERROR: permission denied for schema sales", "CDC_PERMISSION_ERROR"),
    (SQL + "ERROR: must be owner of table orders", "CDC_PERMISSION_ERROR"),
    (
        "org.apache.kafka.connect.errors.ConnectException: Unable to create filtered publication p for t",
        "CDC_PERMISSION_ERROR",
    ),
    # access control of the server
    (SQL + 'FATAL: password authentication failed for user "cdc"', "SOURCE_AUTH_FAILED"),
    (SQL + 'FATAL: no pg_hba.conf entry for host "10.0.0.1", user "cdc", database "d"', "SOURCE_AUTH_FAILED"),
    (SQL + 'FATAL: role "cdc" does not exist', "SOURCE_AUTH_FAILED"),
    ("java.sql.SQLException: Access denied for user 'cdc'@'10.0.0.1' (using password: YES)", "SOURCE_AUTH_FAILED"),
    ("java.sql.SQLException: Public Key Retrieval is not allowed", "SOURCE_AUTH_FAILED"),
    # connection
    (SQL + "FATAL: terminating connection due to administrator command", "SOURCE_DATABASE_UNAVAILABLE"),
    (SQL + "FATAL: the database system is starting up", "SOURCE_DATABASE_UNAVAILABLE"),
    (SQL + "FATAL: sorry, too many clients already", "SOURCE_DATABASE_UNAVAILABLE"),
    (SQL + 'FATAL: database "shop" does not exist', "SOURCE_DATABASE_UNAVAILABLE"),
    ("java.sql.SQLSyntaxErrorException: Unknown database 'shop'", "SOURCE_DATABASE_UNAVAILABLE"),
    (SQL + "Connection to db:5432 refused. Check that the hostname and port are correct.", "SOURCE_CONNECTION_FAILED"),
    ("java.net.ConnectException: Connection refused", "SOURCE_CONNECTION_FAILED"),
    ("java.net.UnknownHostException: db.example", "SOURCE_CONNECTION_FAILED"),
    ("java.net.SocketTimeoutException: Connect timed out", "SOURCE_CONNECTION_FAILED"),
    ("java.net.SocketException: Connection reset", "SOURCE_CONNECTION_FAILED"),
    ("io.debezium.DebeziumException: Couldn't obtain encoding for database shop", "SOURCE_CONNECTION_FAILED"),
    (
        "sun.security.validator.ValidatorException: PKIX path building failed: unable to find valid certification path",
        "SOURCE_CONNECTION_FAILED",
    ),
    ("com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure", "SOURCE_CONNECTION_FAILED"),
    # binary log
    (
        "x.ServerException: Could not find first log file name in binary log index file",
        "CDC_BINLOG_ERROR",
    ),
    (
        "x: Cannot replicate because the source purged required binary logs. Error code: 1236; SQLSTATE: HY000.",
        "CDC_BINLOG_ERROR",
    ),
    (
        "x.ServerException: A replica with the same server_uuid/server_id as this replica has connected",
        "CDC_BINLOG_ERROR",
    ),
    ("x.ServerException: log event entry exceeded max_allowed_packet", "CDC_BINLOG_ERROR"),
    ("x.ConnectException: The MySQL server is not configured to use a ROW binlog_format", "CDC_BINLOG_ERROR"),
    ("x.ConnectException: The MySQL server is not configured to use a FULL binlog_row_image", "CDC_BINLOG_ERROR"),
    ("io.debezium.DebeziumException: The db history topic is missing.", "CDC_BINLOG_ERROR"),
    (
        "io.debezium.DebeziumException: The db history topic or its content is fully or partially missing.",
        "CDC_BINLOG_ERROR",
    ),
    ("x: Encountered change event for table a.b whose schema isn't known to this connector", "CDC_BINLOG_ERROR"),
    (
        "x: Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation",
        "CDC_PERMISSION_ERROR",
    ),
    (
        "x: User does not have the 'LOCK TABLES' privilege required to obtain a consistent snapshot by preventing",
        "CDC_PERMISSION_ERROR",
    ),
    ("java.sql.SQLException: SELECT command denied to user 'a'@'b' for table 'c'", "CDC_PERMISSION_ERROR"),
    # other causes
    ("org.apache.kafka.common.errors.RecordTooLargeException: The message is 2000000 bytes", "CDC_CONNECTOR_FAILED"),
    ("java.lang.NullPointerException: null", "CDC_CONNECTOR_FAILED"),
]

SINK_CAUSES = [
    (SQL + 'ERROR: relation "public.orders" does not exist', "DESTINATION_SCHEMA_ERROR"),
    (SQL + 'ERROR: column "note" of relation "orders" does not exist\n  Position: 23', "DESTINATION_SCHEMA_ERROR"),
    (SQL + 'ERROR: type "longtext" does not exist', "DESTINATION_SCHEMA_ERROR"),
    (SQL + 'ERROR: column "a" is of type uuid but expression is of type text', "DESTINATION_SCHEMA_ERROR"),
    (
        SQL + "ERROR: there is no unique or exclusion constraint matching the ON CONFLICT specification",
        "DESTINATION_SCHEMA_ERROR",
    ),
    ("java.lang.IllegalStateException: Failed to find table: dwh.orders", "DESTINATION_SCHEMA_ERROR"),
    ("x.JdbcSinkException: Could not find table: public.orders", "DESTINATION_SCHEMA_ERROR"),
    (
        "java.sql.SQLException: Cannot alter table public.orders because schema evolution is disabled",
        "DESTINATION_SCHEMA_ERROR",
    ),
    (
        "x: Cannot ALTER table 't' because field 'f' is not optional but has no default value",
        "DESTINATION_SCHEMA_ERROR",
    ),
    ('x.DataException: JsonConverter with schemas.enable requires "schema" and "payload"', "DESTINATION_SCHEMA_ERROR"),
    ("x.SerializationException: Unknown magic byte!", "DESTINATION_SCHEMA_ERROR"),
    ("x.ParsingException: Unexpected input 'e' at line 1, column 4", "DESTINATION_SCHEMA_ERROR"),
    ("java.sql.SQLSyntaxErrorException: Table 'dwh.orders' doesn't exist", "DESTINATION_SCHEMA_ERROR"),
    ("java.sql.SQLSyntaxErrorException: Unknown column 'note' in 'field list'", "DESTINATION_SCHEMA_ERROR"),
    (SQL + 'ERROR: duplicate key value violates unique constraint "orders_pkey"', "DESTINATION_WRITE_FAILED"),
    (SQL + 'ERROR: null value in column "a" violates not-null constraint', "DESTINATION_WRITE_FAILED"),
    (SQL + "ERROR: value too long for type character varying(10)", "DESTINATION_WRITE_FAILED"),
    (SQL + "ERROR: deadlock detected", "DESTINATION_WRITE_FAILED"),
    (SQL + "ERROR: cannot execute INSERT in a read-only transaction", "DESTINATION_WRITE_FAILED"),
    ("x: Exceeded max retries 5 times, failed to process sink records", "DESTINATION_WRITE_FAILED"),
    ("java.sql.SQLException: Duplicate entry '7' for key 'orders.PRIMARY'", "DESTINATION_WRITE_FAILED"),
    ("java.lang.OutOfMemoryError: Java heap space", "DESTINATION_WRITE_FAILED"),
    ("software.amazon.awssdk.services.s3.model.NoSuchBucketException: gone", "DESTINATION_WRITE_FAILED"),
    (SQL + 'FATAL: password authentication failed for user "w"', "DESTINATION_AUTH_FAILED"),
    (SQL + "ERROR: permission denied for table orders", "DESTINATION_AUTH_FAILED"),
    (SQL + 'ERROR: new row violates row-level security policy for table "orders"', "DESTINATION_AUTH_FAILED"),
    (SQL + "ERROR: must be owner of table orders", "DESTINATION_AUTH_FAILED"),
    ("x.AmazonS3Exception: The AWS Access Key Id ... (Error Code: InvalidAccessKeyId)", "DESTINATION_AUTH_FAILED"),
    (SQL + "FATAL: the database system is shutting down", "DESTINATION_CONNECTION_FAILED"),
    (SQL + 'FATAL: database "dwh" does not exist', "DESTINATION_CONNECTION_FAILED"),
    (SQL + "The connection attempt failed.", "DESTINATION_CONNECTION_FAILED"),
    ("java.net.NoRouteToHostException: No route to host", "DESTINATION_CONNECTION_FAILED"),
    (
        "x: Unable to create requested service [y] due to: Unable to determine Dialect without JDBC metadata",
        "DESTINATION_CONNECTION_FAILED",
    ),
    ("java.lang.IllegalStateException: something", "DESTINATION_CONNECTOR_FAILED"),
]


@pytest.mark.parametrize(("cause", "kind"), SOURCE_CAUSES)
@pytest.mark.parametrize("shape", [str, of_source])
def test_a_source_trace_is_classified_by_its_cause(cause: str, kind: str, shape: type[str]) -> None:
    assert event_kind(shape(cause), SOURCE) == kind


@pytest.mark.parametrize(("cause", "kind"), SINK_CAUSES)
@pytest.mark.parametrize("shape", [str, of_sink])
def test_a_sink_trace_is_classified_by_its_cause(cause: str, kind: str, shape: type[str]) -> None:
    assert event_kind(shape(cause), SINK) == kind


@pytest.mark.parametrize(
    ("trace", "role", "kind"),
    [
        ("x.SQLException: no idea (SQLState: 28P01)", SOURCE, "SOURCE_AUTH_FAILED"),
        ("SQL Error: 0, SQLState: 42P01", SINK, "DESTINATION_SCHEMA_ERROR"),
        ("SQL Error: 0, SQLState: 42P01", SOURCE, "CDC_CONNECTOR_FAILED"),
        ("x [SQL State: 55006]", SOURCE, "CDC_REPLICATION_SLOT_ERROR"),
        ("x SQLSTATE=08006", SINK, "DESTINATION_CONNECTION_FAILED"),
        ("x SQLState: 22003", SINK, "DESTINATION_WRITE_FAILED"),
        ("x SQLState: 42501", SOURCE, "CDC_PERMISSION_ERROR"),
        ("x SQLState: HY000", SINK, "DESTINATION_CONNECTOR_FAILED"),
        ("x SQLState: ", SINK, "DESTINATION_CONNECTOR_FAILED"),
        ("x SQLState", SOURCE, "CDC_CONNECTOR_FAILED"),
    ],
)
def test_an_sqlstate_decides_where_no_phrase_does(trace: str, role: ConnectorKind, kind: str) -> None:
    assert event_kind(trace, role) == kind


def test_the_innermost_cause_is_classified() -> None:
    trace = wrapped(
        PRODUCER,
        "io.debezium.DebeziumException: Creation of replication slot failed",
        SQL + "FATAL: permission denied to start WAL sender",
    )
    assert event_kind(trace, SOURCE) == "CDC_PERMISSION_ERROR"


SUPPRESSED = (
    "\tSuppressed: org.postgresql.util.PSQLException: An I/O error occurred while sending to the backend.\n"
    "\t\tat org.postgresql.core.v3.QueryExecutorImpl.execute(QueryExecutorImpl.java:398)\n"
    "\t\tSuppressed: java.io.IOException: closed\n\t\t\tat A.b(A.java:1)\n"
    "\tCaused by: java.net.SocketException: Connection reset\n\t\t... 20 more\n"
)
DUPLICATE = SQL + 'ERROR: duplicate key value violates unique constraint "orders_pkey"\n'


def test_the_cause_of_a_suppressed_error_is_not_that_of_the_failure() -> None:
    last = wrapped(SINK_TASK, DUPLICATE) + SUPPRESSED
    between = wrapped(SINK_TASK, JDBC_SINK) + SUPPRESSED + "Caused by: " + wrapped(DUPLICATE)
    expected = classify(wrapped(SINK_TASK, DUPLICATE), SINK)
    assert expected is not Diagnosis.GENERAL
    assert classify(last, SINK) == classify(between, SINK) == expected


def test_an_outer_cause_decides_when_the_inner_one_says_nothing() -> None:
    trace = wrapped(SINK_TASK, SQL + "An I/O error occurred while sending to the backend.", "java.io.EOFException")
    assert event_kind(trace, SINK) == "DESTINATION_CONNECTION_FAILED"


def test_an_apostrophe_does_not_hide_what_follows() -> None:
    trace = "x: Couldn't go on, it wasn't there: Connection refused, and that's that"
    assert event_kind(trace, SOURCE) == "SOURCE_CONNECTION_FAILED"


def test_a_truncated_trace_is_classified_by_its_rest() -> None:
    whole = of_source(SQL + 'FATAL: password authentication failed for user "cdc"')
    cut = whole[: whole.rindex("authentication failed") + len("authentication failed")]
    assert event_kind(cut, SOURCE) == "SOURCE_AUTH_FAILED"


def test_the_cause_at_the_end_of_an_overlong_trace_is_read() -> None:
    trace = PRODUCER + "\n" + FRAMES * 4000 + "Caused by: " + SQL + "FATAL: the database system is starting up\n"
    assert len(trace) > 4 * MAX_CHARACTERS
    assert event_kind(trace, SOURCE) == "SOURCE_DATABASE_UNAVAILABLE"


def test_case_does_not_matter() -> None:
    assert event_kind("CAUSED BY: JAVA.NET.CONNECTEXCEPTION: CONNECTION REFUSED", SINK).endswith("NECTION_FAILED")


@pytest.mark.parametrize("role", list(ConnectorKind))
@pytest.mark.parametrize(
    "text", ["'" * 70000, '"' * 70000, "caused by:" * 7000, "sqlstate" * 9000, "…" * 70000, "\x00" * 70000]
)
def test_any_other_text_is_not_recognised(text: str, role: ConnectorKind) -> None:
    assert classify(text, role) is Diagnosis.GENERAL


def test_a_failing_secret_provider_is_named() -> None:
    trace = "x.ConfigException: Headgate gave no answer for secret 0 in 3 attempt(s): no connection could be made."
    assert classify(trace, SOURCE) is Diagnosis.SECRET


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (
            "x.DebeziumException: Failed to properly convert data value for 's.t.v' of type numeric",
            "on_conversion_error",
        ),
        ("x.RecordTooLargeException: The message is 2097378 bytes when serialized", "max_message_bytes"),
    ],
)
def test_a_failure_that_an_option_helps_against_names_the_option(cause: str, advice: str) -> None:
    assert advice in hint_of(classify(wrapped(PRODUCER, cause), SOURCE), SOURCE).message


def test_a_value_that_the_converter_cannot_read_for_its_length_is_named() -> None:
    trace = wrapped(
        SINK_TASK,
        "org.apache.kafka.connect.errors.DataException: Converting byte[] to Kafka Connect data failed due to x",
        "com.fasterxml.jackson.core.exc.StreamConstraintsException: String value length (20054016) exceeds the maximum "
        "allowed (20000000, from `StreamReadConstraints.getMaxStringLength()`)",
    )
    assert classify(trace, SINK) is Diagnosis.VALUE_TOO_LONG


def test_what_connector_j_quotes_is_what_the_server_said() -> None:
    trace = (
        "java.sql.SQLException: null,  message from server: \"Host 'h' is not allowed to connect to this MySQL server\""
    )
    assert event_kind(trace, SOURCE) == "SOURCE_AUTH_FAILED"


@pytest.mark.parametrize(
    ("trace", "role", "diagnosis"),
    [
        ("x: Unable to obtain valid replication slot. Make sure there are no", SOURCE, Diagnosis.SLOT_NOT_READY),
        ("x: Only a single connector task may be started", SOURCE, Diagnosis.BINLOG_ONE_TASK),
        ("x: RDS Proxy currently doesn't support streaming replication mode", SOURCE, Diagnosis.POOLER),
        ("x.PolicyViolationException: max.message.bytes", SOURCE, Diagnosis.TOPIC_POLICY),
        ("x.SQLException: Too big precision 66 specified for 'a'. Maximum is 65.", SINK, Diagnosis.TOO_WIDE),
        ("x.DateTimeException: Invalid value for NanoOfDay (valid values 0 - 1): -1", SINK, Diagnosis.VALUE),
    ],
)
def test_what_production_knows_has_its_own_hint(trace: str, role: ConnectorKind, diagnosis: Diagnosis) -> None:
    assert classify(trace, role) is diagnosis
