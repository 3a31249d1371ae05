"""The truth table: nothing that is broken ever reads healthy, and nothing healthy opens an incident."""

from collections.abc import Callable, Iterator

import pytest

from tests.timelines.script import Timeline
from tests.timelines.table import TIMELINES, judging
from tests.timelines.verdict import Verdict


@pytest.fixture(scope="module")
def verdict_of() -> Iterator[Callable[[Timeline], Verdict]]:
    """Runs and judges a timeline."""
    with judging() as judged:
        yield judged


@pytest.mark.parametrize("timeline", TIMELINES, ids=lambda timeline: timeline.name)
def test_a_timeline_shows_the_truth(timeline: Timeline, verdict_of: Callable[[Timeline], Verdict]) -> None:
    assert verdict_of(timeline).violations == ()


def test_there_are_enough_timelines_and_each_has_its_own_name() -> None:
    assert len({timeline.name for timeline in TIMELINES}) == len(TIMELINES) >= 40
    assert sum(timeline.is_broken for timeline in TIMELINES) >= 30
