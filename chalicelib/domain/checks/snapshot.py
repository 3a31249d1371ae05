"""What is worth a warning about the snapshot of a capture, whatever the kind of its database."""

from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.pipeline import Capture, SnapshotMode
from chalicelib.domain.table import SourceTable

_GIB = 1024**3
LONG_SNAPSHOT_BYTES = 10 * _GIB

_MODE_WARNINGS: Mapping[SnapshotMode, ConfigWarning] = {
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


def snapshot_warnings(capture: Capture, tables: Sequence[SourceTable], meanwhile: str) -> Iterator[ConfigWarning]:
    """Those of its mode and of its size. `tables` are the discovered ones that it captures, and `meanwhile` is what a
    long one does to the server, as the end of a sentence.
    """
    mode = capture.snapshot_mode
    if mode in _MODE_WARNINGS:
        yield _MODE_WARNINGS[mode]
    size = sum(table.estimated_size_bytes or 0 for table in tables)
    if size >= LONG_SNAPSHOT_BYTES and mode is not SnapshotMode.NO_DATA:
        yield ConfigWarning(
            code="LONG_SNAPSHOT",
            message=f"The snapshot reads about {size // _GIB} GiB in one transaction. Until it ends, {meanwhile}. Take "
            "it at a quiet time, or split the tables.",
        )
