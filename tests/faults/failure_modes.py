"""What can go wrong at one call, on either side, and how a test brings it about."""

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


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One way for a call to go wrong. `meet` brings it about at a point, and may leave things for the `Aftermath`."""

    name: str
    side: Side
    meet: "Callable[[InProcessApp, Point, Aftermath], FailureMode | None]"
    writes_only: bool = False

    def concerns(self, point: Point) -> bool:
        """Whether it can happen there, and means something other than its like."""
        return point.side is self.side and (point.writes or not self.writes_only)


@dataclass
class Aftermath:
    """What happens after the request is over: calls on their way that arrive late, or when all has been settled."""

    late: list[Callable[[], object]] = field(default_factory=list)
    last: list[Callable[[], object]] = field(default_factory=list)

    def arrive(self) -> None:
        """The late ones arrive."""
        while self.late:
            self.late.pop(0)()

    def arrive_last(self) -> bool:
        """The last ones arrive; whether there were any."""
        last, self.last = self.last, []
        for call in last:
            call()
        return bool(last)


def at(where: Point, failure_mode: FailureMode) -> FailureMode:
    """That trouble at one point only."""
    return lambda point, call: (
        failure_mode(point, call)
        if (point.side, point.number_on_side) == (where.side, where.number_on_side)
        else call()
    )


def from_(where: Point, failure_mode: FailureMode) -> FailureMode:
    """That trouble at one point, and at all later ones of the same side."""
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


def _plainly(failure_mode: FailureMode) -> "Callable[[InProcessApp, Point, Aftermath], FailureMode]":
    return lambda _house, point, _after: at(point, failure_mode)


def _from_here(failure_mode: FailureMode) -> "Callable[[InProcessApp, Point, Aftermath], FailureMode]":
    return lambda _house, point, _after: from_(point, failure_mode)


def _planted(effect: FaultEffect, *, always: bool = False) -> "Callable[[InProcessApp, Point, Aftermath], None]":
    """The double does it. `always`: also to each repetition by the client, which gives up after three."""

    def meet(app: InProcessApp, point: Point, _after: Aftermath) -> None:
        app.connect.plant(effect, skip=point.number_on_side, times=3 if always else 1)

    return meet


def _on_its_way(*, last: bool = False) -> "Callable[[InProcessApp, Point, Aftermath], FailureMode]":
    """No answer comes, and nothing has happened yet; it will. Connect may keep a request for 90 s."""

    def meet(_house: InProcessApp, point: Point, after: Aftermath) -> FailureMode:
        def swallow(_point: Point, call: InterceptedCall) -> object:
            context = contextvars.copy_context()
            queue = after.last if last else after.late
            queue.append(lambda: context.run(call).close())  # type: ignore[attr-defined]
            raise httpx.ReadTimeout("late")

        return at(point, swallow)

    return meet


CRASHES = (
    Kind(name="crash before", side=Side.STORE, meet=_plainly(_crash_before), writes_only=True),
    Kind(name="crash after", side=Side.STORE, meet=_plainly(_crash_after), writes_only=True),
    Kind(name="crash before", side=Side.CONNECT, meet=_plainly(_crash_before), writes_only=True),
    Kind(name="crash after", side=Side.CONNECT, meet=_plainly(_crash_after), writes_only=True),
)
"""A crash before or after a read leaves the same behind as the one before the next write, or at the end."""

STORE_TROUBLES = (
    Kind(name="not applied", side=Side.STORE, meet=_plainly(_store_down)),
    Kind(name="applied, no answer", side=Side.STORE, meet=_plainly(_store_silent), writes_only=True),
    Kind(name="answer lost once", side=Side.STORE, meet=_plainly(_reply_lost), writes_only=True),
    Kind(name="down from here", side=Side.STORE, meet=_from_here(_store_down), writes_only=True),
    Kind(name="applied, then down", side=Side.STORE, meet=_from_here(_store_silent), writes_only=True),
)

CONNECT_TROUBLES = (
    Kind(name="answer lost", side=Side.CONNECT, meet=_planted(FaultEffect.LOSE_REPLY)),
    Kind(name="late", side=Side.CONNECT, meet=_on_its_way(), writes_only=True),
    Kind(name="last of all", side=Side.CONNECT, meet=_on_its_way(last=True), writes_only=True),
    Kind(name="409 once", side=Side.CONNECT, meet=_planted(FaultEffect.REBALANCE), writes_only=True),
    Kind(name="409", side=Side.CONNECT, meet=_planted(FaultEffect.REBALANCE, always=True), writes_only=True),
    Kind(name="500", side=Side.CONNECT, meet=_planted(FaultEffect.TIMED_OUT, always=True)),
    Kind(name="500, applied", side=Side.CONNECT, meet=_planted(FaultEffect.TIMED_OUT_APPLIED), writes_only=True),
    Kind(name="HTML 404", side=Side.CONNECT, meet=_planted(FaultEffect.NOT_READY)),
    Kind(name="garbage", side=Side.CONNECT, meet=_planted(FaultEffect.GARBAGE), writes_only=True),
    Kind(name="refused", side=Side.CONNECT, meet=_plainly(_refused)),
    Kind(name="down from here", side=Side.CONNECT, meet=_from_here(_refused)),
)
KINDS = (*CRASHES, *STORE_TROUBLES, *CONNECT_TROUBLES)
