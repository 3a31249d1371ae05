"""Pages stay true while something breaks. All timelines: python -m tests.console timelines."""

import pytest

from tests.console.console import Console
from tests.console.open_pages import Frame, Said
from tests.console.page_truth import PageTruth, Told
from tests.console.timelines import timelines
from tests.timelines.script import Timeline
from tests.timelines.table import TIMELINES

NO_TICKS = Timeline(name="no ticks for a minute", lasts=100, without_ticks=((21, 81),))
PATH = "pipelines/3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11"
RUNNING = Frame(
    states=[Said(of=PATH, word="Running", age="1 s ago", is_warned=False)], counts=[], cards=0, is_warned=False
)
CALM = Frame(states=[], counts=[("pipelines", "1 Running")], cards=0, is_warned=False)


@pytest.mark.thorough
def test_pages_say_what_the_api_says_while_something_breaks(console: Console) -> None:
    names = ("the target table is gone", "the connector itself has failed")
    chosen = [NO_TICKS, *(timeline for timeline in TIMELINES if timeline.name in names)]
    figures = timelines(console, chosen=chosen)
    assert len(chosen) == 3
    assert [str(figure) for figure in figures if not figure.holds] == []


def told(state: str, *, observed_at: str = "12:00:00", has_reason: bool = False) -> dict[str, Told]:
    return {PATH: Told(state=state, desired="RUNNING", observed_at=observed_at, has_reason=has_reason)}


@pytest.fixture
def truth() -> PageTruth:
    """Of a pipeline that runs, in a list and in Now."""
    truth = PageTruth()
    truth.begin("a timeline", ("", "pipelines"))
    truth.hear(0, told("RUNNING"), {"pipelines": {"RUNNING": 1}})
    return truth


@pytest.mark.parametrize(("second", "wrong"), [(21, 0), (22, 1)])
@pytest.mark.parametrize(("route", "frame"), [("", CALM), ("pipelines", RUNNING)])
def test_a_page_that_says_running_for_longer_than_it_may_be_behind_is_wrong(
    truth: PageTruth, route: str, frame: Frame, second: int, wrong: int
) -> None:
    truth.hear(10, told("FAILED", observed_at="12:00:10", has_reason=True), {"pipelines": {"FAILED": 1}})
    truth.look(route, second, frame)
    assert len(truth.wrong) == wrong


def test_a_page_that_hides_a_reason_is_wrong(truth: PageTruth) -> None:
    truth.hear(10, told("RUNNING", observed_at="12:00:10", has_reason=True), {"pipelines": {"RUNNING": 1}})
    truth.look("pipelines", 22, RUNNING)
    assert len(truth.wrong) == 1


@pytest.mark.parametrize(("second", "wrong"), [(31, 0), (32, 1)])
@pytest.mark.parametrize(("route", "frame"), [("", CALM), ("pipelines", RUNNING)])
def test_a_page_that_says_running_of_what_nobody_has_observed_for_long_is_wrong(
    truth: PageTruth, route: str, frame: Frame, second: int, wrong: int
) -> None:
    truth.look(route, second, frame)
    assert len(truth.wrong) == wrong


def test_a_change_takes_until_a_page_says_what_the_api_says(truth: PageTruth) -> None:
    truth.hear(10, told("PAUSED", observed_at="12:00:10"), {"pipelines": {"PAUSED": 1}})
    truth.look("pipelines", 15, RUNNING)
    paused = Said(of=PATH, word="Paused", age="8 s ago", is_warned=False)
    truth.look("pipelines", 18, Frame(states=[paused], counts=[], cards=0, is_warned=False))
    assert truth.delays == [8]
