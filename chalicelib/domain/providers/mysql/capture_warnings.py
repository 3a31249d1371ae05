"""What is worth knowing before a capture from MySQL is created."""

from collections.abc import Iterator, Sequence

from chalicelib.domain.checks.capture import option_warnings
from chalicelib.domain.checks.snapshot import snapshot_warnings
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.providers.mysql.capture_options import MySQLCaptureOptions, SnapshotLocking
from chalicelib.domain.table import SourceTable

_MEANWHILE = (
    "the server keeps old versions of all rows that change, and it has to keep its binary log for as long as that"
)


def preview_warnings(pipeline: Pipeline, tables: Sequence[SourceTable]) -> tuple[ConfigWarning, ...]:
    """Everything worth a warning. `tables` are the discovered ones that the pipeline captures."""
    capture = pipeline.capture
    return (
        *option_warnings(capture),
        *snapshot_warnings(capture, tables, _MEANWHILE),
        *_locking_warnings(capture),
    )


def _locking_warnings(capture: Capture) -> Iterator[ConfigWarning]:
    if MySQLCaptureOptions.of(capture).snapshot_locking is SnapshotLocking.NONE:
        yield ConfigWarning(
            code="SNAPSHOT_WITHOUT_LOCK",
            message="Rows that change during the snapshot may come twice: a delivery that replaces rows takes no harm, "
            "one that only inserts has them twice. Change no definition of a table until the snapshot is complete.",
        )
