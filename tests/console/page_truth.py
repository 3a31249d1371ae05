"""Compares what pages say with what the API says at the same moment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from json import loads
from typing import Any, Self

from infra.local.stack.layout import ROOT
from tests.console.open_pages import Frame, Said

PAGE_MAY_BE_BEHIND = 11
"""Seconds: a page asks every ten, a little more or less."""

MAX_AGE = 30
"""Seconds after which what was observed says nothing about now. A page moves its ages once a second."""

Counts = Mapping[str, Mapping[str, int]]
"""How many there are in each state, by `pipelines` and `deliveries`."""

NOW = ""
UNKNOWN, WITHOUT_AGE = "UNKNOWN", ("UNKNOWN", "NOT_DEPLOYED")


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the API says of a pipeline or a delivery, in a row or in a status."""

    state: str
    desired: str
    observed_at: str | None
    has_reason: bool

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        return cls(
            state=body["observed_state"],
            desired=body["desired_state"],
            observed_at=body["observed_at"],
            has_reason=bool(body["reasons"] if "reasons" in body else body["reason"]),
        )

    @property
    def is_well(self) -> bool:
        return self.state == self.desired and not self.has_reason


@dataclass(kw_only=True)
class PageTruth:
    """`delays` are the seconds from each change of what the API says until it was on a page; `wrong` are sentences.

    All times are seconds of the timeline: by path, since when something is ill and when it was observed; by route and
    path, since when a page is behind.
    """

    frames: int = 0
    wrong: list[str] = field(default_factory=list)
    delays: list[int] = field(default_factory=list)
    timeline: str = ""
    routes: Sequence[str] = ()
    told: dict[str, Told] = field(default_factory=dict)
    counts: Counts = field(default_factory=dict)
    ill_since: dict[str, int] = field(default_factory=dict)
    observed: dict[str, int] = field(default_factory=dict)
    behind: dict[tuple[str, str], int] = field(default_factory=dict)

    def begin(self, timeline: str, routes: Sequence[str]) -> None:
        self.timeline, self.routes, self.told, self.counts = timeline, routes, {}, {}
        for of_last in (self.ill_since, self.observed, self.behind):
            of_last.clear()

    def hear(self, second: int, told: Mapping[str, Told], counts: Counts) -> None:
        """What the API says from this second on."""
        rows = _rows(told)
        for path, now in told.items():
            before = self.told.get(path)
            if before is None or now.observed_at != before.observed_at:
                self.observed[path] = second
            if now.is_well:
                self.ill_since.pop(path, None)
            else:
                self.ill_since.setdefault(path, second)
            if before is not None and now.state != before.state and path in rows:
                for route in self.routes:
                    self.behind.setdefault((route, path), second)
        if self.counts and counts != self.counts:
            self.behind.setdefault((NOW, NOW), second)
        self.told, self.counts = dict(told), counts

    def look(self, route: str, second: int, frame: Frame) -> None:
        """Judge what a page says."""
        self.frames += 1
        for path in self._up_to_date(route, second, frame):
            if (since := self.behind.pop((route, path), None)) is not None:
                self.delays.append(second - since)
        said = [one for one in frame.states if one.of in self.told]
        faults = [fault for one in said if (fault := self._fault(one, second))]
        if route == NOW and self._now_is_calm(frame):
            faults += [fault for path in _rows(self.told) if (fault := self._untrue_calm(path, second))]
        if faults:
            self.wrong.append(f"{self.timeline}, {second} s, {route or 'now'}: {faults[0]}")

    def _up_to_date(self, route: str, second: int, frame: Frame) -> Iterator[str]:
        """The paths of which the page says what the API says."""
        shown = {path: word(UNKNOWN if self._is_old(path, second) else told.state) for path, told in self.told.items()}
        yield from (one.of for one in frame.states if one.word == shown.get(one.of))
        counts = [
            (kind, f"{count} {word(state)}") for kind, states in self.counts.items() for state, count in states.items()
        ]
        if route == NOW and Counter(counts) == Counter(frame.counts):
            yield NOW

    def _is_old(self, path: str, second: int) -> bool:
        return self.told[path].state not in WITHOUT_AGE and second - self.observed[path] > MAX_AGE + 1

    def _fault(self, said: Said, second: int) -> str | None:
        told = self.told[said.of]
        reads_healthy = said.word == word(told.desired) and not said.is_warned
        if reads_healthy and (fault := self._untrue_calm(said.of, second)):
            return fault
        if self._is_old(said.of, second) and not said.age and said.word not in map(word, WITHOUT_AGE):
            return f"{said.of} is {said.word}, and nothing says how long ago"
        return None

    def _untrue_calm(self, path: str, second: int) -> str | None:
        """Why it may not read healthy; None where it may."""
        if second - self.ill_since.get(path, second) > PAGE_MAY_BE_BEHIND:
            return f"{path} reads healthy, and the API says {self.told[path]} since {self.ill_since[path]} s"
        if self._is_old(path, second):
            return f"{path} reads healthy, and was observed at {self.observed[path]} s"
        return None

    def _now_is_calm(self, frame: Frame) -> bool:
        """Whether Now shows nothing that anybody would look at."""
        harmless = {word("RUNNING"), *(word(told.desired) for told in self.told.values())}
        return (
            not frame.cards
            and not frame.is_warned
            and {words.split(" ", 1)[1] for _, words in frame.counts} <= harmless
        )


def _rows(told: Mapping[str, Told]) -> list[str]:
    return [path for path in told if not path.endswith("/status")]


@cache
def _texts() -> Mapping[str, str]:
    texts: Mapping[str, str] = loads((ROOT / "infra" / "console" / "src" / "texts" / "en.json").read_text())
    return texts


def word(state: str) -> str:
    """What the console calls an observed state."""
    return _texts()[f"state.{state}"]
