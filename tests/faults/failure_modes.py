"""Faults: what can go wrong at one call to another system, and how a test injects it.

Eight kinds, as section 1.4 of the research on reliability lists them. A kind has several faults where systems fail in
several ways. `tests/faults/harness/matrix.py` says which kinds cannot happen at which calls.
"""

import contextvars
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

import httpx
from botocore.exceptions import BotoCoreError, ReadTimeoutError

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.errors import Unavailable
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.harness.earlier_states import EarlierStates
from tests.support.apps.call_interceptor import Crash, FailureMode, InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp


class Kind(StrEnum):
    """What happens to a call."""

    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    FAIL_BEFORE = "fail before"
    LOST_REPLY = "lost reply"
    LATE_APPLY = "late apply"
    STALE_READ = "stale read"
    DUPLICATE = "duplicate"
    PARTIAL = "partial"


class StoreDown(BotoCoreError):
    """The SDK has tried as often as it may, and gives up."""

    fmt = "no answer"


@dataclass
class DelayedCalls:
    """Requests that reach another system after their client has given up: `late`, or `last`, when everything is
    settled.

    What a fault may need besides: `again` is the same request or message once more, served by another process;
    `earlier` are the states of tables and connectors before the last writes.
    """

    late: list[Callable[[], object]] = field(default_factory=list)
    last: list[Callable[[], object]] = field(default_factory=list)
    again: Callable[[], object] = lambda: None
    earlier: EarlierStates | None = None

    def send_late(self) -> None:
        """Send those that arrive late."""
        while self.late:
            _send(self.late.pop(0))

    def send_last(self) -> bool:
        """Send those that arrive last; returns whether there were any."""
        last, self.last = self.last, []
        for call in last:
            _send(call)
        return bool(last)


def _send(call: Callable[[], object]) -> None:
    """Send a delayed request. Of two faults at one call the other one may still happen to it: nobody notices."""
    with suppress(Crash, StoreDown, ReadTimeoutError, httpx.HTTPError, DatabaseFailure, Unavailable):
        call()


Inject = Callable[[InProcessApp, Point, DelayedCalls], FailureMode | None]
Applies = Callable[[Point], bool]


@dataclass(frozen=True)
class Fault:
    """One way for a call to go wrong. `inject` prepares it for one point; it may add requests to the `DelayedCalls`.

    `applies` tells of a point of its side whether the fault can happen there, and is not the same there as another.
    """

    name: str
    kind: Kind
    side: Side
    inject: Inject
    applies: Applies = lambda _: True

    def applies_to(self, point: Point) -> bool:
        """Whether it can happen at this point, and is not the same there as another fault."""
        return point.side is self.side and self.applies(point)


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
    _close(call())
    raise Crash


def _no_answer(side: Side) -> Exception:
    """What the client of the system raises when it does not answer, and was tried as often as it may be."""
    match side:
        case Side.CONNECT:
            return httpx.ReadTimeout("no answer")
        case Side.DATABASE:
            return DatabaseFailure(FailureCode.TIMEOUT)
        case Side.KAFKA:
            return Unavailable("The brokers did not answer.", code="STREAM_UNAVAILABLE")
        case _:
            return StoreDown()


def _down(point: Point, _call: InterceptedCall) -> object:
    raise httpx.ConnectError("refused") if point.side is Side.CONNECT else _no_answer(point.side)


def _silent(point: Point, call: InterceptedCall) -> object:
    _close(call())
    raise _no_answer(point.side)


def _reply_lost(_point: Point, call: InterceptedCall) -> object:
    call()
    raise ReadTimeoutError(endpoint_url="aws")


def _partly(point: Point, call: InterceptedCall) -> object:
    return point.request.partly() if point.request else call()


def _contended(point: Point, _call: InterceptedCall) -> object:
    """Another transaction writes the same rows at this moment."""
    reasons = [{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}]
    kind = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
    body = {"__type": kind, "message": "Transaction cancelled [TransactionConflict]", "CancellationReasons": reasons}
    return 400, {}, json.dumps(body)


def _twice(_point: Point, call: InterceptedCall) -> object:
    call()
    return call()


def _close(answer: object) -> None:
    if isinstance(answer, httpx.Response):
        answer.close()


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
        def swallow(at: Point, call: InterceptedCall) -> object:
            context = contextvars.copy_context()
            queue = delayed.last if last else delayed.late
            queue.append(lambda: _close(context.run(call)))
            raise _no_answer(at.side)

        return only_at(point, swallow)

    return inject


def _outdated(*, writes_ago: int) -> Inject:
    """An index, or another worker of Connect, shows what was there before the last changes."""

    def inject(app: InProcessApp, where: Point, delayed: DelayedCalls) -> FailureMode:
        def read(point: Point, call: InterceptedCall) -> object:
            # Where a client had to ask once more, other calls follow later: a write may have the number of this read.
            if delayed.earlier is None or point.writes:
                return call()
            with delayed.earlier.shown_at(point, writes_ago):
                return call()

        return only_at(where, read)

    return inject


def _again(*, after_seconds: float = 0) -> Inject:
    """The same request or message arrives once more, and another process serves it before this call is made.

    With `after_seconds` this process was suspended for so long, and its leases have ended.
    """

    def inject(app: InProcessApp, where: Point, delayed: DelayedCalls) -> FailureMode:
        def repeat(_point: Point, call: InterceptedCall) -> object:
            with app.interceptor.unrecorded():
                app.clock.advance(after_seconds)
                delayed.again()
            return call()

        return only_at(where, repeat)

    return inject


