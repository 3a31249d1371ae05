"""Stack traces in the shape that failed tasks carry, of a few frames; they contain the database's own messages."""

_CONNECT, _DEBEZIUM = "org.apache.kafka.connect.errors.ConnectException", "io.debezium.DebeziumException"
_SOURCE_FRAMES = (
    "io.debezium.connector.postgresql.PostgresConnectorTask.start(PostgresConnectorTask.java:196)",
    "io.debezium.connector.common.BaseSourceTask.start(BaseSourceTask.java:282)",
    "org.apache.kafka.connect.runtime.WorkerTask.doStart(WorkerTask.java:191)",
    "org.apache.kafka.connect.runtime.WorkerTask.run(WorkerTask.java:298)",
)
_MYSQL_FRAMES = (
    "io.debezium.connector.mysql.MySqlConnectorTask.start(MySqlConnectorTask.java:167)",
    *_SOURCE_FRAMES[1:],
)
_PRODUCER_FRAMES = (
    "io.debezium.pipeline.ErrorHandler.setProducerThrowable(ErrorHandler.java:67)",
    "io.debezium.pipeline.ChangeEventSourceCoordinator.lambda$start$0(ChangeEventSourceCoordinator.java:157)",
    "java.base/java.lang.Thread.run(Thread.java:840)",
)
_SINK_FRAMES = (
    "io.debezium.connector.jdbc.JdbcSinkConnectorTask.start(JdbcSinkConnectorTask.java:96)",
    "org.apache.kafka.connect.runtime.WorkerSinkTask.initializeAndStart(WorkerSinkTask.java:329)",
    "org.apache.kafka.connect.runtime.WorkerTask.run(WorkerTask.java:298)",
)

_PROVIDER_FRAMES = (
    "org.headgate.connect.SecretClient.read(SecretClient.java:68)",
    "org.headgate.connect.HeadgateConfigProvider.get(HeadgateConfigProvider.java:74)",
    "org.apache.kafka.common.config.ConfigTransformer.transform(ConfigTransformer.java:103)",
)


def source_trace(sentence: str, cause: str) -> str:
    """The trace of a PostgreSQL source's task: Debezium's message, and below it the server's, if any."""
    connect_says = sentence.startswith(("Publication autocreation", "Unable to create"))
    exception = _DEBEZIUM if cause.startswith("No table") else "org.postgresql.util.PSQLException"
    causes = [f"{exception}: {_tidy(cause)}"] if cause else []
    return _trace(f"{_CONNECT if connect_says else _DEBEZIUM}: {sentence}", _SOURCE_FRAMES, *causes)


def mysql_start_trace(sentence: str, *causes: str, connect_says: bool = False) -> str:
    """The trace of a MySQL source's task that did not start; causes with their exceptions, outermost first."""
    return _trace(f"{_CONNECT if connect_says else _DEBEZIUM}: {sentence}", _MYSQL_FRAMES, *causes)


def producer_trace(*causes: str) -> str:
    """The trace of a source's task that had started: its snapshot or its stream has failed."""
    word = "An exception occurred in the change event producer. This connector will be stopped."
    return _trace(f"{_CONNECT}: {word}", _PRODUCER_FRAMES, *causes)


def secrets_trace(problem: str) -> str:
    """The trace of a connector, or of its task, that was to start while its secrets could not be read."""
    return _trace(f"org.apache.kafka.common.config.ConfigException: {problem}", _PROVIDER_FRAMES)


def sink_trace() -> str:
    """The trace of a JDBC sink's task that could not connect; the real one names neither the host nor the reason."""
    unknown = "Unable to determine Dialect without JDBC metadata"
    service = "org.hibernate.engine.jdbc.env.spi.JdbcEnvironment"
    return _trace(
        f"org.hibernate.service.spi.ServiceException: Unable to create requested service [{service}] due to: {unknown}",
        _SINK_FRAMES,
    )


def _tidy(cause: str) -> str:
    """The server's message as the Java driver prints it: from the severity on, details indented."""
    start = min((at for at in (cause.find("FATAL:"), cause.find("ERROR:")) if at >= 0), default=0)
    lines = [line.strip() for line in cause[start:].splitlines() if line.strip()]
    words = [" ".join(line.split()) for line in lines]
    return "\n  ".join(word.replace("DETAIL:", "Detail:").replace("HINT:", "Hint:") for word in words)


def _trace(head: str, frames: tuple[str, ...], *causes: str) -> str:
    lines = [head, *(f"\tat {frame}" for frame in frames)]
    for cause in causes:
        lines += [f"Caused by: {cause}", "\t... 13 more"]
    return "\n".join(lines) + "\n"
