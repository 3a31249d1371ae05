"""Changes at the same moment, under DynamoDB's rule about conflicting writes, in virtual time."""

from collections import Counter

import pytest

from tests.bench.contention import MAX_SECONDS, MAX_TRANSACTIONS_PER_CHANGE, PAUSES, changes_at_once, pauses_at_once
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module"]
pytestmark = pytest.mark.thorough


def test_eighty_pauses_at_once_on_one_connect_cluster_all_succeed_in_a_short_time_and_ticks_go_on(
    app: InProcessApp,
) -> None:
    seen = pauses_at_once(app)
    assert seen.statuses == {200: PAUSES}
    assert seen.p99 <= MAX_SECONDS
    assert seen.failed_ticks == 0


def test_pauses_that_all_count_in_the_same_row_succeed_as_well(app: InProcessApp) -> None:
    seen = pauses_at_once(app, same_row=True)
    assert seen.statuses == {200: PAUSES}


def test_a_hundred_writers_need_about_one_transaction_for_each_change(app: InProcessApp) -> None:
    seen = changes_at_once(app)
    assert seen.statuses.keys() == {200}
    assert seen.transactions_per_change <= MAX_TRANSACTIONS_PER_CHANGE
    assert "headgate-audit" not in seen.store.contended


def test_the_rule_is_the_one_that_cancels_transactions_of_the_same_row(app: InProcessApp) -> None:
    """Without it the tests above would say nothing. Reports at the same moment meet at the same alerts, too."""
    seen = pauses_at_once(app, 10, same_row=True)
    assert seen.store.conflicts > 0
    assert Counter(seen.store.contended).keys() == {"headgate-observations", "headgate-alerts"}