def _writes(point: Point) -> bool:
    return point.writes


def _reads_outdated(point: Point) -> bool:
    if point.side is Side.CONNECT:
        if point.operation.endswith("/offsets"):
            return False  # a worker reads its topic of offsets to the end for each answer (KafkaOffsetBackingStore)
        return not point.writes and point.operation.startswith("GET ") and "connectors" in point.operation
    return point.request is not None and bool(point.request.outdated_tables)


def _is_divisible(point: Point) -> bool:
    return point.request is not None and point.request.divisible


def _is_transaction(point: Point) -> bool:
    return point.operation == "TransactWriteItems"


def _is_message(point: Point) -> bool:
    return point.operation in ("SendMessage", "SendMessageBatch")


PAST_EVERY_LEASE = 61

CRASHES = tuple(
    Fault(str(kind), kind, side, _once(crash), _writes)
    for side in Side
    for kind, crash in ((Kind.CRASH_BEFORE, _crash_before), (Kind.CRASH_AFTER, _crash_after))
)
"""Writes only: a crash at a read leaves the same state as a crash before the next write, or at the end."""

STORE_FAULTS = (
    Fault("not applied", Kind.FAIL_BEFORE, Side.STORE, _once(_down)),
    Fault("down from here", Kind.FAIL_BEFORE, Side.STORE, _from_then_on(_down), _writes),
    Fault("contended", Kind.FAIL_BEFORE, Side.STORE, _once(_contended), _is_transaction),
    Fault("applied, no answer", Kind.LOST_REPLY, Side.STORE, _once(_silent), _writes),
    Fault("answer lost once", Kind.LOST_REPLY, Side.STORE, _once(_reply_lost), _writes),
    Fault("applied, then down", Kind.LOST_REPLY, Side.STORE, _from_then_on(_silent), _writes),
)

PARTLY = Fault("partly", Kind.PARTIAL, Side.STORE, _once(_partly), _is_divisible)

LATER_STORE_FAULTS = (
    Fault("late", Kind.LATE_APPLY, Side.STORE, _delayed_request(), _writes),
    Fault("last of all", Kind.LATE_APPLY, Side.STORE, _delayed_request(last=True), _writes),
    PARTLY,
)

CONNECT_FAULTS = (
    Fault("refused", Kind.FAIL_BEFORE, Side.CONNECT, _once(_down)),
    Fault("down from here", Kind.FAIL_BEFORE, Side.CONNECT, _from_then_on(_down)),
    Fault("409 once", Kind.FAIL_BEFORE, Side.CONNECT, _planted_in_connect(FaultEffect.REBALANCE), _writes),
    Fault("409", Kind.FAIL_BEFORE, Side.CONNECT, _planted_in_connect(FaultEffect.REBALANCE, always=True), _writes),
    Fault("500", Kind.FAIL_BEFORE, Side.CONNECT, _planted_in_connect(FaultEffect.TIMED_OUT, always=True)),
    Fault("HTML 404", Kind.FAIL_BEFORE, Side.CONNECT, _planted_in_connect(FaultEffect.NOT_READY)),
    Fault("garbage", Kind.FAIL_BEFORE, Side.CONNECT, _planted_in_connect(FaultEffect.GARBAGE), _writes),
    Fault("answer lost", Kind.LOST_REPLY, Side.CONNECT, _planted_in_connect(FaultEffect.LOSE_REPLY)),
    Fault("500, applied", Kind.LOST_REPLY, Side.CONNECT, _planted_in_connect(FaultEffect.TIMED_OUT_APPLIED), _writes),
    Fault("late", Kind.LATE_APPLY, Side.CONNECT, _delayed_request(), _writes),
    Fault("last of all", Kind.LATE_APPLY, Side.CONNECT, _delayed_request(last=True), _writes),
)

OTHER_FAULTS = (
    *(Fault("no answer", Kind.FAIL_BEFORE, side, _once(_down)) for side in (Side.QUEUE, Side.KAFKA, Side.DATABASE)),
    *(Fault("done, no answer", Kind.LOST_REPLY, side, _once(_silent), _writes) for side in (Side.QUEUE, Side.DATABASE)),
    *(Fault("late", Kind.LATE_APPLY, side, _delayed_request(), _writes) for side in (Side.QUEUE, Side.DATABASE)),
    Fault("sent twice", Kind.DUPLICATE, Side.QUEUE, _once(_twice), _is_message),
)

STALE_READS = tuple(
    Fault(f"{writes_ago} writes ago", Kind.STALE_READ, side, _outdated(writes_ago=writes_ago), _reads_outdated)
    for side in (Side.STORE, Side.CONNECT)
    for writes_ago in (1, 3)
)

DUPLICATES = tuple(
    fault
    for side in Side
    for fault in (
        Fault("again", Kind.DUPLICATE, side, _again()),
        Fault("again, past the lease", Kind.DUPLICATE, side, _again(after_seconds=PAST_EVERY_LEASE), _writes),
    )
)

FAULTS = (*CRASHES, *STORE_FAULTS, *CONNECT_FAULTS)
"""Those that need nothing but the app: for tests with runs of their own."""

ALL_FAULTS = (*FAULTS, *LATER_STORE_FAULTS, *OTHER_FAULTS, *STALE_READS, *DUPLICATES)
