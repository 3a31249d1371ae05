"""What is worth knowing before a capture from MySQL is created."""

from collections.abc import Iterator, Sequence

from chalicelib.domain.checks.capture import option_warnings
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.providers.mysql.capture_options import MySQLCaptureOptions, SnapshotLocking
from chalicelib.domain.table import SourceTable

_GIB = 1024**3
LONG_SNAPSHOT_BYTES = 10 * _GIB

_MODE_WARNINGS = {
    SnapshotMode.ALWAYS: ConfigWarning(
        code="SNAPSHOT_AT_EACH_START",
        message="Every start of the connector reads all rows again, so Headgate does not restart it automatically.",
    ),
    SnapshotMode.INITIAL_ONLY: ConfigWarning(
        code="SNAPSHOT_ONLY",
        message="Changes after the snapshot are never captured, although the connector runs on. Delete the pipeline "
        "when the rows have arrived.",
    ),
}


def preview_warnings(pipeline: Pipeline, tables: Sequence[SourceTable]) -> tuple[ConfigWarning, ...]:
    """Everything worth a warning. `tables` are the discovered ones that the pipeline captures."""
    return (*option_warnings(pipeline.capture), *_snapshot_warnings(pipeline, tables))


def _snapshot_warnings(pipeline: Pipeline, tables: Sequence[SourceTable]) -> Iterator[ConfigWarning]:
    mode = pipeline.capture.snapshot_mode
    if mode in _MODE_WARNINGS:
        yield _MODE_WARNINGS[mode]
    if MySQLCaptureOptions.of(pipeline.capture).snapshot_locking is SnapshotLocking.NONE:
        yield ConfigWarning(
            code="SNAPSHOT_WITHOUT_LOCK",
            message="Rows that change during the snapshot may come twice: a delivery that replaces rows takes no harm, "
            "one that only inserts has them twice. Change no definition of a table until the snapshot is complete.",
        )
    size = sum(table.estimated_size_bytes or 0 for table in tables)
    if size >= LONG_SNAPSHOT_BYTES and mode is not SnapshotMode.NO_DATA:
        yield ConfigWarning(
            code="LONG_SNAPSHOT",
            message=f"The snapshot reads about {size // _GIB} GiB in one transaction. Until it ends the server keeps "
            "old versions of all rows that change, and it has to keep its binary log for as long. Take it at a quiet "
            "time, or split the tables.",
        )
