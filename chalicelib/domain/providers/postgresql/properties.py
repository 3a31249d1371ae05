"""The connector keys that a pipeline may set beside the common ones when its source is PostgreSQL."""

from chalicelib.domain.debezium import BOOLEAN, COUNT, MILLISECONDS, allowed_properties

PARTITION_ROOT_PROPERTY = "publish.via.partition.root"

ALLOWED_PROPERTIES = allowed_properties(
    {
        # How values are written.
        "hstore.handling.mode": "json|map",
        "include.unknown.datatypes": BOOLEAN,
        "interval.handling.mode": "numeric|string",
        "money.fraction.digits": "[0-9]{1,2}",
        "time.precision.mode": "adaptive|adaptive_time_microseconds|connect|isostring|microseconds|nanoseconds",
        # What is written.
        PARTITION_ROOT_PROPERTY: BOOLEAN,
        # How the snapshot goes. Debezium's MySQL connector means something else by a fetch size.
        "snapshot.fetch.size": COUNT,
        "snapshot.isolation.mode": "serializable|repeatable_read|read_committed|read_uncommitted",
        "snapshot.locking.mode": "none|shared",
        # How it behaves while it runs.
        "offset.mismatch.strategy": "no_validation|trust_offset|trust_slot|trust_greater_lsn",
        "query.fetch.size": COUNT,
        "slot.failover": BOOLEAN,
        "slot.max.retries": COUNT,
        "slot.retry.delay.ms": MILLISECONDS,
        "status.update.interval.ms": MILLISECONDS,
        "xmin.fetch.interval.ms": MILLISECONDS,
    }
)
