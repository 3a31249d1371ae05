import pytest

from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.diagnosis.traces import MAX_CHARACTERS
from chalicelib.domain.names import ConnectorKind
from tests.classifier.labelled import load
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

SOURCE_CAUSES = {
    "CDC_REPLICATION_SLOT_ERROR": [
        SQL + 'ERROR: replication slot "a" is active for PID 4711',
        SQL + 'ERROR: replication slot "a" already exists',
        SQL + 'ERROR: replication slot "a" does not exist',
        SQL + "ERROR: all replication slots are in use\n  Hint: Free one or increase max_replication_slots.",
        SQL + 'ERROR: can no longer get changes from replication slot "a"',
        SQL + 'ERROR: can no longer access replication slot "a"',
        SQL + 'ERROR: cannot read from logical replication slot "a"',
        SQL + 'ERROR: replication slot "a" was not created in this database',
        "io.debezium.DebeziumException: Creation of replication slot failed",
        "io.debezium.DebeziumException: Failed to start replication stream at LSN{0/1}",
        "io.debezium.jdbc.JdbcConnectionException: Unable to obtain valid replication slot",
        SQL + 'ERROR: publication "p" does not exist',
        "org.apache.kafka.connect.errors.ConnectException: Publication autocreation is disabled, please create one",
        "io.debezium.DebeziumException: No table filters found for filtered publication p",
    ],
    "CDC_WAL_ERROR": [
        SQL + 'ERROR: logical decoding requires "wal_level" >= "logical"',
        SQL + "ERROR: logical decoding requires wal_level >= logical",
        SQL + "ERROR: requested WAL segment 0000000100000000000000A1 has already been removed",
        "x: Reading change stream starting at PostgresOffsetContext, but this is no longer available on the server.",
        "io.debezium.DebeziumException: Cannot seek to the last known offset 'LSN{0/1}'",
        SQL + "FATAL: number of requested standby connections exceeds max_wal_senders (currently 2)",
        SQL + "ERROR: logical decoding cannot be used while in recovery",
        SQL + "ERROR: invalid memory alloc request size 1073741824",
        SQL + 'ERROR: could not read from reorderbuffer spill file: No such file"',
    ],
    "CDC_PERMISSION_ERROR": [
        SQL + "FATAL: permission denied to start WAL sender\n  Detail: Only roles with the REPLICATION attribute may.",
        SQL + "ERROR: must be superuser or replication role to use replication slots",
        SQL + "ERROR: permission denied for table orders",
        SQL + "ERROR: permission denied for schema sales",
        SQL + "ERROR: must be owner of table orders",
        "org.apache.kafka.connect.errors.ConnectException: Unable to create filtered publication p for t",
        "x: you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation",
        "x: User does not have the 'LOCK TABLES' privilege required to obtain a consistent snapshot by preventing",
        "java.sql.SQLException: SELECT command denied to user 'a'@'b' for table 'c'",
    ],
    "SOURCE_AUTH_FAILED": [
        SQL + 'FATAL: password authentication failed for user "cdc"',
        SQL + 'FATAL: no pg_hba.conf entry for host "10.0.0.1", user "cdc", database "d"',
        SQL + 'FATAL: role "cdc" does not exist',
        "java.sql.SQLException: Access denied for user 'cdc'@'10.0.0.1' (using password: YES)",
        "java.sql.SQLException: Public Key Retrieval is not allowed",
    ],
    "SOURCE_DATABASE_UNAVAILABLE": [
        SQL + "FATAL: terminating connection due to administrator command",
        SQL + "FATAL: the database system is starting up",
        SQL + "FATAL: sorry, too many clients already",
        SQL + 'FATAL: database "shop" does not exist',
        "java.sql.SQLSyntaxErrorException: Unknown database 'shop'",
    ],
    "SOURCE_CONNECTION_FAILED": [
        SQL + "Connection to db:5432 refused. Check that the hostname and port are correct.",
        "java.net.ConnectException: Connection refused",
        "java.net.UnknownHostException: db.example",
        "java.net.SocketTimeoutException: Connect timed out",
        "java.net.SocketException: Connection reset",
        "io.debezium.DebeziumException: Couldn't obtain encoding for database shop",
        "sun.security.validator.ValidatorException: PKIX path building failed: unable to find valid certification path",
        "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure",
    ],
    "CDC_BINLOG_ERROR": [
        "x.ServerException: Could not find first log file name in binary log index file",
        "x: Cannot replicate because the source purged required binary logs. Error code: 1236; SQLSTATE: HY000.",
        "x.ServerException: A replica with the same server_uuid/server_id as this replica has connected",
        "x.ServerException: log event entry exceeded max_allowed_packet",
        "x.ConnectException: The MySQL server is not configured to use a ROW binlog_format",
        "x.ConnectException: The MySQL server is not configured to use a FULL binlog_row_image",
        "io.debezium.DebeziumException: The db history topic is missing.",
        "io.debezium.DebeziumException: The db history topic or its content is fully or partially missing.",
        "x.ConnectException: Creation of database schema history topic failed, please create the topic manually",
        "x: Encountered change event for table a.b whose schema isn't known to this connector",
    ],
    "CDC_CONNECTOR_FAILED": [
        "org.apache.kafka.common.errors.RecordTooLargeException: The message is 2000000 bytes",
        "java.lang.NullPointerException: null",
    ],
}

