"""Faults: what can go wrong at one call to the store or to Connect, and how a test injects it."""

import contextvars
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
from botocore.exceptions import BotoCoreError, ReadTimeoutError

from infra.local.doubles.connect_faults import FaultEffect
from tests.support.call_interceptor import Crash, FailureMode, InterceptedCall, Point, Side
from tests.support.in_process_app import InProcessApp


class StoreDown(BotoCoreError):
    """The SDK has tried as often as it may, and gives up."""

    fmt = "no answer"


@dataclass
class DelayedCalls:
    """Requests that reach Connect after their client has given up: `late`, or `last`, when everything is settled."""

    late: list[Callable[[], object]] = field(default_factory=list)
    last: list[Callable[[], object]] = field(default_factory=list)

    def send_late(self) -> None:
        """Send those that arrive late."""
        while self.late:
            self.late.pop(0)()

    def send_last(self) -> bool:
        """Send those that arrive last; returns whether there were any."""
        last, self.last = self.last, []
        for call in last:
            call()
        return bool(last)


Inject = Callable[[InProcessApp, Point, DelayedCalls], FailureMode | None]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way for a call to go wrong. `inject` prepares it for one point; it may add requests to the `DelayedCalls`."""

    name: str
    side: Side
    inject: Inject
    writes_only: bool = False

    def applies_to(self, point: Point) -> bool:
        """Whether it can happen at this point, and is not the same there as another fault."""
        return point.side is self.side and (point.writes or not self.writes_only)


def only_at(where: Point, failure_mode: FailureMode) -> FailureMode:
    """The failure mode at one point only."""
    return lambda point, call: (
        failure_mode(point, call)
        if (point.side, point.number_on_side) == (where.side, where.number_on_side)
        else call()
    )


def from_point_on(where: Point, failure_mode: FailureMode) -> FailureMode:
    """The failure mode at one point, and at all later ones of the same side."""
    return lambda point, call: (
        failure_mode(point, call)
        if point.side is where.side and point.number_on_side >= where.number_on_side
        else call()
    )


def _crash_before(_point: Point, _call: InterceptedCall) -> object:
    raise Crash


def _crash_after(_point: Point, call: InterceptedCall) -> object:
    answer = call()
    if isinstance(answer, httpx.Response):
        answer.close()
    raise Crash


def _store_down(_point: Point, _call: InterceptedCall) -> object:
    raise StoreDown


def _store_silent(_point: Point, call: InterceptedCall) -> object:
    call()
    raise StoreDown


def _reply_lost(_point: Point, call: InterceptedCall) -> object:
    call()
    raise ReadTimeoutError(endpoint_url="dynamodb")


def _refused(_point: Point, _call: InterceptedCall) -> object:
    raise httpx.ConnectError("refused")


def _once(failure_mode: FailureMode) -> Inject:
    return lambda _app, point, _delayed: only_at(point, failure_mode)


def _from_then_on(failure_mode: FailureMode) -> Inject:
    return lambda _app, point, _delayed: from_point_on(point, failure_mode)


def _planted_in_connect(effect: FaultEffect, *, always: bool = False) -> Inject:
    """A fault of the Connect double. `always`: also for each retry of the client, which gives up after three."""

    def inject(app: InProcessApp, point: Point, _delayed: DelayedCalls) -> None:
        app.connect.plant(effect, skip=point.number_on_side, times=3 if always else 1)

    return inject


def _delayed_request(*, last: bool = False) -> Inject:
    """No answer arrives, and the request is carried out only later. Connect may delay a request for 90 s."""

    def inject(_app: InProcessApp, point: Point, delayed: DelayedCalls) -> FailureMode:
        def swallow(_point: Point, call: InterceptedCall) -> object:
            context = contextvars.copy_context()
            queue = delayed.last if last else delayed.late
            queue.append(lambda: context.run(call).close())  # type: ignore[attr-defined]
            raise httpx.ReadTimeout("late")

        return only_at(point, swallow)

    return inject


CRASHES = (
    Fault(name="crash before", side=Side.STORE, inject=_once(_crash_before), writes_only=True),
    Fault(name="crash after", side=Side.STORE, inject=_once(_crash_after), writes_only=True),
    Fault(name="crash before", side=Side.CONNECT, inject=_once(_crash_before), writes_only=True),
    Fault(name="crash after", side=Side.CONNECT, inject=_once(_crash_after), writes_only=True),
)
"""Writes only: a crash at a read leaves the same state as a crash before the next write, or at the end."""

STORE_FAULTS = (
    Fault(name="not applied", side=Side.STORE, inject=_once(_store_down)),
    Fault(name="applied, no answer", side=Side.STORE, inject=_once(_store_silent), writes_only=True),
    Fault(name="answer lost once", side=Side.STORE, inject=_once(_reply_lost), writes_only=True),
    Fault(name="down from here", side=Side.STORE, inject=_from_then_on(_store_down), writes_only=True),
    Fault(name="applied, then down", side=Side.STORE, inject=_from_then_on(_store_silent), writes_only=True),
)

CONNECT_FAULTS = (
    Fault(name="answer lost", side=Side.CONNECT, inject=_planted_in_connect(FaultEffect.LOSE_REPLY)),
    Fault(name="late", side=Side.CONNECT, inject=_delayed_request(), writes_only=True),
    Fault(name="last of all", side=Side.CONNECT, inject=_delayed_request(last=True), writes_only=True),
    Fault(name="409 once", side=Side.CONNECT, inject=_planted_in_connect(FaultEffect.REBALANCE), writes_only=True),
    Fault(
        name="409", side=Side.CONNECT, inject=_planted_in_connect(FaultEffect.REBALANCE, always=True), writes_only=True
    ),
    Fault(name="500", side=Side.CONNECT, inject=_planted_in_connect(FaultEffect.TIMED_OUT, always=True)),
    Fault(
        name="500, applied",
        side=Side.CONNECT,
        inject=_planted_in_connect(FaultEffect.TIMED_OUT_APPLIED),
        writes_only=True,
    ),
    Fault(name="HTML 404", side=Side.CONNECT, inject=_planted_in_connect(FaultEffect.NOT_READY)),
    Fault(name="garbage", side=Side.CONNECT, inject=_planted_in_connect(FaultEffect.GARBAGE), writes_only=True),
    Fault(name="refused", side=Side.CONNECT, inject=_once(_refused)),
    Fault(name="down from here", side=Side.CONNECT, inject=_from_then_on(_refused)),
)
FAULTS = (*CRASHES, *STORE_FAULTS, *CONNECT_FAULTS)
