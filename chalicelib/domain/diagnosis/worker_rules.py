"""Messages of the Connect worker and Kafka, and those of the network that wrap others.

Sources: Kafka Connect 4.3, Debezium 3.6, Connector/J, Hibernate and its connection pools.
"""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis, Rules

WORKER_RULES: Rules = (
    # The Connect worker itself.
    (Diagnosis.DISK_FULL, "no space left on device", "disk full", "the table ' is full"),
    (Diagnosis.SERVER_MEMORY, "error: out of memory", "error: out of shared memory"),
    (Diagnosis.MEMORY, "outofmemoryerror", "java heap space"),
    (Diagnosis.ROW_TOO_LARGE, "recordtoolargeexception", "larger than…max.request.size", "message was too large"),
    (
        Diagnosis.NOT_CONVERTED,
        *("failed to properly convert d", "failed to parse and read", "got a special value (nan/infinity)"),
    ),
    (Diagnosis.SNAPSHOT_CUT, "previously stopped while taking a snapshot"),
    (
        Diagnosis.COLUMN_TWICE,
        *("multiple entries with same key", "duplicate column name", "field names must be unique"),
        "has columns that differ only by case",
    ),
    (Diagnosis.DRIVER, "no suitable driver"),
    (Diagnosis.RECORDS_GONE, "offsetoutofrangeexception", "nooffsetforpartitionexception"),
    (
        Diagnosis.TOPIC_POLICY,
        *("policyviolationexception", "invalidreplicationfactorexception", "errors.invalidconfigurationexception"),
    ),
    (
        Diagnosis.BROKER_DENIED,
        *("topicauthorizationexception", "groupauthorizationexception", "clusterauthorizationexception"),
        *("transactionalidauthorizationexception", "saslauthenticationexception", "sslauthenticationexception"),
    ),
    (
        Diagnosis.BROKER,
        *("not present in metadata after", "failed to update metadata", "notenoughreplicas"),
        *("fetching topic metadata", "unknowntopicorpartitionexception", "before the position for partition"),
        *("no resolvable bootstrap urls", "failed to construct kafka", "before successfully committing offsets"),
    ),
)

LATE_RULES: Rules = (
    # The network, late because other messages wrap these.
    (
        Diagnosis.CONNECTION,
        *("connection refused", "connection to…refused", "communications link failure", "connect timed out"),
        *("read timed out", "connection reset", "connection attempt failed", "connection attempt timed out"),
        *("broken pipe", "no route to host", "network is unreachable", "host is unreachable"),
        *("i/o error occurred while sending to the backend", "connection has been closed"),
        *("connection validation timed out", "couldn't obtain encoding for database"),
        *("database connection failed when", "could not create connection to database server"),
        *("unable to acquire jdbc connection", "unable to obtain connection", "unable to obtain a jdbc connection"),
        *("database connection failed during", "could not create postgresql connection"),
        *("driver has not received any packets from the server", "when the connection failed"),
        *("connections could not be acquired", "connection is not available, request timed out"),
        *("binarylogclient was unable to connect", "acquisition timeout while waiting for new connection"),
        *("server has gone away", "lost connection to", "reading communication packets", "cannot connect to server"),
        *("server login has been failing", "no operations allowed after connection closed"),
        "while waiting to connect to database",
    ),
    # Hibernate's message when the JDBC sink could not connect at its start, for any reason.
    (Diagnosis.NO_SINK_CONNECTION, "unable to determine dialect without jdbc metadata"),
    (Diagnosis.SLOT_NOT_READY, "unable to obtain valid replication slot"),
    (
        Diagnosis.SLOT_FAILED,
        *("creation of replication slot failed", "failed to start replication stream", "no replication slot found"),
        "neither confirmed_flush_lsn nor restart_lsn",
    ),
    (Diagnosis.RETRIES, "exceeded max retries"),
)
"""What other messages wrap; searched last."""
