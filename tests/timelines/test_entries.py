"""The timeline of a pipeline that breaks and is repaired: cause and effect, in their order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.in_process_app import app_on
from tests.support.apps.tables import in_memory
from tests.timelines import traces
from tests.timelines.actions import ask, fail_task
from tests.timelines.api import api_of
from tests.timelines.run import run
from tests.timelines.script import CAPTURE, Timeline, at
from tests.timelines.world import World, begin, prepare

FAILS, REPAIRED = 21, 81
BROKEN = Timeline(
    name="the capture's task fails and somebody restarts it",
    lasts=180,
    steps=at(FAILS, fail_task(CAPTURE, traces.PASSWORD)) + at(REPAIRED, ask(CAPTURE, "restart")),
)
Entry = Mapping[str, Any]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """The world after that timeline."""
    interceptor = CallInterceptor()
    with in_memory(interceptor) as tables, app_on(tables, interceptor) as app, api_of(app) as api:
        world = begin(*prepare(app, api, BROKEN.provider))
        run(BROKEN, world)
        yield world


@pytest.fixture(scope="module")
def entries(world: World) -> Sequence[Entry]:
    """What the API shows of the pipeline, the newest entry first."""
    shown: Sequence[Entry] = world.api.get(f"/pipelines/{world.pipeline.id}/timeline")
    return shown


def test_each_effect_is_above_its_cause(entries: Sequence[Entry]) -> None:
    titles = [entry["title"] for entry in reversed(entries)]
    failure = titles.index("Observed FAILED, was RUNNING")
    assert titles[failure:] == [
        "Observed FAILED, was RUNNING",
        "Incident opened: Source refuses the login",
        "Alert fired: Source refuses the login",
        "Restart was asked for",
        "Observed RUNNING, was FAILED",
        "Incident resolved: Source refuses the login",
        "Alert resolved: Source refuses the login",
    ]
    assert [entry["at"] for entry in entries] == sorted((entry["at"] for entry in entries), reverse=True)


def test_nothing_of_what_the_servers_say_is_in_it(world: World, entries: Sequence[Entry]) -> None:
    assert entries
    assert not any(secret in text for secret in traces.SECRETS for text in world.api.bodies)


def test_its_delivery_has_nothing_of_it(world: World) -> None:
    shown = world.api.get(f"/deliveries/{world.delivery.id}/timeline")
    assert {entry["kind"] for entry in shown} <= {"operation", "observed"}
