"""Check 15: the observed states without colors, in forced colors and as text; plots by keys and as tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import httpx
from playwright.sync_api import Locator, Page

from chalicelib.domain.observation import ObservedState
from tests.console.console import Console
from tests.console.figures import Figure, at_least, none_of
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.chromium import Visit
from tests.support.waiting import eventually

MIN_APART = 20.0
"""Percent of the drawn points of two shapes that are drawn in one of them only."""

LOOKS: Mapping[str, Mapping[str, Any]] = {
    "greyscale": {},
    "greyscale, dark": {"color_scheme": "dark"},
    "forced colors": {"forced_colors": "active"},
}
"""How the states are looked at: options of Playwright's context."""

_MINUTES = 50
_KEYS = ("End", "ArrowLeft", "ArrowLeft", "Home", "ArrowRight", "Shift+ArrowRight")
_MAX_TABS = 100

_DRAWN = """async (picture) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height});
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const {data} = context.getImageData(0, 0, image.width, image.height);
  const light = (at) => 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
  return Array.from({length: data.length / 4}, (_, point) => Math.abs(light(4 * point) - light(0)) > 48);
}"""
"""Which points of a picture are drawn: as light or dark as its corner are those that are not."""


def _connector(sandbox: Sandbox, pipeline: Json, state: str, task: int | None = None) -> None:
    sandbox.doubles.connect_double.show(pipeline["connector_name"], state, task=task)


def _fail(sandbox: Sandbox, pipeline: Json) -> None:
    sandbox.doubles.connect_double.fail_task(pipeline["connector_name"], "java.lang.Error: broken", failing_restarts=99)


def _stop(sandbox: Sandbox, pipeline: Json) -> None:
    url = f"{sandbox.doubles.connect}/connectors/{pipeline['connector_name']}/stop"
    httpx.put(url, trust_env=False).raise_for_status()


def _pause(sandbox: Sandbox, pipeline: Json) -> None:
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/pause", status=200)


def _nothing(_: Sandbox, __: Json) -> None:
    pass


MAKE: Mapping[ObservedState, Callable[[Sandbox, Json], None]] = {
    ObservedState.RUNNING: _nothing,
    ObservedState.PAUSED: _pause,
    ObservedState.STOPPED: _stop,
    ObservedState.UNASSIGNED: lambda sandbox, pipeline: _connector(sandbox, pipeline, "UNASSIGNED"),
    ObservedState.RESTARTING: lambda sandbox, pipeline: _connector(sandbox, pipeline, "RESTARTING"),
    ObservedState.DEGRADED: lambda sandbox, pipeline: _connector(sandbox, pipeline, "PAUSED", task=0),
    ObservedState.FAILED: _fail,
    ObservedState.UNKNOWN: lambda sandbox, pipeline: _connector(sandbox, pipeline, "A_STATE_OF_TOMORROW"),
    ObservedState.NOT_DEPLOYED: _nothing,  # a draft
}
"""What brings a running pipeline into each state."""


def states(console: Console) -> list[Figure]:
    """Pipelines in all observed states, as a list shows them; and every plot."""
    prefix = console.sandbox.name("state")
    _make(console.sandbox, prefix)
    figures = []
    for look, options in LOOKS.items():
        with console.signed_in(device_scale_factor=2, route=f"pipelines?q={prefix}", **options) as opened:
            if look.startswith("greyscale"):
                session = opened.page.context.new_cdp_session(opened.page)
                session.send("Emulation.setEmulatedVisionDeficiency", {"type": "achromatopsia"})
            shown = _shown(opened.page)
            figures += [_apart(look, opened, shown), *(_texts(shown) if look == "greyscale" else ())]
    return [*figures, *plots(console)]


def _make(sandbox: Sandbox, prefix: str) -> None:
    """One pipeline in each state; returns once the API says so."""
    for state, make in MAKE.items():
        new = sandbox.new_pipeline if state is ObservedState.NOT_DEPLOYED else sandbox.running_pipeline
        make(sandbox, new(name=f"{prefix} {state}"))

    def observed() -> set[tuple[str, str]]:
        rows = sandbox.admin.get_ok(f"/pipelines?view=row&q={prefix}")
        return {(row["name"], row["observed_state"]) for row in rows}

    eventually(observed, lambda seen: seen == {(f"{prefix} {state}", state) for state in MAKE}, seconds=90)


def _shown(page: Page) -> Mapping[ObservedState, Locator]:
    """The state of each pipeline, by the state that its name says."""
    rows = page.locator("tbody tr")
    return {state: rows.filter(has=page.get_by_role("link", name=f" {state}")).locator(".state") for state in MAKE}


