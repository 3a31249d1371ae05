"""Runs one operation with one or two faults, and checks the answer and the state after recovery."""

import random
import traceback
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import httpx

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, Rejected, Unavailable
from tests.faults.cases.operation_case import OperationCase, PreparedOperation
from tests.faults.failure_modes import PARTLY, STALE_READS, DelayedCalls, Fault, Kind
from tests.faults.harness.earlier_states import EarlierStates
from tests.faults.harness.whole_app import clear_queues, run_lost_jobs
from tests.faults.invariants import at_any_time, violations
from tests.support.apps.call_interceptor import Crash, FailureMode, InterceptedCall, Point
from tests.support.apps.in_process_app import AppSnapshot, InProcessApp

PlannedFaults = Sequence[tuple[Point, Fault]]
JUMPS = (31, 10, 10, 10, 31, 10, 10, 95, 10, 600, 10, 10)
"""Seconds between ticks: past a lease; tick by tick; until an orphan is stopped; until it is deleted."""

JOB_LEASE_SECONDS = 61
"""After the second fault, too, a worker may have died with the job's lease."""

MAX_REPEATED, PAUSE_SECONDS = 6, 60
"""A restart that did not help is repeated after minutes."""

DESIRED_WITHIN, DESIRED_RULE = {1: 3, 2: 7}, "each_desired_connector_exists"
"""Ticks without faults, by the number of faults before them: one past the lease, and two more. Two faults can fail two
attempts to create a connector again, and the third comes a minute later.
"""

NOT_CARRIED_OUT = (Unavailable, Invalid, Conflict, NotFound, Rejected)
"""Errors that say that the operation was not carried out."""


@dataclass(frozen=True, kw_only=True)
class FaultRun:
    """What one run has found: the errors, the calls after the last fault that was met, and those of the first tick
    after the request. `ticks` is how many it took until all invariants were true.
    """

    wrong: Sequence[str]
    points: Sequence[Point]
    tick_points: Sequence[Point]
    ticks: int


