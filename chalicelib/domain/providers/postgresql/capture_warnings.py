"""What is worth knowing before a capture from PostgreSQL is created."""

from collections.abc import Iterator, Sequence

from chalicelib.domain.checks.capture import option_warnings
from chalicelib.domain.checks.snapshot import snapshot_warnings
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import Capture, Pipeline, SnapshotMode
from chalicelib.domain.table import SourceTable

FETCH_SIZE_PROPERTY = "snapshot.fetch.size"
_DEFAULT_FETCH_SIZE = 10_240
FETCH_BYTES = 128 * 1024**2
"""Rows that one fetch of a snapshot may bring into the worker's memory."""

_MEANWHILE = "vacuum removes no dead rows in the whole database and the slot keeps all WAL"


def preview_warnings(pipeline: Pipeline, tables: Sequence[SourceTable]) -> tuple[ConfigWarning, ...]:
    """Everything worth a warning. `tables` are the discovered ones that the pipeline captures."""
    capture = pipeline.capture
    return (
        *option_warnings(capture),
        *snapshot_warnings(capture, tables, _MEANWHILE),
        *_wide_rows(capture, tables),
    )


def _wide_rows(capture: Capture, tables: Sequence[SourceTable]) -> Iterator[ConfigWarning]:
    if capture.snapshot_mode is SnapshotMode.NO_DATA:
        return
    fetched = int(capture.properties.get(FETCH_SIZE_PROPERTY, _DEFAULT_FETCH_SIZE))
    row_bytes = {table.name: size for table in tables if (size := _row_bytes(table)) * fetched > FETCH_BYTES}
    if row_bytes:
        advised = max(1, FETCH_BYTES // max(row_bytes.values()))
        yield ConfigWarning(
            code="WIDE_ROWS",
            message=f"The snapshot reads {fetched} rows at a time, and rows are wide in {name_list(row_bytes)}: "
            f"a worker may run out of memory. Set the property {FETCH_SIZE_PROPERTY} to {advised}.",
        )


def _row_bytes(table: SourceTable) -> int:
    """The average size of a row, as far as discovery knows it."""
    return (table.estimated_size_bytes or 0) // table.estimated_rows if table.estimated_rows else 0