def _apart(look: str, opened: Visit, shown: Mapping[ObservedState, Locator]) -> Figure:
    """The two shapes that are most alike."""
    pictures = [(state, element.locator("svg").screenshot()) for state, element in shown.items()]
    drawn = dict(_drawn(opened, pictures))
    apart = {pair: _difference(drawn[pair[0]], drawn[pair[1]]) for pair in combinations(drawn, 2)}
    nearest = min(apart, key=lambda pair: apart[pair])
    what = f"15 how far the shapes of the {len(drawn)} states are apart in {look} at least ({' and '.join(nearest)})"
    return at_least(what, apart[nearest], MIN_APART, "%")


def _drawn(
    opened: Visit, pictures: Sequence[tuple[ObservedState, bytes]]
) -> Iterator[tuple[ObservedState, list[bool]]]:
    """Which points are drawn; in a page without a policy, which may show a picture."""
    import base64

    page = opened.page.context.new_page()
    for state, picture in pictures:
        yield state, page.evaluate(_DRAWN, base64.b64encode(picture).decode())
    page.close()


def _difference(one: Sequence[bool], other: Sequence[bool]) -> float:
    """Percent; 0 where nothing is drawn."""
    points = [pair for pair in zip(one, other, strict=True) if any(pair)]
    return 100 * sum(first != second for first, second in points) / len(points) if points else 0


def _texts(shown: Mapping[ObservedState, Locator]) -> list[Figure]:
    """What a screen reader is told: of each state another word, and what it should be where it is not so."""
    spoken = {state: element.aria_snapshot() for state, element in shown.items()}
    words = {state: element.locator("strong").inner_text() for state, element in shown.items()}
    silent = [f"{state}: {words[state]!r} in {spoken[state]!r}" for state in shown if words[state] not in spoken[state]]
    same = [f"{one} and {other}" for one, other in combinations(words, 2) if words[one] == words[other]]
    desired = {state: "paused" if state is ObservedState.PAUSED else "running" for state in shown}
    expected = {
        **{state: f"should be {desired[state]}" for state in shown if state not in (desired[state].upper(),)},
        ObservedState.NOT_DEPLOYED: "draft",
    }
    lacks = [f"{state}: {spoken[state]!r}" for state, text in expected.items() if text not in spoken[state]]
    return [
        none_of(f"15 states that a screen reader does not tell, of {len(shown)}", silent),
        none_of("15 pairs of states with the same word", same),
        none_of(f"15 states that do not say what is desired, of {len(expected)}", lacks),
    ]


def plots(console: Console) -> list[Figure]:
    """Every plot: what the arrow keys read out is what its table says."""
    sandbox = console.sandbox
    delivery = sandbox.cached("console delivery", sandbox.new_delivery)
    sandbox.seed_histories([sandbox.pipeline["id"], delivery["id"]], _MINUTES)
    routes = (
        f"pipelines/{sandbox.pipeline['id']}?tab=plots&span=1h",
        f"deliveries/{delivery['id']}?tab=plots&span=1h",
        f"sources/{sandbox.source['id']}?tab=log&span=1h",
    )
    wrong: list[str] = []
    count = 0
    with console.signed_in() as opened:
        for route in routes:
            console.go(opened, route)
            opened.page.locator(".chart").first.wait_for()
            for chart in opened.page.locator(".chart").all():
                count += 1
                wrong += [f"{route}: {one}" for one in _unreadable(opened.page, chart)]
    return [at_least("15 plots", count, 5), none_of("15 plots that keys and tables do not read", wrong)]


def _unreadable(page: Page, chart: Locator) -> list[str]:
    if not _focus(page, chart.locator("figure")):
        return ["Tab does not come to it"]
    spoken = []
    for key in _KEYS:
        page.keyboard.press(key)
        spoken.append(chart.locator("[aria-live]").inner_text())
    chart.get_by_role("button", name="As a table").click()
    table = _table(chart)
    chart.get_by_role("button", name="As a table").click()
    last = len(table) - 1
    places = (0, 1, 2, last, last - 1, last - 11)  # the newest stands first
    expected = [table[place] for place in places]
    return [f"{said!r} instead of {meant!r}" for said, meant in zip(spoken, expected, strict=True) if said != meant]


def _focus(page: Page, figure: Locator) -> bool:
    page.locator("main").focus()
    for _ in range(_MAX_TABS):
        page.keyboard.press("Tab")
        if figure.evaluate("each => each === document.activeElement"):
            return True
    return False


def _table(chart: Locator) -> list[str]:
    """Its rows, as a sentence says them."""
    heads = chart.locator("thead th").all_inner_texts()
    cells: Any = chart.locator("tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((c) => c.innerText))"
    )
    return [
        f"{row[0]}: {', '.join(f'{head} {value}' for head, value in zip(heads[1:], row[1:], strict=True))}"
        for row in cells
    ]