@dataclass(frozen=True, kw_only=True)
class PreparedCase:
    """An operation case that can be run any number of times; `points` are its calls when nothing goes wrong.

    `without_effect` are the reads, by number, and the faults that change nothing in the answers to them.
    """

    name: str
    operation: PreparedOperation
    kept: AppSnapshot
    points: Sequence[Point]
    earlier: EarlierStates
    faked: object = field(repr=False)
    without_effect: Collection[tuple[int, Fault]] = field(repr=False)

    @classmethod
    def prepare(cls, app: InProcessApp, operation_case: OperationCase, empty: AppSnapshot) -> "PreparedCase":
        """Prepare the case once, and record its points in a run without faults."""
        app.restore(empty)
        app.database.reset()
        earlier = EarlierStates(app)
        app.interceptor.before_write = earlier.remember
        try:
            operation = operation_case.prepare(app)
            for _ in range(operation.ticks_before):
                app.tick()
        finally:
            app.interceptor.before_write = lambda: None
        kept, faked = app.snapshot(), app.database.state()
        app.restore(kept)
        operation.warm_up()
        app.interceptor.watch()
        try:
            operation.request()
        finally:
            points = app.interceptor.unwatch()
        if operation.needs_ticks and operation.cluster is None:
            operation = replace(operation, cluster=app.cluster)
        app.restore(kept)
        app.database.restore(faked)
        without_effect = faults_without_effect(app, operation, earlier.copy())
        return cls(
            name=operation_case.name, operation=operation, kept=kept, points=points, earlier=earlier, faked=faked,
            without_effect=without_effect,
        )  # fmt: skip

    def run(self, app: InProcessApp, now: PlannedFaults, later: PlannedFaults = ()) -> FaultRun:
        """Run it with these faults, and with other ones in the first tick after it. What nobody expects is an error.

        In a thread of its own: Python allocates its stack in chunks, and when pytest's frames end near the end of a
        chunk, each further call costs two system calls.
        """
        with ThreadPoolExecutor(1) as pool:
            try:
                return pool.submit(self._run, app, now, later).result()
            except (Exception, Crash) as error:  # noqa: BLE001 - one more violation; the other runs go on
                where = traceback.extract_tb(error.__traceback__)[-1]
                wrong = [f"{type(error).__name__} at {where.name}, line {where.lineno}: {error}"]
                return FaultRun(wrong=wrong, points=(), tick_points=(), ticks=0)
            finally:
                app.interceptor.before_write = lambda: None

    def _run(self, app: InProcessApp, now: PlannedFaults, later: PlannedFaults) -> FaultRun:
        random.seed(self.name)
        app.restore(self.kept)
        app.database.restore(self.faked)
        clear_queues()
        self.operation.warm_up()
        delayed = DelayedCalls(again=partial(self._by_another_process, app), earlier=self.earlier.copy())
        app.interceptor.before_write = delayed.earlier.remember if self._reads_stale(now, later) else lambda: None
        answer, points = run_and_record(app, now, delayed, self.operation.request)
        app.connect.settle()
        says_nothing = self.operation.ticks_do_it_too
        wrong = [] if says_nothing else list(self._check_success(answer))
        wrong += at_any_time(app)
        delayed.send_late()
        _, tick_points = run_and_record(app, later, delayed, lambda: self._first_tick(app))
        app.connect.settle()
        delayed.send_late()
        app.interceptor.before_write = lambda: None
        within = DESIRED_WITHIN[max(1, len([*now, *later]))]
        ticks, found = self._recover(app, ticked=True, within=within)
        wrong += self._expected_of(found)
        if delayed.send_last():
            wrong += self._expected_of(self._recover(app, within=within)[1])
        # After a duplicate, the other one may have done what this answer says was not done.
        repeated = any(fault.kind is Kind.DUPLICATE for _, fault in (*now, *later))
        wrong += self._check_end(app, None if repeated or says_nothing else answer)
        return FaultRun(wrong=wrong, points=points, tick_points=tick_points, ticks=ticks)

    @staticmethod
    def _reads_stale(*planned: PlannedFaults) -> bool:
        return any(fault.kind is Kind.STALE_READ for faults in planned for _, fault in faults)

    def _by_another_process(self, app: InProcessApp) -> None:
        """The same request once more, served by a process that knows nothing of this one."""
        first = app.services
        app.restart()
        try:
            with suppress(HeadgateError):
                self.operation.request()
            app.connect.settle()
        finally:
            app.services = first

    def _first_tick(self, app: InProcessApp) -> None:
        """What comes next: a tick, or for what no tick is about, the jobs that were lost."""
        if self.operation.needs_ticks:
            app.tick(self.operation.cluster, after=JUMPS[0])
        else:
            app.clock.advance(JUMPS[0])
            run_lost_jobs(app)

    def _recover(
        self, app: InProcessApp, *, ticked: bool = False, within: int = DESIRED_WITHIN[1]
    ) -> tuple[int, list[str]]:
        if not self.operation.needs_ticks:
            app.clock.advance(JOB_LEASE_SECONDS)
            run_lost_jobs(app)
            return 0, violations(app)
        if ticked and not violations(app):
            return 1, []
        return recover_counting(app, self.operation.cluster, within=within)

    def _expected_of(self, found: list[str]) -> list[str]:
        """What must be true whether or not the operation was carried out: one that lets ticks remove connectors has to
        come first.
        """
        waits = self.operation.leaves_connector and not self.operation.is_done()
        return [one for one in found if not (waits and one.startswith("each_connector_is_desired"))]

    def _check_end(self, app: InProcessApp, answer: object) -> list[str]:
        is_done, wrong = self.operation.is_done(), []
        if is_done and isinstance(answer, NOT_CARRIED_OUT):
            wrong.append(f"the answer was {answer.code}, but the operation was carried out")
        refused = isinstance(answer, NOT_CARRIED_OUT)
        if refused:
            self.operation.start_over()
        if not wrong and (not is_done or (self.operation.repeatable and not refused)):
            wrong += self._second_attempt(app, answered=answer is not None and not isinstance(answer, Crash))
        elif not wrong and self.operation.repeats_without_answer and isinstance(answer, BaseException):
            with suppress(HeadgateError):
                self.operation.request()
            wrong += violations(app)
        return wrong

    def _request_again(self, *, answered: bool) -> None:
        try:
            self.operation.request()
        except NOT_CARRIED_OUT:
            if answered:
                raise
            self.operation.start_over()
            self.operation.request()

    def _check_success(self, answer: object) -> Iterable[str]:
        """An answer without an open operation, and without an error, says that it is done."""
        if isinstance(answer, BaseException):
            return
        if answer is not None and getattr(answer, "open_operation", None):
            return
        if not self.operation.is_done():
            yield "the answer was a success, but the operation was not carried out"

    def _second_attempt(self, app: InProcessApp, *, answered: bool) -> list[str]:
        """A second attempt must succeed; what is repeated by itself, with growing pauses, may need some more.

        Without an answer to the first one it may be answered as the first one would have been: with its refusal.
        """
        for _ in range(MAX_REPEATED if self.operation.ticks_do_it_too else 1):
            try:
                self._request_again(answered=answered)
            except HeadgateError as error:
                return [f"a second attempt fails: {error.code} {error.message}"]
            app.connect.settle()
            if self.operation.is_done():
                break
            app.clock.advance(PAUSE_SECONDS)
        needs_more = self.operation.leaves_connector or self.operation.ticks_do_it_too
        wrong = self._recover(app)[1] if needs_more else violations(app)
        if not self.operation.is_done():
            wrong.append("a second attempt had no effect")
        return wrong


