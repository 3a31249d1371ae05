"""The connector keys that a pipeline may set, and may not, beside the common ones when its source is MySQL."""

from collections.abc import Mapping

from chalicelib.domain.debezium import BOOLEAN, COMMON_REFUSALS, COUNT, MEASURED, MILLISECONDS, allowed_properties
from chalicelib.domain.property_options import CAPTURE_OPTIONS

IGNORE_GTIDS_PROPERTY = "gtid.ignore.on.recovery"
"""With this property a connector starts at file and position, whatever GTIDs its server has."""

ALLOWED_PROPERTIES = allowed_properties(
    {
        # How the snapshot goes.
        "min.row.count.to.stream.results": COUNT,
        # How it behaves while it runs.
        "binlog.buffer.size": COUNT,
        "connect.keep.alive.interval.ms": MILLISECONDS,
        "connect.timeout.ms": MILLISECONDS,
        IGNORE_GTIDS_PROPERTY: BOOLEAN,
    }
)
_OWN = "Headgate sets it: a row would be lost or changed with another value. Leave it out."

REFUSED_PROPERTIES: Mapping[str, str] = {
    **COMMON_REFUSALS,
    "bigint.unsigned.handling.mode": MEASURED,
    "converters": MEASURED,
    "database.include.list": "The databases follow from the pipeline's tables. Leave it out.",
    "database.server.id": "Set options.server_id: Headgate sees to it that no other pipeline has it.",
    "ddl.parser.type": "Headgate sets the parser that reads all definitions. Leave it out.",
    "enable.time.adjuster": MEASURED,
    "gtid.source.excludes": "The binary log of every server has to be read. Leave it out.",
    "gtid.source.includes": "The binary log of every server has to be read. Leave it out.",
    "include.schema.changes": "Headgate finds changes of definitions by discovery. Leave it out.",
    "inconsistent.schema.handling.mode": _OWN,
    "snapshot.fetch.size": "With every value the server would collect each table in a temporary table first, or the "
    "worker would read it into its memory at once. Leave it out.",
    "snapshot.locking.mode": "Set options.snapshot_locking.",
    "time.precision.mode": MEASURED,
}
"""Keys with why they, or some of their values, are refused, and what to do instead."""

PROPERTY_OPTIONS: Mapping[str, str] = {
    **CAPTURE_OPTIONS,
    "database.connectionTimeZone": "options.connection_time_zone",
    "database.include.list": "tables",
    "database.server.id": "options.server_id",
    "driver.connectionTimeZone": "options.connection_time_zone",
    "schema.history.internal.kafka.bootstrap.servers": "options.history_bootstrap_servers",
    "snapshot.locking.mode": "options.snapshot_locking",
}
"""The field of a pipeline that sets what a key would set."""
