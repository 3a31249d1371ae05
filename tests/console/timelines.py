"""Check 7: while the timelines of broken pipelines run with the console open, no page says that all is well when the
API does not, or hides that it knows nothing new.

The pages are served by the very app of the timelines, at its time. A frame is what a page says at a second.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from tests.console.console import Console
from tests.console.figures import Figure, at_least, at_most, none_of
from tests.console.open_pages import OpenPages, open_pages, serving
from tests.console.page_truth import PAGE_MAY_BE_BEHIND, Counts, PageTruth, Told
from tests.timelines.run import happen
from tests.timelines.script import CAPTURE, DELIVERY, Timeline
from tests.timelines.table import TIMELINES, Worlds, worlds
from tests.timelines.world import World

LOOK_EVERY = 10
"""Seconds after which the API is asked again though nothing happens: what it says may grow old."""

SLEEPS_AFTER = 1_000
"""Seconds without any event for which the computer with the pages sleeps."""

SECONDS_WITHOUT_ANSWERS = 60

_MODULES = (
    *("access", "pipelines", "deliveries", "sources", "destinations", "clusters"),
    *("histories", "operations", "alerts"),
)


def timelines(console: Console, *, chosen: Sequence[Timeline] = TIMELINES) -> list[Figure]:
    """How many frames were wrong, and how long a change of what the API says takes to be on a page."""
    truth = PageTruth()
    with worlds(_MODULES, with_console=True) as made:
        for timeline in chosen:
            _watch(console, made, timeline, truth)
        _watch_without_answers(console, made, chosen[0], truth)
    delays = sorted(truth.delays) or [0]
    return [
        at_least("7 timelines with the pages open", len(chosen), min(40, len(chosen))),
        at_least("7 frames of them", truth.frames, len(chosen)),
        none_of("7 frames that read healthy while the API does not, or hide an age", truth.wrong),
        at_most(
            f"7 seconds from {len(delays)} changes of the API to a page, p95",
            delays[int(0.95 * len(delays))],
            PAGE_MAY_BE_BEHIND,
        ),
    ]


def _watch(console: Console, made: Worlds, timeline: Timeline, truth: PageTruth) -> None:
    """Run a timeline with pages open."""
    world = made.begin(timeline)
    routes = _routes(timeline, world)
    truth.begin(timeline.name, routes)
    truth.hear(0, _told(world, routes[-1]), _counts(world))
    with (
        serving(made.api.chalice, made.app.clock) as (url, gate),
        open_pages(console.browser, url, gate, routes, made.app.clock()) as pages,
    ):
        for second, events in groupby(timeline.events(), key=itemgetter(0)):
            _pass(world, pages, truth, int(second))
            world.advance_to(second)
            for _, kind, action in events:
                happen(world, kind, action)
            truth.hear(int(second), _told(world, routes[-1]), _counts(world))
        _pass(world, pages, truth, timeline.lasts + LOOK_EVERY)
    world.ends.close()


def _watch_without_answers(console: Console, made: Worlds, timeline: Timeline, truth: PageTruth) -> None:
    """Keep pages open at the beginning of a timeline while no request of theirs is answered."""
    world = made.begin(timeline)
    routes = _routes(timeline, world)
    truth.begin("the API does not answer", routes)
    truth.hear(0, _told(world, routes[-1]), _counts(world))
    with (
        serving(made.api.chalice, made.app.clock) as (url, gate),
        open_pages(console.browser, url, gate, routes, made.app.clock()) as pages,
    ):
        pages.context.route("**/api/**", lambda route: route.abort())
        for route, second, frame in pages.wait(SECONDS_WITHOUT_ANSWERS, world.wait_until):
            truth.look(route, second, frame)


def _pass(world: World, pages: OpenPages, truth: PageTruth, until: int) -> None:
    """Let time pass in the pages until the next event."""
    owner = truth.routes[-1]
    if until - world.clock_second > SLEEPS_AFTER:
        asleep = int(until - world.clock_second) - LOOK_EVERY
        world.wait_until(world.clock_second + asleep)
        pages.sleep(asleep)
        truth.hear(int(world.clock_second), _told(world, owner), _counts(world))
    while (start := int(world.clock_second)) < until:
        seconds = min(LOOK_EVERY, until - start)
        for route, passed, frame in pages.wait(seconds, lambda passed, start=start: world.wait_until(start + passed)):
            if route == owner in truth.told and start + passed == world.clock_second:
                # Its status is seen when somebody asks: it may have changed although nothing happened.
                truth.hear(start + passed, truth.told | _status(world, owner), truth.counts)
            truth.look(route, start + passed, frame)
        world.wait_until(start + seconds)
        if world.clock_second < until:
            truth.hear(start + seconds, _told(world, owner), _counts(world))


def _told(world: World, owner: str) -> dict[str, Told]:
    """What the API says now, by path: of all in the lists, and in the status of this one."""
    rows = {
        f"{kind}/{row['id']}": Told.of(row)
        for kind in ("pipelines", "deliveries")
        for row in world.api.get(f"/{kind}?view=row")
    }
    return rows | _status(world, owner) if owner in rows else rows


def _status(world: World, owner: str) -> dict[str, Told]:
    return {f"{owner}/status": Told.of(world.api.get(f"/{owner}/status"))}


def _counts(world: World) -> Counts:
    """What the API counts now."""
    overview = world.api.get("/monitoring/overview")
    return {
        kind: {state: count for state, count in overview[kind].items() if count} for kind in ("pipelines", "deliveries")
    }


def _routes(timeline: Timeline, world: World) -> tuple[str, ...]:
    """Now, the list and the screen of what breaks first."""
    of = timeline.broken[0].of if timeline.broken else CAPTURE
    kind, owner = ("deliveries", world.delivery.id) if of == DELIVERY else ("pipelines", world.pipeline.id)
    return "", kind, f"{kind}/{owner}"