SINK_CAUSES = {
    "DESTINATION_SCHEMA_ERROR": [
        SQL + 'ERROR: relation "public.orders" does not exist',
        SQL + 'ERROR: column "note" of relation "orders" does not exist\n  Position: 23',
        SQL + 'ERROR: type "longtext" does not exist',
        SQL + 'ERROR: column "a" is of type uuid but expression is of type text',
        SQL + "ERROR: there is no unique or exclusion constraint matching the ON CONFLICT specification",
        "java.lang.IllegalStateException: Failed to find table: dwh.orders",
        "x.JdbcSinkException: Could not find table: public.orders",
        "java.sql.SQLException: Cannot alter table public.orders because schema evolution is disabled",
        "x: Cannot ALTER table 't' because field 'f' is not optional but has no default value",
        'x.DataException: JsonConverter with schemas.enable requires "schema" and "payload"',
        "x.SerializationException: Unknown magic byte!",
        "x.ParsingException: Unexpected input 'e' at line 1, column 4",
        "java.sql.SQLSyntaxErrorException: Table 'dwh.orders' doesn't exist",
        "java.sql.SQLSyntaxErrorException: Unknown column 'note' in 'field list'",
    ],
    "DESTINATION_WRITE_FAILED": [
        SQL + 'ERROR: duplicate key value violates unique constraint "orders_pkey"',
        SQL + 'ERROR: null value in column "a" violates not-null constraint',
        SQL + "ERROR: value too long for type character varying(10)",
        SQL + "ERROR: deadlock detected",
        SQL + "ERROR: permission denied for table orders",
        SQL + 'ERROR: new row violates row-level security policy for table "orders"',
        SQL + "ERROR: must be owner of table orders",
        "java.sql.SQLSyntaxErrorException: INSERT command denied to user 'w'@'10.0.0.1' for table 'orders'",
        "java.sql.SQLSyntaxErrorException: Access denied for user 'w'@'10.0.0.1' to database 'dwh'",
        SQL + "ERROR: cannot execute INSERT in a read-only transaction",
        "x: Exceeded max retries 5 times, failed to process sink records",
        "java.sql.SQLException: Duplicate entry '7' for key 'orders.PRIMARY'",
        "java.lang.OutOfMemoryError: Java heap space",
        "software.amazon.awssdk.services.s3.model.NoSuchBucketException: gone",
    ],
    "DESTINATION_AUTH_FAILED": [
        SQL + 'FATAL: password authentication failed for user "w"',
        "java.sql.SQLException: Access denied for user 'w'@'10.0.0.1' (using password: YES)",
        "x.AmazonS3Exception: The AWS Access Key Id ... (Error Code: InvalidAccessKeyId)",
    ],
    "DESTINATION_CONNECTION_FAILED": [
        SQL + "FATAL: the database system is shutting down",
        SQL + 'FATAL: database "dwh" does not exist',
        SQL + "The connection attempt failed.",
        "java.net.NoRouteToHostException: No route to host",
        "x: Unable to create requested service [y] due to: Unable to determine Dialect without JDBC metadata",
    ],
    "DESTINATION_CONNECTOR_FAILED": [
        "java.lang.IllegalStateException: something",
    ],
}


def causes(of_kinds: dict[str, list[str]]) -> pytest.MarkDecorator:
    rows = [(cause, kind) for kind, listed in of_kinds.items() for cause in listed]
    return pytest.mark.parametrize(("cause", "kind"), rows)


@causes(SOURCE_CAUSES)
@pytest.mark.parametrize("shape", [str, of_source])
def test_a_source_trace_is_classified_by_its_cause(cause: str, kind: str, shape: type[str]) -> None:
    assert event_kind(shape(cause), SOURCE) == kind


@causes(SINK_CAUSES)
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


WHOLE = of_source(SQL + 'FATAL: password authentication failed for user "cdc"')
OVERLONG = PRODUCER + "\n" + FRAMES * 4000 + "Caused by: " + SQL + "FATAL: the database system is starting up\n"


