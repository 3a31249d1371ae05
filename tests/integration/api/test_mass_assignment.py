"""A field that only the server sets is refused in every body, and nothing changes."""

import pytest

from tests.support.apps.sandbox import Sandbox
from tests.support.hostile.mass_assignment import OWNED, try_all

pytestmark = pytest.mark.thorough


def test_no_body_takes_a_field_of_the_server(sandbox: Sandbox) -> None:
    for resource in (sandbox.pipeline, sandbox.destination, sandbox.source):
        assert resource["id"]

    def newest_of_a_person() -> str:
        # Schedules and Connect's reads of secrets leave records at any time.
        records = sandbox.admin.get_ok("/audit?limit=500")
        return next(record["id"] for record in records if record["actor"]["via"] == "session")

    before = newest_of_a_person()
    found = try_all(sandbox.admin, sandbox.admin.get_ok("//openapi.json"))
    assert found.accepted == []
    assert found.count > 40 * len(OWNED)
    assert newest_of_a_person() == before
