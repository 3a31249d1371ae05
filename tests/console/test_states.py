"""Plots can be read without seeing them; that each state has a shape of its own is a unit test of the console."""

import pytest

from tests.console.console import Console
from tests.console.states import plots

pytestmark = pytest.mark.thorough


def test_arrow_keys_read_out_of_each_plot_what_its_table_says(console: Console) -> None:
    assert [str(figure) for figure in plots(console) if not figure.holds] == []
