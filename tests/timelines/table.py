"""All timelines, and the world that they run in."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.database import DatabaseProvider
from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.in_process_app import AppSnapshot, InProcessApp, app_on
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
from tests.timelines.api import MODULES, Api, api_of
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


@dataclass(kw_only=True)
class Worlds:
    """Makes the world of one timeline after the other, all of them in the same app."""

    app: InProcessApp
    api: Api
    new: AppSnapshot
    captures: Any
    made: dict[DatabaseProvider, tuple[World, Beginning]] = field(default_factory=dict)

    def begin(self, timeline: Timeline) -> World:
        """The world at the beginning of a timeline, always the same."""
        if timeline.provider not in self.made:
            self.app.restore(self.new)
            self.app.database.captures = self.captures
            self.made[timeline.provider] = prepare(self.app, self.api, timeline.provider)
        return begin(*self.made[timeline.provider])


@contextmanager
def worlds(modules: Sequence[str] = MODULES, *, with_console: bool = False) -> Iterator[Worlds]:
    """A new app with these route modules."""
    interceptor = CallInterceptor()
    with (
        in_memory(interceptor) as tables,
        app_on(tables, interceptor) as app,
        api_of(app, modules, with_console=with_console) as api,
    ):
        yield Worlds(app=app, api=api, new=app.snapshot(), captures=app.database.captures)


@contextmanager
def judging() -> Iterator[Callable[[Timeline], Verdict]]:
    """A function that runs a timeline, always from the same beginning, and judges it."""
    with worlds() as made:
        yield lambda timeline: judge(run(timeline, made.begin(timeline)))
