"""Check 18: a page that is open for a working day, and many changes of the screen, leave nothing behind."""

from playwright.sync_api import CDPSession

from tests.console.console import Console, settle
from tests.console.figures import Figure, at_most, none_of
from tests.console.screens import SCREENS

HOURS = 8
CHANGES = 500
_STEP_SECONDS = 10
MAX_GROWTH_MIB, MAX_DETACHED = 5.0, 100.0


def long_day(console: Console, *, hours: float = HOURS, changes: int = CHANGES) -> list[Figure]:
    """Growth of the heap and nodes that are detached, after hours of polling and after many changes of the screen."""
    routes = [
        SCREENS[name](console.sandbox) for name in ("now", "pipelines", "pipeline", "deliveries", "source", "alerts")
    ]
    with console.signed_in() as opened:
        page = opened.page
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        for route in routes:
            console.go(opened, route)
        page.clock.install()
        page.reload()
        settle(opened)
        before = _measured(session)
        for _ in range(int(hours * 3_600 / _STEP_SECONDS)):
            page.clock.run_for(_STEP_SECONDS * 1_000)
        polled = _measured(session)
        for change in range(changes):
            page.goto(f"{console.url}/console#/{routes[change % len(routes)]}")
            page.clock.run_for(100)  # the page draws by its own clock
        page.clock.run_for(60_000)
        console.go(opened, "")
        changed = _measured(session)
        return [
            at_most(
                f"18 growth of the heap in {hours:g} hours of polling", polled[0] - before[0], MAX_GROWTH_MIB, "MiB"
            ),
            at_most(f"18 growth of the heap after {changes} screens", changed[0] - before[0], MAX_GROWTH_MIB, "MiB"),
            at_most("18 nodes that nobody shows any more", max(0.0, changed[1] - before[1]), MAX_DETACHED),
            none_of("18 complaints of the browser", opened.all_faults()),
        ]


def _measured(session: CDPSession) -> tuple[float, float]:
    """The heap in MiB and the number of nodes, after what is not used was collected."""
    session.send("HeapProfiler.collectGarbage")
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    return metrics["JSHeapUsedSize"] / 1024**2, metrics["Nodes"]
