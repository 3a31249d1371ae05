"""Check 7: while something breaks, an open page never says that all is well for longer than it takes to look."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.console.console import Console, settle
from tests.console.figures import Figure, at_most
from tests.support.chromium import Visit
from tests.support.waiting import eventually

PAGE_MAY_BE_BEHIND = 11.0
"""Seconds: the page asks every ten."""

MAX_AGE = 30.0
"""Seconds after which what was observed says nothing about now."""

_SAMPLE = """
window.__frames = [];
window.__sampler = setInterval(() => {
  const states = [...document.querySelectorAll("tbody tr .state strong")].map((each) => each.textContent);
  window.__frames.push([Date.now() / 1000, states.includes("Running")]);
}, 200);
"""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What breaks a running pipeline, and what mends it."""

    begin: Callable[[Console, str], None]
    end: Callable[[Console, str], None]


def _show_running(console: Console, connector: str) -> None:
    console.sandbox.doubles.connect_double.show(connector, "RUNNING")
    console.sandbox.doubles.connect_double.show(connector, "RUNNING", task=0)


FAULTS: Mapping[str, Fault] = {
    "a task fails": Fault(
        begin=lambda console, name: console.sandbox.doubles.connect_double.fail_task(name, "java.lang.Error: broken"),
        end=_show_running,
    ),
    "somebody pauses the connector in Kafka Connect": Fault(
        begin=lambda console, name: console.sandbox.doubles.connect_double.show(name, "PAUSED"), end=_show_running
    ),
    "Kafka Connect is away": Fault(
        begin=lambda console, _: console.sandbox.doubles.connect_double.refuse(),
        end=lambda console, _: console.sandbox.doubles.connect_double.accept(),
    ),
}


def truth(console: Console, *, faults: Mapping[str, Fault] = FAULTS) -> list[Figure]:
    """For each fault: for how long the list read healthy after the API did not."""
    pipeline = console.sandbox.running_pipeline()
    figures = [_behind(console, pipeline, name, fault) for name, fault in faults.items()]
    return [*figures, _without_answers(console, pipeline)]


def _behind(console: Console, pipeline: Mapping[str, Any], name: str, fault: Fault) -> Figure:
    sandbox, path, connector = console.sandbox, f"/pipelines/{pipeline['id']}", pipeline["connector_name"]
    with console.signed_in(route=f"pipelines?q={pipeline['name']}") as opened:
        _until_healthy(console, opened, path)
        opened.page.evaluate(_SAMPLE)
        fault.begin(console, connector)
        try:
            eventually(
                lambda: sandbox.admin.get_ok(path)["observed_state"], lambda state: state != "RUNNING", seconds=60
            )
            changed = time.time()
            opened.page.wait_for_timeout((PAGE_MAY_BE_BEHIND + 4) * 1000)
            frames = opened.page.evaluate("window.__frames")
        finally:
            fault.end(console, connector)
        late = [at - changed for at, healthy in frames if healthy and at > changed]
        return at_most(f"7 seconds for which the page was behind: {name}", max(late, default=0), PAGE_MAY_BE_BEHIND)


def _without_answers(console: Console, pipeline: Mapping[str, Any]) -> Figure:
    """The API does not answer any more: what is on the page grows old."""
    with console.signed_in(route=f"pipelines?q={pipeline['name']}") as opened:
        _until_healthy(console, opened, f"/pipelines/{pipeline['id']}")
        opened.page.evaluate(_SAMPLE)
        began = time.time()
        opened.page.route("**/api/**", lambda route: route.abort())
        opened.page.wait_for_timeout((MAX_AGE + 8) * 1000)
        frames = opened.page.evaluate("window.__frames")
        late = [at - began for at, healthy in frames if healthy]
        return at_most("7 seconds for which a page without answers read healthy", max(late, default=0), MAX_AGE + 2)


def _until_healthy(console: Console, opened: Visit, path: str) -> None:
    eventually(
        lambda: console.sandbox.admin.get_ok(path)["observed_state"], lambda state: state == "RUNNING", seconds=90
    )
    settle(opened)
    opened.page.locator("tbody tr .state").get_by_text("Running", exact=True).first.wait_for()
