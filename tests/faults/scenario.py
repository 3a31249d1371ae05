"""One operation with one or two things going wrong: what was answered, and whether all came right in the end."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, Rejected, Unavailable
from tests.faults.failure_modes import Aftermath, Kind
from tests.faults.invariants import violations
from tests.faults.operations import Ready, Scene
from tests.support.call_interceptor import Crash, FailureMode, InterceptedCall, Point
from tests.support.in_process_app import AppSnapshot, InProcessApp

Troubles = Sequence[tuple[Point, Kind]]
JUMPS = (31, 10, 10, 10, 31, 10, 10, 95, 10, 600, 10, 10)
"""Seconds between ticks: past a lease; tick by tick; past the quarantine of a stranger; past its deletion."""

NOTHING_HAPPENED = (Unavailable, Invalid, Conflict, NotFound, Rejected)
"""Errors that tell people that what they asked for was not done."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A scene that is ready to begin, as often as one likes: `house.restore(kept)`."""

    ready: Ready
    kept: AppSnapshot
    points: Sequence[Point]

    @classmethod
    def set(cls, app: InProcessApp, scene: Scene, empty: AppSnapshot) -> "Stage":
        """Prepare the scene once, and learn its points from a run in which nothing goes wrong."""
        app.restore(empty)
        ready = scene.prepare(app)
        app.tick()
        app.tick()
        kept = app.snapshot()
        app.restore(kept)
        ready.before()
        app.interceptor.watch()
        ready.act()
        points = app.interceptor.unwatch()
        return cls(ready=ready, kept=kept, points=points)

    def run(self, app: InProcessApp, now: Troubles, later: Troubles = ()) -> list[str]:
        """Play it with these troubles, and others in the first tick that follows; everything that was wrong.

        On a thread of its own: Python gets its stack in pieces, and where pytest's many frames happen to end near the
        end of a piece, each further call costs two system calls.
        """
        with ThreadPoolExecutor(1) as stage:
            return stage.submit(self._run, app, now, later).result()

    def _run(self, app: InProcessApp, now: Troubles, later: Troubles) -> list[str]:
        app.restore(self.kept)
        self.ready.before()
        after = Aftermath()
        answer = troubled(app, now, after, self.ready.act)
        app.connect.settle()
        wrong = list(self._untrue(answer))
        after.arrive()
        if later:
            troubled(app, later, after, lambda: app.tick(after=31))
            after.arrive()
        wrong += recover(app)
        if after.arrive_last():
            wrong += recover(app)
        done = self.ready.done()
        if done and isinstance(answer, NOTHING_HAPPENED):
            wrong.append(f"it said {answer.code}, and did it all the same")
        if not wrong and not done:
            wrong += self._again(app)
        return wrong

    def _untrue(self, answer: object) -> Iterable[str]:
        """An answer without an open operation, and without an error, says that it is done."""
        if isinstance(answer, BaseException):
            return
        if answer is not None and getattr(answer, "open_operation", None):
            return
        if not self.ready.done():
            yield "it said that it was done, and it was not"

    def _again(self, app: InProcessApp) -> list[str]:
        """Nothing stands in the way of a second attempt."""
        try:
            self.ready.act()
        except HeadgateError as error:
            return [f"a second attempt fails: {error.code} {error.message}"]
        app.connect.settle()
        wrong = violations(app)
        if not self.ready.done():
            wrong.append("a second attempt has not done it")
        return wrong


def play(app: InProcessApp, stage: Stage, kind: Kind) -> tuple[int, dict[str, list[str]]]:
    """Let each point of the stage meet this trouble, once each: how many there are, and what was wrong at which."""
    points = [point for point in stage.points if kind.concerns(point)]
    return len(points), {str(point): wrong for point in points if (wrong := stage.run(app, [(point, kind)]))}


def troubled(app: InProcessApp, troubles: Troubles, after: Aftermath, act: Callable[[], object]) -> object:
    """What `act` gives while these troubles wait for its calls: a value, an error of ours, or a Crash."""
    made = [kind.meet(app, point, after) for point, kind in troubles]
    app.interceptor.watch(_together([failure_mode for failure_mode in made if failure_mode]))
    try:
        return act()
    except HeadgateError as error:
        return error
    except Crash as crash:
        app.restart()
        return crash
    finally:
        app.interceptor.unwatch()
        app.connect.faults.clear()


def _together(troubles: Sequence[FailureMode]) -> FailureMode:
    def meet(point: Point, call: InterceptedCall) -> object:
        for failure_mode in troubles:
            call = partial(failure_mode, point, call)
        return call()

    return meet


def recover(app: InProcessApp) -> list[str]:
    """Let time pass and the reconciler tick until all is well; what is still wrong when patience ends."""
    wrong = ["not looked yet"]
    for seconds in JUMPS:
        app.tick(after=seconds)
        wrong = violations(app)
        if not wrong:
            break
    return wrong
