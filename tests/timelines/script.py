"""A timeline: actions by virtual second, and the times at which resources are broken.

    Timeline(
        name="the capture's task fails and somebody restarts it",
        lasts=240,
        steps=at(61, fail_task(CAPTURE, PASSWORD)) + at(181, restart(CAPTURE)),
        broken=(Broken(CAPTURE, 61, 181, codes={"SOURCE_AUTH_FAILED"}),),
    )

Ticks come every ten seconds, in timelines of more than `SHORT_SECONDS` every twenty; looks at sources every minute. A
timeline with nothing in `broken` is healthy.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from chalicelib.domain.database import DatabaseProvider

if TYPE_CHECKING:
    from tests.timelines.world import World

CAPTURE, DELIVERY, CLUSTER, SOURCE = "capture", "delivery", "cluster", "source"
"""The resources that can be broken: the pipeline, its delivery, the Connect cluster and with it both, the source and
with it the pipeline.
"""

TICK_SECONDS, LONG_TICK_SECONDS = 10, 20
SHORT_SECONDS = 190
LOOK_SECONDS = 60
FIRST_LOOK = 15
"""Most faults come at second 21: just after a tick and a look, so that detection takes long."""

Action = Callable[["World"], Any]


@dataclass(frozen=True, kw_only=True)
class Step:
    second: float
    action: Action


@dataclass(frozen=True)
class Broken:
    """From when to when something is broken, and how soon that has to be shown.

    From `begins + shown_within` on nobody may be shown that it runs without a reason; until then the last state may
    still stand. An incident with one of the codes is open from `begins + opened_within` on (None: none has to be, and
    with no `codes` none may be). After `ends + gone_within` all is well again and no incident is open. `live` says
    whether the status of one resource, which is read when it is asked for, shows it too. `incidents` is how many may
    be opened for it, one after the other. `resolved` is when a person resolves an incident that lasts longer than the
    fault.
    """

    of: str
    begins: float
    ends: float = float("inf")
    _: KW_ONLY
    codes: Set[str] = frozenset()
    shown_within: float = 20
    opened_within: float | None = 30
    gone_within: float = 30
    live: bool = True
    incidents: int = 1
    resolved: float | None = None

    def concerns(self, resource: str) -> bool:
        """Whether the capture or the delivery is broken by it."""
        return resource == self.of or self.of == CLUSTER or (self.of, resource) == (SOURCE, CAPTURE)

    def is_shown_at(self, second: float) -> bool:
        return self.begins + self.shown_within < second <= self.ends

    def may_be_shown_at(self, second: float) -> bool:
        return self.begins <= second <= self.ends + self.gone_within

    def is_open_at(self, second: float) -> bool:
        if self.opened_within is None:
            return False
        return self.begins + self.opened_within < second <= (self.ends if self.resolved is None else self.resolved)

    def may_be_open_at(self, second: float) -> bool:
        return self.may_be_shown_at(second) if self.resolved is None else self.begins <= second <= self.resolved


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """One row of the truth table.

    `also` are codes of incidents that may be open as well, at any time. `harmless` are observed states that are the
    truth for a while and nothing to worry about, such as UNASSIGNED during a rebalance. `desired` is what people want
    of the capture and of the delivery, when that is not to run. `without_ticks` are spans in which nobody looks.
    `provider` is what is captured from.
    """

    name: str
    lasts: int
    steps: tuple[Step, ...] = ()
    broken: tuple[Broken, ...] = ()
    also: Set[str] = frozenset()
    harmless: Set[str] = frozenset()
    desired: dict[str, str] = field(default_factory=dict)
    without_ticks: tuple[tuple[float, float], ...] = ()
    provider: DatabaseProvider = DatabaseProvider.POSTGRESQL
    tick_seconds: int | None = None

    @property
    def is_broken(self) -> bool:
        return bool(self.broken)

    def events(self) -> list[tuple[float, str, Action | None]]:
        """Everything that happens, in order: steps, then looks, then ticks of the same second."""
        steps = [(step.second, "step", step.action) for step in self.steps]
        looks = [(float(second), "look", None) for second in range(FIRST_LOOK, self.lasts, LOOK_SECONDS)]
        period = self.tick_seconds or (TICK_SECONDS if self.lasts <= SHORT_SECONDS else LONG_TICK_SECONDS)
        ticks = [(float(second), "tick", None) for second in range(period, self.lasts + 1, period)]
        order = ("step", "look", "tick")
        events = [event for event in (*steps, *looks, *ticks) if event[1] == "step" or not self._is_idle(event[0])]
        return sorted(events, key=lambda event: (event[0], order.index(event[1])))

    def _is_idle(self, second: float) -> bool:
        return any(start < second <= end for start, end in self.without_ticks)


def at(second: float, *actions: Action) -> tuple[Step, ...]:
    return tuple(Step(second=second, action=action) for action in actions)


def every(seconds: float, action: Action, *, start: float, end: float) -> tuple[Step, ...]:
    times: Iterable[int] = range(int((end - start) // seconds) + 1)
    return tuple(Step(second=start + number * seconds, action=action) for number in times)
