"""Which connector keys a pipeline's `properties` may set, and to what.

Nothing in this table leads to another host, file, class, query or credential. What is not in it is refused.
"""

import re
from collections.abc import Mapping

_BOOLEAN = "true|false"
_COUNT = "[0-9]{1,9}"
_RETRIES = "-1|[0-9]{1,9}"
_MILLISECONDS = "[0-9]{1,9}"
_BYTES = "[0-9]{1,12}"
_COLUMNS = r"[A-Za-z0-9_$.,*\\-]{1,4000}"

PARTITION_ROOT_PROPERTY = "publish.via.partition.root"

PROPERTY_ALLOW_LIST: Mapping[str, str] = {
    # How values are written.
    "binary.handling.mode": "bytes|base64|base64-url-safe|hex",
    "hstore.handling.mode": "json|map",
    "include.unknown.datatypes": _BOOLEAN,
    "interval.handling.mode": "numeric|string",
    "money.fraction.digits": "[0-9]{1,2}",
    "time.precision.mode": "adaptive|adaptive_time_microseconds|connect|isostring|microseconds|nanoseconds",
    # What is written.
    "column.exclude.list": _COLUMNS,
    "column.include.list": _COLUMNS,
    "provide.transaction.metadata": _BOOLEAN,
    PARTITION_ROOT_PROPERTY: _BOOLEAN,
    "skip.messages.without.change": _BOOLEAN,
    "skipped.operations": "none|[cudt](,[cudt]){0,3}",
    # How the snapshot goes.
    "incremental.snapshot.chunk.size": _COUNT,
    "snapshot.delay.ms": _MILLISECONDS,
    "snapshot.fetch.size": _COUNT,
    "snapshot.isolation.mode": "serializable|repeatable_read|read_committed|read_uncommitted",
    "snapshot.lock.timeout.ms": _MILLISECONDS,
    "snapshot.locking.mode": "none|shared",
    "snapshot.max.threads": "[1-9]|1[0-6]",
    # How it behaves while it runs.
    "errors.max.retries": _RETRIES,
    "errors.retry.delay.max.ms": _MILLISECONDS,
    "errors.retry.timeout": _RETRIES,
    "max.queue.size.in.bytes": _BYTES,
    "offset.mismatch.strategy": "no_validation|trust_offset|trust_slot|trust_greater_lsn",
    "query.fetch.size": _COUNT,
    "retriable.restart.connector.wait.ms": _MILLISECONDS,
    "slot.failover": _BOOLEAN,
    "slot.max.retries": _COUNT,
    "slot.retry.delay.ms": _MILLISECONDS,
    "status.update.interval.ms": _MILLISECONDS,
    "streaming.delay.ms": _MILLISECONDS,
    "xmin.fetch.interval.ms": _MILLISECONDS,
    # The topics that Connect makes for it.
    "topic.creation.default.cleanup.policy": "delete|compact|compact,delete",
    "topic.creation.default.compression.type": "producer|uncompressed|gzip|snappy|lz4|zstd",
    "topic.creation.default.max.message.bytes": _BYTES,
    "topic.creation.default.min.insync.replicas": "[1-9]",
    "topic.creation.default.partitions": "-1|[1-9][0-9]{0,3}",
    "topic.creation.default.replication.factor": "-1|[1-9]",
    "topic.creation.default.retention.bytes": "-1|[0-9]{1,15}",
    "topic.creation.default.retention.ms": "-1|[0-9]{1,15}",
}
"""Key -> the whole value as a regular expression (linear: no nested repetition)."""

_PATTERNS = {key: re.compile(pattern) for key, pattern in PROPERTY_ALLOW_LIST.items()}


def check_properties(properties: Mapping[str, str]) -> list[str]:
    """The keys that may not be set, or not to this value, in alphabetical order."""
    return sorted(
        key for key, value in properties.items() if key not in _PATTERNS or not _PATTERNS[key].fullmatch(str(value))
    )
