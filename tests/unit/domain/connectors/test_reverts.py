from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.connectors.reverts import after_observation, is_contested

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def paused_at(*minutes: int) -> tuple[datetime, ...]:
    """What is remembered of a connector that was newly paused in these minutes."""
    times: tuple[datetime, ...] = ()
    for minute in minutes:
        times = after_observation(times, newly_wrong=True, now=NOW + minute * MINUTE)
    return times


@pytest.mark.parametrize(
    ("minutes", "contested"),
    [((0,), False), ((0, 5), False), ((0, 5, 15), True), ((0, 5, 16), False), ((0, 8, 16, 20), True)],
)
def test_a_connector_that_is_paused_three_times_within_fifteen_minutes_is_contested(
    minutes: tuple[int, ...], contested: bool
) -> None:
    assert is_contested(paused_at(*minutes)) is contested


def test_a_connector_that_has_been_left_alone_for_fifteen_minutes_is_forgotten() -> None:
    times = paused_at(0, 1, 2)
    assert after_observation(times, newly_wrong=False, now=NOW + 16 * MINUTE) == times
    assert after_observation(times, newly_wrong=False, now=NOW + 17 * MINUTE) == ()
