import copy
import json
import pickle
from collections.abc import Callable

import pytest

from chalicelib.kit.masking import MASK, Secret

VALUE = "hunter2"


@pytest.mark.parametrize(
    "show", [str, repr, "{}".format, "{!r}".format, lambda secret: f"{secret}", lambda secret: f"{[secret]}"]
)
def test_a_secret_never_prints_its_value(show: Callable[[Secret], str]) -> None:
    assert VALUE not in show(Secret(VALUE))
    assert MASK in show(Secret(VALUE))


def test_a_secret_is_revealed_on_purpose_only() -> None:
    assert Secret(VALUE).reveal() == VALUE


@pytest.mark.parametrize("write", [pickle.dumps, copy.deepcopy, json.dumps])
def test_a_secret_is_not_written_anywhere(write: Callable[[Secret], object]) -> None:
    with pytest.raises(TypeError):
        write(Secret(VALUE))


def test_secrets_are_equal_by_value_and_never_to_text() -> None:
    assert Secret(VALUE) == Secret(VALUE)
    assert Secret(VALUE) != Secret("other")
    assert Secret(VALUE) != VALUE
    assert len({Secret(VALUE), Secret(VALUE)}) == 1


def test_an_empty_secret_is_false() -> None:
    assert (bool(Secret("")), bool(Secret(VALUE))) == (False, True)
