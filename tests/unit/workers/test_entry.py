"""Which messages of ticks are still worth a tick."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.kit.clock import rfc3339
from chalicelib.workers.entry import is_late

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("seconds", "late"), [(-10, False), (0, False), (30, False), (31, True), (3600, True)])
def test_a_tick_that_was_due_more_than_half_a_minute_ago_is_dropped(seconds: int, late: bool) -> None:
    assert is_late(rfc3339(NOW - timedelta(seconds=seconds)), NOW) is late


def test_a_message_of_an_older_release_says_no_time_and_counts() -> None:
    assert not is_late(None, NOW)
