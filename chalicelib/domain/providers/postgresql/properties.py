"""The connector keys that a pipeline may set, and may not, beside the common ones when its source is PostgreSQL."""

from collections.abc import Mapping

from chalicelib.domain.debezium import (
    BOOLEAN,
    COMMON_REFUSALS,
    COUNT,
    MEASURED,
    MILLISECONDS,
    allowed_properties,
)
from chalicelib.domain.property_options import CAPTURE_OPTIONS

PARTITION_ROOT_PROPERTY = "publish.via.partition.root"
FAILOVER_PROPERTY = "slot.failover"

ALLOWED_PROPERTIES = allowed_properties(
    {
        # How values are written.
        "money.fraction.digits": "[0-9]{1,2}",
        # What is written.
        PARTITION_ROOT_PROPERTY: BOOLEAN,
        # How the snapshot goes. Debezium's MySQL connector means something else by a fetch size; 0 would be all rows.
        "snapshot.fetch.size": "[1-9][0-9]{0,8}",
        "snapshot.isolation.mode": "serializable|repeatable_read",
        "snapshot.locking.mode": "none|shared",
        # How it behaves while it runs.
        "query.fetch.size": COUNT,
        FAILOVER_PROPERTY: BOOLEAN,
        "slot.max.retries": COUNT,
        "slot.retry.delay.ms": MILLISECONDS,
        "status.update.interval.ms": MILLISECONDS,
        "xmin.fetch.interval.ms": MILLISECONDS,
    }
)

REFUSED_PROPERTIES: Mapping[str, str] = {
    **COMMON_REFUSALS,
    "hstore.handling.mode": MEASURED,
    "include.unknown.datatypes": MEASURED,
    "interval.handling.mode": MEASURED,
    "lsn.flush.mode": "The other modes fail at a restart, or miss changes of a slot that was made again. For an idle "
    "database set options.heartbeat_table.",
    "offset.mismatch.strategy": "The other strategies miss changes when a slot was made again, or fail without need. "
    "Leave it out.",
    "skipped.operations": "It would become part of the publication, and the pipeline stops when that has to change. "
    "Deletes are left out by a delivery with delete_enabled false.",
    "snapshot.fetch.size": "It is a number of rows from 1.",
    "snapshot.isolation.mode": "The snapshot has to show all tables at one moment: serializable or repeatable_read.",
    "time.precision.mode": MEASURED,
}
"""Keys with why they, or some of their values, are refused, and what to do instead."""

PROPERTY_OPTIONS: Mapping[str, str] = {
    **CAPTURE_OPTIONS,
    "publication.autocreate.mode": "options.publication_mode",
    "publication.name": "options.publication_name",
    "slot.name": "options.slot_name",
}
"""The field of a pipeline that sets what a key would set."""
