"""A dict of bounded size."""

from chalicelib.kit.bounded import Bounded


def test_it_is_emptied_when_it_is_full() -> None:
    kept: Bounded[str, int] = Bounded(2)
    kept["a"], kept["b"] = 1, 2
    assert kept == {"a": 1, "b": 2}
    kept["c"] = 3
    assert kept == {"c": 3}


def test_replacing_an_entry_removes_no_other_entry() -> None:
    kept: Bounded[str, int] = Bounded(2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    assert kept == {"a": 3, "b": 2}
