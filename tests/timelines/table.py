"""All timelines, and the world that they run in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chalicelib.domain.database import DatabaseProvider
from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.in_process_app import app_on
from tests.support.apps.tables import in_memory
from tests.timelines import (
    cluster_scenarios,
    connector_scenarios,
    headgate_scenarios,
    healthy_scenarios,
    mysql_scenarios,
    progress_scenarios,
    source_scenarios,
    target_scenarios,
    torn_snapshot_scenarios,
)
from tests.timelines.api import api_of
from tests.timelines.run import run
from tests.timelines.script import Timeline
from tests.timelines.verdict import Verdict, judge
from tests.timelines.world import Beginning, World, begin, prepare

GROUPS = (
    connector_scenarios,
    cluster_scenarios,
    progress_scenarios,
    source_scenarios,
    mysql_scenarios,
    target_scenarios,
    torn_snapshot_scenarios,
    headgate_scenarios,
    healthy_scenarios,
)
TIMELINES: tuple[Timeline, ...] = tuple(timeline for group in GROUPS for timeline in group.TIMELINES)


@contextmanager
def judging() -> Iterator[Callable[[Timeline], Verdict]]:
    """A function that runs a timeline, always from the same beginning, and judges it."""
    interceptor = CallInterceptor()
    with in_memory(interceptor) as tables, app_on(tables, interceptor) as app, api_of(app) as api:
        new, captures = app.snapshot(), app.database.captures
        worlds: dict[DatabaseProvider, tuple[World, Beginning]] = {}

        def judged(timeline: Timeline) -> Verdict:
            if timeline.provider not in worlds:
                app.restore(new)
                app.database.captures = captures
                worlds[timeline.provider] = prepare(app, api, timeline.provider)
            return judge(run(timeline, begin(*worlds[timeline.provider])))

        yield judged
