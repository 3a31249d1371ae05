"""Runs one operation with one or two faults, and checks the answer and the state after recovery."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, Rejected, Unavailable
from tests.faults.failure_modes import DelayedCalls, Fault
from tests.faults.invariants import violations
from tests.faults.operation_cases import OperationCase, PreparedOperation
from tests.support.call_interceptor import Crash, FailureMode, InterceptedCall, Point
from tests.support.in_process_app import AppSnapshot, InProcessApp

PlannedFaults = Sequence[tuple[Point, Fault]]
JUMPS = (31, 10, 10, 10, 31, 10, 10, 95, 10, 600, 10, 10)
"""Seconds between ticks: past a lease; tick by tick; until an orphan is stopped; until it is deleted."""

NOT_CARRIED_OUT = (Unavailable, Invalid, Conflict, NotFound, Rejected)
"""Errors that say that the operation was not carried out."""


@dataclass(frozen=True, kw_only=True)
class PreparedCase:
    """An operation case that can be run any number of times; `points` are its calls when nothing goes wrong."""

    operation: PreparedOperation
    kept: AppSnapshot
    points: Sequence[Point]

    @classmethod
    def prepare(cls, app: InProcessApp, operation_case: OperationCase, empty: AppSnapshot) -> "PreparedCase":
        """Prepare the case once, and record its points in a run without faults."""
        app.restore(empty)
        operation = operation_case.prepare(app)
        app.tick()
        app.tick()
        kept = app.snapshot()
        app.restore(kept)
        operation.warm_up()
        app.interceptor.watch()
        operation.request()
        points = app.interceptor.unwatch()
        return cls(operation=operation, kept=kept, points=points)

    def run(self, app: InProcessApp, now: PlannedFaults, later: PlannedFaults = ()) -> list[str]:
        """Run it with these faults, and with other ones in the first tick after it. Returns every error that was found.

        In a thread of its own: Python allocates its stack in chunks, and when pytest's frames end near the end of a
        chunk, each further call costs two system calls.
        """
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(self._run, app, now, later).result()

    def _run(self, app: InProcessApp, now: PlannedFaults, later: PlannedFaults) -> list[str]:
        app.restore(self.kept)
        self.operation.warm_up()
        delayed = DelayedCalls()
        answer = run_with_faults(app, now, delayed, self.operation.request)
        app.connect.settle()
        wrong = [] if self.operation.ticks_do_it_too else list(self._check_success(answer))
        delayed.send_late()
        if later:
            run_with_faults(app, later, delayed, lambda: app.tick(after=31))
            delayed.send_late()
        wrong += recover(app)
        if delayed.send_last():
            wrong += recover(app)
        is_done = self.operation.is_done()
        if is_done and isinstance(answer, NOT_CARRIED_OUT) and not self.operation.ticks_do_it_too:
            wrong.append(f"the answer was {answer.code}, but the operation was carried out")
        if not wrong and not is_done:
            wrong += self._second_attempt(app)
        return wrong

    def _check_success(self, answer: object) -> Iterable[str]:
        """An answer without an open operation, and without an error, says that it is done."""
        if isinstance(answer, BaseException):
            return
        if answer is not None and getattr(answer, "open_operation", None):
            return
        if not self.operation.is_done():
            yield "the answer was a success, but the operation was not carried out"

    def _second_attempt(self, app: InProcessApp) -> list[str]:
        """A second attempt must succeed."""
        try:
            self.operation.request()
        except HeadgateError as error:
            return [f"a second attempt fails: {error.code} {error.message}"]
        app.connect.settle()
        wrong = recover(app) if self.operation.leaves_connector else violations(app)
        if not self.operation.is_done():
            wrong.append("a second attempt had no effect")
        return wrong


def inject_at_each_point(
    app: InProcessApp, prepared_case: PreparedCase, fault: Fault
) -> tuple[int, dict[str, list[str]]]:
    """Run the case once for each point at which the fault applies: the number of runs, and the errors by point."""
    points = [point for point in prepared_case.points if fault.applies_to(point)]
    return len(points), {str(point): wrong for point in points if (wrong := prepared_case.run(app, [(point, fault)]))}


def run_with_faults(
    app: InProcessApp, faults: PlannedFaults, delayed: DelayedCalls, request: Callable[[], object]
) -> object:
    """The result of `request` under these faults: a value, one of our errors, or a Crash."""
    modes = [fault.inject(app, point, delayed) for point, fault in faults]
    app.interceptor.watch(_combined([failure_mode for failure_mode in modes if failure_mode]))
    try:
        return request()
    except HeadgateError as error:
        return error
    except Crash as crash:
        app.restart()
        return crash
    finally:
        app.interceptor.unwatch()
        app.connect.faults.clear()


def _combined(modes: Sequence[FailureMode]) -> FailureMode:
    def intercept(point: Point, call: InterceptedCall) -> object:
        for failure_mode in modes:
            call = partial(failure_mode, point, call)
        return call()

    return intercept


def recover(app: InProcessApp) -> list[str]:
    """Tick until no invariant is violated; returns the violations that remain after the last tick."""
    wrong = ["no tick yet"]
    for seconds in JUMPS:
        app.tick(after=seconds)
        wrong = violations(app)
        if not wrong:
            break
    return wrong
