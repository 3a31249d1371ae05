"""A dict that does not grow."""

from chalicelib.kit.bounded import Bounded


def test_it_holds_so_many_and_begins_anew_with_one_more() -> None:
    kept: Bounded[str, int] = Bounded(2)
    kept["a"], kept["b"] = 1, 2
    assert kept == {"a": 1, "b": 2}
    kept["c"] = 3
    assert kept == {"c": 3}


def test_an_entry_that_is_there_is_replaced_and_nothing_is_forgotten() -> None:
    kept: Bounded[str, int] = Bounded(2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    assert kept == {"a": 3, "b": 2}
