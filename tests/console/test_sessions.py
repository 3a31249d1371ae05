"""A session that ends while somebody works takes nothing of what they have typed."""

import pytest

from tests.console.console import Console
from tests.console.sessions import sessions

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("form", ["source", "invite"])
def test_all_fields_of_a_form_are_kept_when_the_session_ends_in_it(console: Console, form: str) -> None:
    figures = sessions(console, forms=[form], with_idle=False)
    assert [str(figure) for figure in figures if not figure.holds] == []