SHAPES = {
    "the innermost cause": (
        wrapped(PRODUCER, "x: Creation of replication slot failed", SQL + "permission denied to start WAL sender"),
        SOURCE,
        "CDC_PERMISSION_ERROR",
    ),
    "an outer cause where the inner one says nothing": (
        wrapped(SINK_TASK, SQL + "An I/O error occurred while sending to the backend.", "java.io.EOFException"),
        SINK,
        "DESTINATION_CONNECTION_FAILED",
    ),
    "what follows an apostrophe": ("it wasn't: Connection refused, that's it", SOURCE, "SOURCE_CONNECTION_FAILED"),
    "the rest of a truncated trace": (WHOLE[: WHOLE.rindex(' for user "cdc"')], SOURCE, "SOURCE_AUTH_FAILED"),
    "the end of an overlong trace": (OVERLONG, SOURCE, "SOURCE_DATABASE_UNAVAILABLE"),
    "upper case": ("CAUSED BY: JAVA.NET.CONNECTEXCEPTION: REFUSED", SINK, "DESTINATION_CONNECTION_FAILED"),
    "what Connector/J quotes is what the server said": (
        "x: null,  message from server: \"Host 'h' is not allowed to connect to this MySQL server\"",
        SOURCE,
        "SOURCE_AUTH_FAILED",
    ),
}


@pytest.mark.parametrize(("trace", "role", "kind"), SHAPES.values(), ids=SHAPES)
def test_what_decides_in_a_trace(trace: str, role: ConnectorKind, kind: str) -> None:
    assert event_kind(trace, role) == kind


def test_an_overlong_trace_is_cut() -> None:
    assert len(OVERLONG) > 4 * MAX_CHARACTERS


@pytest.mark.parametrize("role", list(ConnectorKind))
@pytest.mark.parametrize(
    "text", ["'" * 70000, '"' * 70000, "caused by:" * 7000, "sqlstate" * 9000, "…" * 70000, "\x00" * 70000]
)
def test_any_other_text_is_not_recognised(text: str, role: ConnectorKind) -> None:
    assert classify(text, role) is Diagnosis.GENERAL


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


@pytest.mark.parametrize(
    ("trace", "role", "diagnosis"),
    [
        ("x: Unable to obtain valid replication slot. Make sure there are no", SOURCE, Diagnosis.SLOT_NOT_READY),
        ("x: Headgate gave no answer for secret 0 in 3 attempt(s): no connection", SOURCE, Diagnosis.SECRET),
        ("x: Only a single connector task may be started", SOURCE, Diagnosis.BINLOG_ONE_TASK),
        (
            "x: you need (at least one of) the REPLICATION SLAVE privilege(s)",
            SOURCE,
            Diagnosis.BINLOG_RIGHT,
        ),
        ("x: you need (at least one of) the SUPER, REPLICATION CLIENT privilege", SOURCE, Diagnosis.BINLOG_RIGHT),
        (
            "x: User does not have the 'LOCK TABLES' privilege required to obtain a consistent snapshot",
            SOURCE,
            Diagnosis.LOCK_RIGHT,
        ),
        (
            "x: Slave has more GTIDs than the master has, using the master's",
            SOURCE,
            Diagnosis.BINLOG_REFUSED,
        ),
        (
            "x: Creation of database schema history topic failed, please\nCaused by: x.InvalidTopicException: no name",
            SOURCE,
            Diagnosis.BINLOG_HISTORY_NOT_MADE,
        ),
        (
            "x: is trying to read change stream starting at BinlogOffsetContext{a=1}, but this is no longer available",
            SOURCE,
            Diagnosis.BINLOG_GONE,
        ),
        ("x: Received DML 'delete from t' for processing", SOURCE, Diagnosis.BINLOG_FORMAT),
        ("x: RDS Proxy currently doesn't support streaming replication mode", SOURCE, Diagnosis.POOLER),
        ("x.PolicyViolationException: max.message.bytes", SOURCE, Diagnosis.TOPIC_POLICY),
        ("x.SQLException: Too big precision 66 specified for 'a'. Maximum is 65.", SINK, Diagnosis.TOO_WIDE),
        ("x.DateTimeException: Invalid value for NanoOfDay (valid values 0 - 1): -1", SINK, Diagnosis.VALUE),
    ],
)
def test_what_production_knows_has_its_own_hint(trace: str, role: ConnectorKind, diagnosis: Diagnosis) -> None:
    assert classify(trace, role) is diagnosis


MEASURED = {
    Diagnosis.BINLOG_REFUSED: (1,),
    Diagnosis.BINLOG_GONE: (2, 3),
    Diagnosis.BINLOG_HISTORY_NAMES: (4,),
    Diagnosis.BINLOG_SCHEMA: (5, 10),
    Diagnosis.BINLOG_HISTORY: (6,),
    Diagnosis.BINLOG_GTIDS: (7,),
    Diagnosis.BINLOG_SERVER_ID: (8,),
    Diagnosis.BINLOG_FORMAT: (9, 11),
    Diagnosis.BINLOG_RIGHT: (12, 13),
    Diagnosis.AUTH: (14,),
    Diagnosis.AUTH_LOCKED: (15,),
}
"""The diagnosis of each trace of a real connector, by its number in `measured_mysql.json`."""


def test_traces_of_real_connectors_get_their_own_diagnosis() -> None:
    measured = [case for case in load() if case.id.startswith("measured_mysql")]
    expected = {f"measured_mysql-{number:03}": is_ for is_, numbers in MEASURED.items() for number in numbers}
    assert {case.id: classify(case.trace, case.role) for case in measured} == expected
