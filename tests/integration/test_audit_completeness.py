"""Every route that changes something, and every refused request, as goal S8 measures them."""

import pytest

from tests.faults.harness.whole_app import entries_on
from tests.security.audit_integrity import CHANGES_NOTHING, routes, wrong_records, wrong_refusals
from tests.support.apps.every_change import EveryChange
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module"]
pytestmark = pytest.mark.thorough


def test_every_change_and_every_refusal_leaves_its_records(app: InProcessApp) -> None:
    with entries_on(app):
        done = list(EveryChange(app=app).run())
        assert {change.route for change in done} | CHANGES_NOTHING.keys() == routes()
        assert {change.route: found for change in done if (found := list(wrong_records(change)))} == {}
        assert list(wrong_refusals(app)) == []
    deadline = app.context(seconds=60).deadline
    assert app.services.auditing.signer.sign(deadline) == 1
    found = app.services.auditing.verifier.verify(after=None, limit=10_000, deadline=deadline)
    assert (found.first_problem, found.checked) == (None, len(app.tables.rows("audit")))
