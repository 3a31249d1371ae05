"""Stack traces of failed tasks. Some contain values that must never leave: `SECRETS` lists them."""

SECRETS = ("hunter2-of-the-source", "AKIAIOSFODNN7EXAMPLE", "jane.roe@example.org", "4111111111111111")

_FRAMES = "\tat org.apache.kafka.connect.runtime.WorkerTask.run(WorkerTask.java:298)\n"


def _trace(head: str, *causes: str) -> str:
    return head + "\n" + _FRAMES + "".join(f"Caused by: {cause}\n\t... 7 more\n" for cause in causes)


PASSWORD = _trace(
    "io.debezium.DebeziumException: Couldn't obtain encoding for database shop",
    'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "headgate"',
)
REFUSED = _trace(
    "org.apache.kafka.connect.errors.ConnectException: An exception occurred in the change event producer.",
    "org.postgresql.util.PSQLException: Connection to database1.example.com:5432 refused. Check that the hostname and "
    "port are correct and that the postmaster is accepting TCP/IP connections.",
    "java.net.ConnectException: Connection refused",
)
SLOT_GONE = _trace(
    "io.debezium.DebeziumException: Failed to start replication stream",
    'org.postgresql.util.PSQLException: ERROR: replication slot "headgate_slot" does not exist',
)
SLOT_BUSY = _trace(
    "io.debezium.DebeziumException: Failed to start replication stream",
    'org.postgresql.util.PSQLException: ERROR: replication slot "headgate_slot" is active for PID 4711',
)
_MYSQL = "org.apache.kafka.connect.errors.ConnectException: An exception occurred in the change event producer."
SERVER_ID = _trace(
    _MYSQL,
    "com.github.shyiko.mysql.binlog.network.ServerException: A slave with the same server_uuid/server_id as this slave "
    "has connected to the master; the first event '' at 4, the last event read from './mysql-bin.000002' at 4787",
)
BINLOG_GONE = _trace(
    "io.debezium.DebeziumException: The connector is trying to read change stream starting at BinlogOffsetContext{"
    "sourceInfo=BinlogSourceInfo{currentBinlogFilename='mysql-bin.000007'}}, but this is no longer available on the "
    "server. Reconfigure the connector to use a snapshot mode when needed."
)
HISTORY_GONE = _trace(
    "io.debezium.DebeziumException: The db history topic is missing. You may attempt to recover it by reconfiguring "
    "the connector to recovery."
)
MYSQL_PASSWORD = _trace(
    "io.debezium.DebeziumException: Error reading MySQL variables: Access denied for user 'headgate'@'10.20.0.7'",
    "java.sql.SQLException: Access denied for user 'headgate'@'10.20.0.7' (using password: YES)",
)
SECRET = _trace(
    "org.apache.kafka.common.config.ConfigException: Headgate gave no answer for secret "
    "6c9de1b9-55d2-4d4b-9c1a-0f4b8b1a2c3d: status 503"
)
UNKNOWN = _trace("java.lang.IllegalStateException: something nobody has seen before")
TARGET_GONE = _trace(
    "org.apache.kafka.connect.errors.ConnectException: JDBC sink connector failure",
    'org.postgresql.util.PSQLException: ERROR: relation "target.orders" does not exist',
)
SINK_REFUSED = _trace(
    "org.apache.kafka.connect.errors.ConnectException: JDBC sink connector failure",
    "org.postgresql.util.PSQLException: Connection to target.example.com:5432 refused.",
    "java.net.ConnectException: Connection refused",
)
WITH_SECRETS = _trace(
    "org.apache.kafka.connect.errors.ConnectException: JDBC sink connector failure for "
    "jdbc:postgresql://target.example.com/shop?user=writer&password=hunter2-of-the-source",
    "java.sql.BatchUpdateException: Batch entry 0 INSERT INTO target.orders VALUES (1,'jane.roe@example.org',"
    "'4111111111111111') was aborted: ERROR: new row violates check constraint \"paid\"\n"
    "  Detail: Failing row contains (1, jane.roe@example.org, 4111111111111111, AKIAIOSFODNN7EXAMPLE).",
    'org.postgresql.util.PSQLException: ERROR: new row for relation "orders" violates check constraint "paid"\n'
    "  Detail: Failing row contains (1, jane.roe@example.org, 4111111111111111).",
)
