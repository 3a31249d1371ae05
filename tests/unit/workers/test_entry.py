"""Which messages are acted on, and which of them are received again."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from chalice.app import SQSEvent

from chalicelib.kit.clock import rfc3339
from chalicelib.workers.entry import each, is_late

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("seconds", "late"), [(-10, False), (0, False), (30, False), (31, True), (3600, True)])
def test_a_tick_that_was_due_more_than_half_a_minute_ago_is_dropped(seconds: int, late: bool) -> None:
    assert is_late(rfc3339(NOW - timedelta(seconds=seconds)), 1, NOW) is late


def test_a_tick_that_has_failed_before_is_not_dropped_so_that_it_reaches_a_person_in_the_end() -> None:
    assert not is_late(rfc3339(NOW - timedelta(hours=1)), 2, NOW)


def test_a_message_of_an_older_release_says_no_time_and_counts() -> None:
    assert not is_late(None, 1, NOW)


def test_each_message_is_handed_over_with_the_number_of_times_it_was_received() -> None:
    records = [
        {"messageId": "a", "body": '{"number": "1"}', "attributes": {"ApproximateReceiveCount": "3"}},
        {"messageId": "b", "body": "no json"},
        {"messageId": "c", "body": '{"number": "2"}'},
    ]
    acted: list[tuple[Any, int]] = []
    event = SQSEvent({"Records": records}, None)
    failed = each(event, lambda body, received: acted.append((body["number"], received)))
    assert acted == [("1", 3), ("2", 1)]
    assert failed == {"batchItemFailures": [{"itemIdentifier": "b"}]}
