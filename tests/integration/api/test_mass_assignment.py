"""A field that only the server sets is refused in every body, and nothing changes."""

import pytest

from tests.support.apps.sandbox import Sandbox
from tests.support.hostile.mass_assignment import OWNED, try_all

pytestmark = pytest.mark.thorough


def test_no_body_takes_a_field_of_the_server(sandbox: Sandbox) -> None:
    for resource in (sandbox.pipeline, sandbox.destination, sandbox.source):
        assert resource["id"]
    before = sandbox.admin.get_ok("/audit?limit=1")
    found = try_all(sandbox.admin, sandbox.admin.get_ok("//openapi.json"))
    assert found.accepted == []
    assert found.count > 40 * len(OWNED)
    assert sandbox.admin.get_ok("/audit?limit=1") == before
