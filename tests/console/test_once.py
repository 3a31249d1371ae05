"""What is asked for once happens once, and of two people who edit one rule nobody overwrites the other unseen."""

import pytest

from tests.console.console import Console
from tests.console.double_clicks import PRESSES, asked_once, made_once
from tests.console.two_people import overwritten

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("way", PRESSES)
def test_an_action_is_one_operation(console: Console, way: str) -> None:
    assert asked_once(console, "restart a pipeline", PRESSES[way]) == []


@pytest.mark.parametrize("way", PRESSES)
def test_a_form_makes_one_resource(console: Console, way: str) -> None:
    assert made_once(console, "rule", PRESSES[way]) == []


def test_who_saves_second_is_refused_and_overwrites_nothing(console: Console) -> None:
    assert overwritten(console) == []
