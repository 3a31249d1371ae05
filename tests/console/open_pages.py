"""Pages of the console that are open for virtual hours, and what each of them says of pipelines and deliveries."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from chalice.app import Chalice
from playwright.sync_api import Browser, BrowserContext, Page

from infra.local.app.server import ApiServer
from tests.support.chromium import visit

_SCRIPT = Path(__file__).with_name("open_pages.js")
_EARLIER = timedelta(minutes=5)
"""A clock is installed that runs, and goes only forward to where it stops."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a page says of the state of something: the word, the age (empty where it says none), whether it warns. `of`
    is the path of what it is about.
    """

    of: str
    word: str
    age: str
    is_warned: bool


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What a page says at a moment. Those of Now are `counts` (`pipelines`, `2 Running`) and how many `cards` there are
    of what needs a person. `is_warned`: a banner says that what the page knows is old.
    """

    states: Sequence[Said]
    counts: Sequence[tuple[str, str]]
    cards: int
    is_warned: bool

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "Frame":
        states = [
            Said(of=one["path"], word=one["word"], age=one["age"], is_warned=one["isWarned"]) for one in found["states"]
        ]
        counts = [(kind, words) for kind, words in found["counts"]]
        return cls(states=states, counts=counts, cards=found["cards"], is_warned=found["isWarned"])


@dataclass(kw_only=True)
class Gate:
    """An app that answers one request at a time, and none while it is closed: the pages may be ahead of it then."""

    app: Chalice
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def routes(self) -> Any:
        return self.app.routes

    def __call__(self, event: Any, context: Any) -> Any:
        with self.lock:
            return self.app(event, context)


@contextmanager
def serving(app: Chalice, clock: Callable[[], datetime]) -> Iterator[tuple[str, Gate]]:
    """Its address, at the time of this clock."""
    gate = Gate(app=app)
    server = ApiServer(gate, 0, clock=lambda: clock().timestamp())  # type: ignore[arg-type] - as far as it is used
    server.start()
    try:
        yield server.url, gate
    finally:
        server.stop()


@dataclass(frozen=True, kw_only=True)
class OpenPages:
    """`pages` by the route that each of them shows. Their clocks move by `wait` and `sleep` alone.

    `set_clock` gets the seconds since the beginning of a wait at which a page asks for something.
    """

    context: BrowserContext
    pages: Mapping[str, Page]
    gate: Gate

    def wait(self, seconds: int, set_clock: Callable[[int], None]) -> Iterator[tuple[str, int, Frame]]:
        """Let the time of the pages pass, one after the other: a frame of each page and second."""
        for route, page in self.pages.items():
            passed = 0
            while passed < seconds:
                with self.gate.lock:
                    done = page.evaluate("seconds => window.__pass(seconds)", seconds - passed)
                    found = done["frames"]
                    set_clock(passed + len(found))
                if done["isAsking"]:
                    found[-1] = page.evaluate("window.__settle()")
                yield from ((route, second, Frame.of(one)) for second, one in enumerate(found, passed + 1))
                passed += len(found)

    def sleep(self, seconds: int) -> None:
        """Let it pass as for a computer that sleeps: what was due meanwhile happens once."""
        self.context.clock.fast_forward(seconds * 1_000)
        self.settle()

    def settle(self) -> None:
        for page in self.pages.values():
            page.evaluate("window.__settle()")


@contextmanager
def open_pages(browser: Browser, url: str, gate: Gate, routes: Sequence[str], now: datetime) -> Iterator[OpenPages]:
    """The console at these routes, a page each, on a computer whose clock shows this time."""
    with visit(browser, url) as first:
        context = first.page.context
        context.add_init_script(path=_SCRIPT)
        context.clock.install(time=now - _EARLIER)
        context.clock.pause_at(now)
        pages = {route: first.page if not number else context.new_page() for number, route in enumerate(routes)}
        opened = OpenPages(context=context, pages=pages, gate=gate)
        for route, page in pages.items():
            page.goto(f"{url}/console#/{route}")
            for _ in range(3):  # the session, the screen, what the screen is about
                page.evaluate("window.__settle()")
        yield opened
        assert first.all_faults() == []
