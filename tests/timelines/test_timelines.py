"""The truth table: nothing that is broken ever reads healthy, and nothing healthy opens an incident."""

from collections.abc import Callable, Iterator

import pytest

from tests.timelines import traces
from tests.timelines.actions import fail_task
from tests.timelines.script import CAPTURE, Broken, Timeline, at
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


def test_a_fault_that_is_not_shown_is_untrue(verdict_of: Callable[[Timeline], Verdict]) -> None:
    invented = Broken(CAPTURE, 21, codes={"STALLED"})
    violations = verdict_of(Timeline(name="nothing happens", lasts=60, broken=(invented,))).violations
    assert any(
        "the capture is broken, and its list shows ShownState(state='RUNNING'" in violation for violation in violations
    )
    assert any("no incident of {'STALLED'} is open about the capture" in violation for violation in violations)


def test_a_fault_that_should_not_be_is_untrue(verdict_of: Callable[[Timeline], Verdict]) -> None:
    steps = at(21, fail_task(CAPTURE, traces.PASSWORD))
    violations = verdict_of(Timeline(name="called healthy", lasts=60, steps=steps)).violations
    assert any(
        "the capture is well, and its list shows ShownState(state='FAILED'" in violation for violation in violations
    )
    assert any("an incident is open that should not be" in violation for violation in violations)
