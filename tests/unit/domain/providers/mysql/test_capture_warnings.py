"""Warnings of a preview for MySQL."""

from typing import Any

import pytest

from chalicelib.domain.checks.capture import option_warnings
from chalicelib.domain.pipeline import Capture, SnapshotMode
from chalicelib.domain.providers.mysql.capture_warnings import LONG_SNAPSHOT_BYTES, preview_warnings
from tests.support.entities import ORDERS, make_pipeline, make_source_table


def codes(size: int | None = None, **capture: Any) -> set[str]:
    """Without those that captures of every kind of database have."""
    pipeline = make_pipeline(capture=Capture(topic_prefix="p", tables=(ORDERS,), **capture))
    warnings = preview_warnings(pipeline, [make_source_table(estimated_size_bytes=size)])
    return {warning.code for warning in warnings} - {warning.code for warning in option_warnings(pipeline.capture)}


def test_an_ordinary_capture_has_none() -> None:
    assert codes() == set()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(SnapshotMode.ALWAYS, "SNAPSHOT_AT_EACH_START"), (SnapshotMode.INITIAL_ONLY, "SNAPSHOT_ONLY")],
)
def test_modes_that_surprise(mode: SnapshotMode, expected: str) -> None:
    assert codes(snapshot_mode=mode) == {expected}


def test_a_snapshot_without_a_lock_may_bring_rows_twice() -> None:
    assert codes(provider_options={"snapshot_locking": "none"}) == {"SNAPSHOT_WITHOUT_LOCK"}


def test_a_long_snapshot_is_announced_where_rows_are_read() -> None:
    assert codes(LONG_SNAPSHOT_BYTES) == {"LONG_SNAPSHOT"}
    assert codes(LONG_SNAPSHOT_BYTES - 1) == set()
    assert codes(LONG_SNAPSHOT_BYTES, snapshot_mode=SnapshotMode.NO_DATA) == set()
