"""Warnings that follow from the options of a capture."""

import pytest

from chalicelib.domain.checks.capture_warnings import capture_warnings
from chalicelib.domain.pipeline import Capture, CaptureOptions, OnConversionError
from chalicelib.domain.table import TableName

MIB = 1024**2


def codes(**options: object) -> list[str]:
    chosen = CaptureOptions(**options)  # type: ignore[arg-type]
    capture = Capture(topic_prefix="p", tables=(TableName("shop", "orders"),), options=chosen)
    return [warning.code for warning in capture_warnings(capture)]


def test_every_preview_says_that_truncate_is_not_delivered() -> None:
    assert codes() == ["TRUNCATE_NOT_DELIVERED"]


@pytest.mark.parametrize(("size", "warned"), [(MIB, False), (MIB + 1, True), (64 * MIB, True)])
def test_records_over_a_mebibyte_cost_memory(size: int, warned: bool) -> None:
    assert ("LARGE_MESSAGES" in codes(max_message_bytes=size)) is warned


def test_values_that_become_null_are_worth_a_warning() -> None:
    assert "VALUES_MAY_BE_NULL" in codes(on_conversion_error=OnConversionError.NULL)
