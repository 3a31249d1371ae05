"""What ticks publish: every transition once, and at least once when a tick crashes or is overtaken."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from chalicelib.domain.observation import ObservedState
from chalicelib.domain.reconcile.transitions import ConnectState, Transition
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_traces import secrets_trace
from tests.faults.inspection import connector_writes
from tests.support.call_interceptor import Crash, InterceptedCall, Point, Side
from tests.support.edge import logged
from tests.support.in_process_app import InProcessApp

NO_SECRETS = secrets_trace("Headgate gave no answer for secret 0: status 503")
Change = tuple[str | None, ObservedState | ConnectState | None, ObservedState | ConnectState]


@dataclass
class Consumer:
    """Records published transitions. `before_receiving` runs before that, `after_receiving` afterwards."""

    received: list[Transition] = field(default_factory=list)
    before_receiving: Callable[[], None] = lambda: None
    after_receiving: Callable[[], None] = lambda: None

    def __call__(self, cluster_id: str, transitions: Sequence[Transition]) -> None:
        self.before_receiving()
        self.received += transitions
        self.after_receiving()

    def taken(self) -> list[Change]:
        """What was received since the last call."""
        changes: list[Change] = [(one.connector, one.before, one.after) for one in self.received]
        self.received.clear()
        return changes


def tick(app: InProcessApp, consumer: Consumer, *, after: float = 10) -> None:
    """Run a tick whose transitions go to the consumer. A crash ends the process."""
    app.clock.advance(after)
    app.connect.settle()
    try:
        replace(app.services.tick, consumers=(consumer,)).run(app.cluster.id, Deadline.after(25))
    except Crash:
        app.restart()
    finally:
        app.interceptor.unwatch()
    app.connect.settle()


def running_connector(app: InProcessApp) -> tuple[str, Consumer]:
    """The name of a running connector, and the consumer, which has received all earlier transitions."""
    name, consumer = app.deployed_pipeline().connector_name, Consumer()
    for _ in range(4):
        tick(app, consumer)
    consumer.received.clear()
    app.connect.calls.clear()
    return name, consumer


def crash() -> None:
    raise Crash


def degraded(name: str) -> Change:
    return name, ObservedState.RUNNING, ObservedState.DEGRADED


def test_each_change_is_published_once(app: InProcessApp) -> None:
    name, consumer = running_connector(app)
    for _ in range(2):
        tick(app, consumer)
    assert consumer.taken() == []
    app.connect.fail_task(name, NO_SECRETS)
    tick(app, consumer)
    assert consumer.taken() == [degraded(name)]
    app.restart()
    tick(app, consumer)  # restarts what has failed
    tick(app, consumer)
    assert consumer.taken() == [(name, ObservedState.DEGRADED, ObservedState.RUNNING)]
    app.connect.drop(name)
    tick(app, consumer)
    assert consumer.taken() == [(name, ObservedState.RUNNING, ObservedState.NOT_DEPLOYED)]


def test_an_unreadable_connect_is_published_once_and_so_is_its_return(app: InProcessApp) -> None:
    _, consumer = running_connector(app)
    app.connect.refuse()
    try:
        for _ in range(3):
            tick(app, consumer)
    finally:
        app.connect.accept()
    assert consumer.taken() == [(None, ConnectState.READABLE, ConnectState.UNREADABLE)]
    for _ in range(2):
        tick(app, consumer)
    assert consumer.taken() == [(None, ConnectState.UNREADABLE, ConnectState.READABLE)]


def test_transitions_that_were_stored_and_not_published_are_published_by_the_next_tick(app: InProcessApp) -> None:
    name, consumer = running_connector(app)
    app.connect.fail_task(name, NO_SECRETS, failing_restarts=99)
    tick(app, Consumer(before_receiving=crash))
    for _ in range(2):
        tick(app, consumer)
    assert consumer.taken() == [degraded(name)]


def test_unpublished_transitions_are_published_while_connect_cannot_be_read(app: InProcessApp) -> None:
    name, consumer = running_connector(app)
    app.connect.fail_task(name, NO_SECRETS)
    tick(app, Consumer(before_receiving=crash))
    app.connect.refuse()
    try:
        tick(app, consumer)
    finally:
        app.connect.accept()
    assert consumer.taken() == [degraded(name), (None, ConnectState.READABLE, ConnectState.UNREADABLE)]


def test_transitions_that_were_published_and_not_removed_are_published_again(app: InProcessApp) -> None:
    name, consumer = running_connector(app)
    app.connect.fail_task(name, NO_SECRETS, failing_restarts=99)
    tick(app, replace(consumer, after_receiving=crash))
    assert consumer.taken() == [degraded(name)]
    for _ in range(2):
        tick(app, consumer)
    assert consumer.taken() == [degraded(name)]


def test_an_overtaken_tick_publishes_nothing(app: InProcessApp) -> None:
    name, consumer = running_connector(app)
    faster, other = Consumer(), replace(app._new_process().tick, consumers=())
    app.connect.fail_task(name, NO_SECRETS)

    def run_the_other_tick(point: Point, call: InterceptedCall) -> object:
        answer = call()
        if (point.side, point.operation) == (Side.CONNECT, "GET /connectors"):
            app.interceptor.unwatch()
            replace(other, consumers=(faster,)).run(app.cluster.id, Deadline.after(25))
        return answer

    app.interceptor.watch(run_the_other_tick)
    tick(app, consumer)
    assert faster.taken() == [degraded(name)]
    assert consumer.taken() == []
    tick(app, consumer)
    assert consumer.taken() == []


def test_a_consumer_that_fails_is_called_again_and_does_not_stop_repairs(app: InProcessApp) -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    name, consumer = running_connector(app)
    app.connect.fail_task(name, NO_SECRETS)
    for _ in range(2):
        tick(app, Consumer(before_receiving=fail))
    assert connector_writes(app) == [("POST", f"/connectors/{name}/restart")]
    tick(app, consumer)
    assert consumer.taken() == [degraded(name), (name, ObservedState.DEGRADED, ObservedState.RUNNING)]


def pause_by_hand(app: InProcessApp, name: str) -> None:
    httpx.put(f"{app.connect.url}/connectors/{name}/pause", trust_env=False).raise_for_status()


ExternalChange = Callable[[InProcessApp, str], None]
EXTERNAL_CHANGES: tuple[tuple[str, ExternalChange, ObservedState], ...] = (
    ("fails", lambda app, name: app.connect.fail_task(name, NO_SECRETS), ObservedState.DEGRADED),
    ("is lost", lambda app, name: app.connect.drop(name), ObservedState.NOT_DEPLOYED),
    ("is paused", pause_by_hand, ObservedState.PAUSED),
)
"""Name, change of a connector without Headgate, and the state that has to be published."""


@pytest.mark.parametrize("applied", [False, True], ids=["before the call", "after the call"])
@pytest.mark.parametrize(
    ("change", "state"), [one[1:] for one in EXTERNAL_CHANGES], ids=[one[0] for one in EXTERNAL_CHANGES]
)
def test_a_tick_that_crashes_at_any_call_loses_no_transition(
    app: InProcessApp, change: ExternalChange, state: ObservedState, applied: bool
) -> None:
    """This tick, the next one or both publish it."""
    name, consumer = running_connector(app)
    kept = app.snapshot()
    for number in range(50):
        app.restore(kept)
        change(app, name)
        crashes = crash_at(app, number, applied=applied)
        for _ in range(2):
            tick(app, consumer)
        found = [one for one in consumer.taken() if one[0] == name]
        assert found in ([(name, ObservedState.RUNNING, state)] * times for times in (1, 2)), number
        if not crashes:
            break
    assert 3 < number < 50


def crash_at(app: InProcessApp, number: int, *, applied: bool) -> list[Point]:
    """Crash at the call with this number, before or after it was `applied`. Returns the points of the crashes."""
    crashes: list[Point] = []

    def crash_there(point: Point, call: InterceptedCall) -> object:
        if point.number != number:
            return call()
        crashes.append(point)
        if applied:
            call()
        raise Crash

    app.interceptor.watch(crash_there)
    return crashes


def test_a_transition_is_one_log_line(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    for _ in range(3):
        app.tick()
    app.connect.fail_task(pipeline.connector_name, f"{NO_SECRETS} hunter2")
    with logged() as lines:
        app.tick()
    written: list[dict[str, Any]] = [json.loads(line) for line in lines.getvalue().splitlines()]
    (one,) = [line for line in written if line["message"] == "observed state changed"]
    assert (one["resource_type"], one["resource_id"]) == ("pipeline", pipeline.id)
    assert (one["before"], one["after"], one["kinds"]) == ("RUNNING", "DEGRADED", ["CDC_CONNECTOR_FAILED"])
    assert len(one["reasons"]) == 1
    assert "hunter2" not in lines.getvalue()
