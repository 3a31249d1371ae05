"""Sets of transactions: read, compared and subtracted as MySQL does it."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.providers.mysql.gtid_set import MAX_CHARACTERS, GtidSet

A, B = "3E11FA47-71CA-11E1-9E33-C80AA9429562", "3d28f1e0-eaa6-11f1-a83b-02fc00000001"


def parsed(text: str) -> GtidSet:
    found = GtidSet.parse(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (f"{A}:1-5", f"{A.lower()}:1-5"),
        (f"{A}:1-5", f"{A.replace('-', '')}:1-5"),
        (f"{A}:5", f"{A}:5-5"),
        (f"{A}:1-5:6-9", f"{A}:1-9"),
        (f"{A}:7-9:1-5:4-6", f"{A}:1-9"),
        (f"{A}:1-9,\n{B}:1-2", f"{B}:1-2, {A}:1-9"),
        (f"{A}:1-5,{A}:6", f"{A}:1-6"),
        (f"{A}:1-3:backup:1-2", f"{A}:1-3,{A}:backup:1-2"),
        (f"{A}:Backup:1-2:other:4", f"{A}:backup:1-2,{A}:other:4"),
        (f"{A}:0-0", ""),
        (f"{A}:5-3", ""),
        (" \n", ""),
    ],
)
def test_two_texts_of_one_set(one: str, same: str) -> None:
    assert parsed(one) == parsed(same)


@pytest.mark.parametrize(
    "text",
    ["1-5", A, f"{A}:", f"{A}:x-1", f"{A}:1-", f"{A}:1;2", f"{A}:1-2-3", "AUTOMATIC", f"{A}:1-{'9' * 20}", f"x{A}:1"],
)
def test_other_texts_mean_no_set(text: str) -> None:
    assert GtidSet.parse(text) is None


def test_a_text_that_is_too_long_means_no_set() -> None:
    numbers = ":".join(str(number) for number in range(2, 20_000, 2))
    assert len(f"{A}:{numbers}") < MAX_CHARACTERS
    assert GtidSet.parse(f"{A}:{numbers}") is not None
    assert GtidSet.parse(f"{A}:{numbers}:{numbers}") is None


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        (f"{A}:1-9", f"{A}:1-5"),
        (f"{A}:1-9", f"{A}:2:4-5:9"),
        (f"{A}:1-9", ""),
        (f"{A}:1-9,{B}:1", f"{A}:1-9"),
        (f"{A}:t:1-4", f"{A}:t:2"),
    ],
)
def test_a_set_contains_a_smaller_one(larger: str, smaller: str) -> None:
    assert parsed(larger).contains(parsed(smaller))
    assert not parsed(smaller).contains(parsed(larger))


def test_a_tag_makes_another_source() -> None:
    assert not parsed(f"{A}:1-9").contains(parsed(f"{A}:t:1"))
    assert parsed(f"{A}:1-9").has_origin_of(parsed(f"{A}:t:1"))
    assert not parsed(f"{A}:1-9").has_origin_of(parsed(f"{B}:1-9"))


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        (f"{A}:1-9", f"{A}:4-5", f"{A}:1-3:6-9"),
        (f"{A}:1-9", f"{A}:1-9", ""),
        (f"{A}:1-9", f"{B}:1-9", f"{A}:1-9"),
        (f"{A}:1-3:7-9", f"{A}:2-8", f"{A}:1:9"),
        (f"{A}:1-9,{B}:1-2", f"{A}:1-9,{B}:2", f"{B}:1"),
    ],
)
def test_a_difference(one: str, other: str, left: str) -> None:
    assert parsed(one).without(parsed(other)) == parsed(left)


def text_of(numbers: Iterable[int]) -> str:
    return f"{A}:{':'.join(map(str, numbers))}" if numbers else ""


@given(st.sets(st.integers(1, 60)), st.sets(st.integers(1, 60)))
def test_it_is_a_difference_of_sets(one: set[int], other: set[int]) -> None:
    first, second = parsed(text_of(one)), parsed(text_of(other))
    assert first.without(second) == parsed(text_of(one - other))
    assert first.contains(second) == (one >= other)
    assert bool(first) == bool(one)
