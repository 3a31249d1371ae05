from datetime import UTC, datetime, timedelta

from chalicelib.domain.reconcile.reverts import Reverted, after_look, is_contested

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def after(*minutes: int) -> Reverted:
    """What is remembered of a connector that was found paused in these minutes."""
    known: Reverted = {}
    for minute in minutes:
        known = after_look(known, {"c"}, {"c"}, NOW + minute * MINUTE)
    return known


def test_a_connector_that_is_paused_three_times_within_fifteen_minutes_is_contested() -> None:
    assert [is_contested(after(*times)["c"]) for times in ((0,), (0, 5), (0, 5, 15), (0, 5, 16), (0, 8, 16, 20))] == [
        False,
        False,
        True,
        False,
        True,
    ]


def test_a_connector_that_has_been_left_alone_for_fifteen_minutes_is_forgotten() -> None:
    known = after(0, 1, 2)
    assert after_look(known, set(), {"c"}, NOW + 16 * MINUTE) == known
    assert after_look(known, set(), {"c"}, NOW + 17 * MINUTE) == {}


def test_a_connector_that_nobody_desires_any_more_is_forgotten() -> None:
    assert after_look(after(0), set(), set(), NOW) == {}
