"""Amounts as people read them."""

import pytest

from chalicelib.kit.readable import readable_duration, readable_size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (56, "56 bytes"),
        (8_040, "8 KB"),
        (3 * 1024**2, "3.0 MB"),
        (1024**3 - 1, "1024.0 MB"),
        (1.5 * 1024**3, "1.5 GB"),
    ],
)
def test_a_size_is_in_the_largest_unit_of_which_it_has_one(size: float, text: str) -> None:
    assert readable_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1 min"), (59, "1 min"), (120, "2 min"), (3_600, "1 h 0 min"), (7_530, "2 h 5 min")]
)
def test_a_duration_is_to_the_minute_and_at_least_one(seconds: int, text: str) -> None:
    assert readable_duration(seconds) == text
