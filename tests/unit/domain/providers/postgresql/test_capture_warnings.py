"""Warnings of a preview about the snapshot of a PostgreSQL source."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.checks.snapshot import LONG_SNAPSHOT_BYTES
from chalicelib.domain.pipeline import Capture, SnapshotMode
from chalicelib.domain.providers.postgresql.capture_warnings import preview_warnings
from chalicelib.domain.table import SourceTable, TableName
from tests.support.entities import make_pipeline, make_source_table

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MIB = 1024**2


def table(size: int | None, rows: int | None, name: str = "orders") -> SourceTable:
    return make_source_table(TableName("shop", name), estimated_rows=rows, estimated_size_bytes=size)


def warnings(
    *tables: SourceTable, mode: SnapshotMode = SnapshotMode.INITIAL, properties: dict[str, str] | None = None
) -> dict[str, str]:
    capture = Capture(
        topic_prefix="p",
        tables=tuple(table.name for table in tables),
        snapshot_mode=mode,
        properties=properties or {},
    )
    pipeline = make_pipeline(capture=capture)
    return {warning.code: warning.message for warning in preview_warnings(pipeline, tables)}


def test_an_ordinary_capture_is_only_warned_about_truncate() -> None:
    assert set(warnings(table(MIB, 1000))) == {"TRUNCATE_NOT_DELIVERED"}


def test_a_table_of_unknown_size_is_not_warned_about() -> None:
    assert set(warnings(table(None, None), table(MIB, 0))) == {"TRUNCATE_NOT_DELIVERED"}


@pytest.mark.parametrize(
    ("mode", "code"), [(SnapshotMode.ALWAYS, "SNAPSHOT_AT_EACH_START"), (SnapshotMode.INITIAL_ONLY, "SNAPSHOT_ONLY")]
)
def test_a_snapshot_mode_with_a_surprise_is_warned_about(mode: SnapshotMode, code: str) -> None:
    assert code in warnings(table(MIB, 1000), mode=mode)


def test_a_long_snapshot_is_warned_about_with_its_size() -> None:
    half = LONG_SNAPSHOT_BYTES // 2
    messages = warnings(table(half, 10**9), table(half, 10**9, "lines"))
    assert "10 GiB" in messages["LONG_SNAPSHOT"]
    assert "LONG_SNAPSHOT" not in warnings(table(half, 10**9))


def test_without_rows_to_read_no_size_matters() -> None:
    messages = warnings(table(LONG_SNAPSHOT_BYTES * 9, 1000), mode=SnapshotMode.NO_DATA)
    assert set(messages) == {"TRUNCATE_NOT_DELIVERED"}


def test_wide_rows_are_warned_about_with_the_fetch_size_that_fits() -> None:
    """Rows of 64 KiB: 10,240 of them are 640 MiB, and 2,048 are 128 MiB."""
    wide = table(64 * MIB, 1024, "files")
    messages = warnings(table(MIB, 1000), wide)
    assert "shop.files" in messages["WIDE_ROWS"]
    assert "shop.orders" not in messages["WIDE_ROWS"]
    assert "snapshot.fetch.size to 2048" in messages["WIDE_ROWS"]
    assert "WIDE_ROWS" not in warnings(wide, properties={"snapshot.fetch.size": "2048"})
