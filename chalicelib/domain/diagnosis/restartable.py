"""Which failures a restart may end."""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis

RESTARTABLE: frozenset[Diagnosis] = frozenset(
    {
        # The secrets cannot be read from Headgate.
        Diagnosis.SECRET,
        # The database cannot be reached, is stopping, starting or full: this may end.
        Diagnosis.CONNECTION,
        Diagnosis.NO_SINK_CONNECTION,
        Diagnosis.HOST_NAME,
        Diagnosis.GOING_DOWN,
        Diagnosis.TOO_MANY,
        Diagnosis.READ_ONLY,
        Diagnosis.DISK_FULL,
        # What another process uses for some time.
        Diagnosis.SLOT_BUSY,
        Diagnosis.WAL_SENDERS,
        Diagnosis.WAL_DECODING,
        Diagnosis.BINLOG_EVENT,
        Diagnosis.SERVER_MEMORY,
        # Reads and writes that may be repeated.
        Diagnosis.LOCKED,
        Diagnosis.ABORTED,
        Diagnosis.TABLE_EXISTS,
        Diagnosis.WRITE_CANCELLED,
        Diagnosis.NO_CREDENTIALS,
        Diagnosis.SLOW_DOWN,
        Diagnosis.STORE_FAULT,
        Diagnosis.STORE_REFUSED,
        Diagnosis.STORE_TIMEOUT,
        Diagnosis.UPLOAD_LOST,
        Diagnosis.UPLOAD_FAILED,
        Diagnosis.RETRIES,
        # A sink to another kind of database was started since in the same worker: tables and columns got its types.
        Diagnosis.TARGET_MISSING,
        Diagnosis.NO_TARGET_TYPE,
        # The worker and its brokers.
        Diagnosis.MEMORY,
        Diagnosis.BROKER,
        Diagnosis.BROKER_DENIED,
        # Unknown: it may be any of these.
        Diagnosis.GENERAL,
    }
)
"""Failures that a restart may end. All others (a refused password, a missing right or slot, a row that does not fit)
come back at once, and a wrong password that is tried often locks accounts.
"""
