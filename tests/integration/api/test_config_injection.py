"""No text of a user's brings a line, a reference or a secret of its own into a connector's config."""

import pytest

from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Sandbox, running_sandbox
from tests.support.hostile.injection import Injector


@pytest.mark.thorough
def test_no_text_reaches_a_config_as_more_than_a_value() -> None:
    with running_sandbox() as own:
        own.seal()
        found = Injector(sandbox=own, each_in_turn=True).run()
    assert (found.accepted, found.unexpected, found.secrets) == ([], [], [])
    # A run that reaches no config would prove nothing.
    assert found.attempts > 600
    assert found.configs > 15


@pytest.mark.parametrize("field", ["database_name", "username"])
@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\n"])
def test_a_separator_of_lines_in_an_address_is_refused(sandbox: Sandbox, field: str, separator: str) -> None:
    body = sandbox.source_body(config=sandbox.config(**{field: f"shop{separator}transforms=other"}))
    assert_error(sandbox.admin.post("/sources", body), 422, "VALIDATION_FAILED")