def faults_without_effect(
    app: InProcessApp, operation: PreparedOperation, earlier: EarlierStates
) -> set[tuple[int, Fault]]:
    """The outdated and partial reads whose answer is the usual one: with them everything is as without a fault."""
    without_effect: set[tuple[int, Fault]] = set()

    def compare(point: Point, call: InterceptedCall) -> object:
        faults = [fault for fault in (*STALE_READS, PARTLY) if fault.applies_to(point) and not point.writes]
        usual = _content(call()) if faults else None
        for fault in faults:
            changed = fault.inject(app, point, DelayedCalls(earlier=earlier))
            if changed and _content(changed(point, call)) == usual:
                without_effect.add((point.number, fault))
        return call()

    operation.warm_up()
    app.interceptor.before_write = earlier.remember
    app.interceptor.watch(compare)
    try:
        operation.request()
    finally:
        app.interceptor.unwatch()
        app.interceptor.before_write = lambda: None
    return without_effect


def _content(answer: object) -> object:
    return answer.read() if isinstance(answer, httpx.Response) else answer


def inject_at_each_point(
    app: InProcessApp, prepared_case: PreparedCase, fault: Fault
) -> tuple[int, dict[str, list[str]]]:
    """Run the case once for each point at which the fault applies: the number of runs, and the errors by point."""
    points = [point for point in prepared_case.points if fault.applies_to(point)]
    wrong = {str(point): list(prepared_case.run(app, [(point, fault)]).wrong) for point in points}
    return len(points), {point: found for point, found in wrong.items() if found}


def run_with_faults(
    app: InProcessApp, faults: PlannedFaults, delayed: DelayedCalls, request: Callable[[], object]
) -> object:
    """The result of `request` under these faults: a value, one of our errors, or a Crash."""
    return run_and_record(app, faults, delayed, request)[0]


def run_and_record(
    app: InProcessApp, faults: PlannedFaults, delayed: DelayedCalls, request: Callable[[], object]
) -> tuple[object, list[Point]]:
    """The result of `request` under these faults (a value, one of our errors, or a Crash), and its calls."""
    modes = [fault.inject(app, point, delayed) for point, fault in faults]
    app.interceptor.watch(_combined([failure_mode for failure_mode in modes if failure_mode]))
    try:
        answer: object = request()
    except HeadgateError as error:
        answer = error
    except Crash as crash:
        app.restart()
        answer = crash
    finally:
        points = app.interceptor.unwatch()
        app.connect.faults.clear()
    return answer, points


def _combined(modes: Sequence[FailureMode]) -> FailureMode:
    """All of them. After a crash there is no process any more that could make another call."""
    crashed = False

    def intercept(point: Point, call: InterceptedCall) -> object:
        nonlocal crashed
        if crashed:
            raise Crash
        for failure_mode in modes:
            call = partial(failure_mode, point, call)
        try:
            return call()
        except Crash:
            crashed = True
            raise

    return intercept


def recover(app: InProcessApp) -> list[str]:
    """Tick until no invariant is violated; returns the violations that remain after the last tick."""
    return recover_counting(app)[1]


def recover_counting(
    app: InProcessApp, cluster: ConnectCluster | None = None, *, within: int = DESIRED_WITHIN[1]
) -> tuple[int, list[str]]:
    """Tick until no invariant is violated: how many ticks it took, and the violations that remain after the last.

    A connector has to be as desired `within` so many ticks.
    """
    ticks, wrong, cluster, slow = 0, ["no tick yet"], cluster or app.cluster, list[str]()
    for seconds in JUMPS:
        app.tick(cluster, after=seconds)
        run_lost_jobs(app)
        ticks, wrong = ticks + 1, violations(app)
        if not wrong:
            break
        if ticks == within:
            slow = [f"after {ticks} ticks: {one}" for one in wrong if one.startswith(DESIRED_RULE)]
    return ticks, [*slow, *wrong]
