"""What ticks keep of what has changed: every transition once, also when a tick crashes or is overtaken."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.domain.connectors.transitions import ConnectState, Transition
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Deadline
from chalicelib.stores.connectors import observations
from tests.faults.inspection import NO_SECRETS, connector_writes
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.log_lines import logged

READABLE, UNREADABLE = ConnectState
Change = tuple[ObservedState | ConnectState | None, ObservedState | ConnectState]
FAILED: Change = (ObservedState.RUNNING, ObservedState.FAILED)


def tick(app: InProcessApp) -> None:
    """Run a tick. A crash ends the process."""
    try:
        app.tick()
    except Crash:
        app.restart()
        app.connect.settle()
    finally:
        app.interceptor.unwatch()


def kept(app: InProcessApp, resource_type: str, resource_id: str) -> list[Change]:
    """The transitions of a resource, the oldest first."""
    read = app.services.stores.timeline.read(resource_type, resource_id, app.clock())
    changes = [event.change for event in reversed(read.events)]
    return [(change.before, change.after) for change in changes if isinstance(change, Transition)]


class Running:
    """A running pipeline that several ticks have seen."""

    def __init__(self, app: InProcessApp) -> None:
        self.app, pipeline = app, app.deployed_pipeline()
        self.id, self.connector = pipeline.id, pipeline.connector_name
        for _ in range(4):
            tick(app)
        self.before = len(kept(app, "pipeline", self.id))
        app.connect.calls.clear()

    def changes(self) -> list[Change]:
        """What was kept since."""
        return kept(self.app, "pipeline", self.id)[self.before :]


def test_each_change_is_kept_once(app: InProcessApp) -> None:
    running = Running(app)
    for _ in range(2):
        tick(app)
    assert running.changes() == []
    app.connect.fail_task(running.connector, NO_SECRETS)
    tick(app)
    app.restart()
    tick(app)  # restarts what has failed
    tick(app)
    app.connect.drop(running.connector)
    tick(app)
    assert running.changes() == [
        FAILED,
        (ObservedState.FAILED, ObservedState.RUNNING),
        (ObservedState.RUNNING, ObservedState.NOT_DEPLOYED),
    ]


def test_an_unreadable_connect_is_kept_once_and_so_is_its_return(app: InProcessApp) -> None:
    Running(app)
    with app.connect_down():
        for _ in range(3):
            tick(app)
    for _ in range(2):
        tick(app)
    assert kept(app, "connect_cluster", app.cluster.id) == [(READABLE, UNREADABLE), (UNREADABLE, READABLE)]


def test_an_overtaken_tick_keeps_nothing(app: InProcessApp) -> None:
    running, other = Running(app), app._new_process().tick
    app.connect.fail_task(running.connector, NO_SECRETS)

    def run_the_other_tick(point: Point, call: InterceptedCall) -> object:
        answer = call()
        if (point.side, point.operation) == (Side.CONNECT, "GET /connectors"):
            app.interceptor.unwatch()
            other.run(app.cluster.id, Deadline.after(25))
        return answer

    app.interceptor.watch(run_the_other_tick)
    tick(app)
    assert running.changes() == [FAILED]


def test_transitions_of_a_storm_that_cannot_be_kept_do_not_stop_the_tick(
    app: InProcessApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that do not fit into the transaction of the head are written after it."""
    running = Running(app)
    monkeypatch.setattr("chalicelib.services.monitors.tick.TRANSITIONS_WITH_HEAD", 0)
    assert observations.TRANSITIONS_WITH_HEAD > 0

    def refuse(point: Point, call: InterceptedCall) -> object:
        if point.operation == "BatchWriteItem":
            raise EndpointConnectionError(endpoint_url="https://dynamodb.example.com")
        return call()

    app.connect.fail_task(running.connector, NO_SECRETS)
    app.interceptor.watch(refuse)
    tick(app)
    assert running.changes() == []
    tick(app)
    assert connector_writes(app) == [("POST", f"/connectors/{running.connector}/restart")]
    tick(app)
    assert running.changes() == [(ObservedState.FAILED, ObservedState.RUNNING)]


def pause_by_hand(app: InProcessApp, name: str) -> None:
    httpx.put(f"{app.connect.url}/connectors/{name}/pause", trust_env=False).raise_for_status()


ExternalChange = Callable[[InProcessApp, str], None]
EXTERNAL_CHANGES: tuple[tuple[str, ExternalChange, ObservedState], ...] = (
    ("fails", lambda app, name: app.connect.fail_task(name, NO_SECRETS), ObservedState.FAILED),
    ("is lost", lambda app, name: app.connect.drop(name), ObservedState.NOT_DEPLOYED),
    ("is paused", pause_by_hand, ObservedState.PAUSED),
)
"""Name, change of a connector without Headgate, and the state that has to be published."""


@pytest.mark.parametrize("applied", [False, True], ids=["before the call", "after the call"])
@pytest.mark.parametrize(
    ("change", "state"), [one[1:] for one in EXTERNAL_CHANGES], ids=[one[0] for one in EXTERNAL_CHANGES]
)
def test_a_tick_that_crashes_at_any_call_loses_no_transition_and_keeps_none_twice(
    app: InProcessApp, change: ExternalChange, state: ObservedState, applied: bool
) -> None:
    running = Running(app)
    snapshot = app.snapshot()
    for number in range(50):
        app.restore(snapshot)
        change(app, running.connector)
        crashes = crash_at(app, number, applied=applied)
        for _ in range(2):
            tick(app)
        kept_changes, back = running.changes(), (state, ObservedState.RUNNING)
        assert kept_changes in ([(ObservedState.RUNNING, state)], [(ObservedState.RUNNING, state), back]), number
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
    app.tick(times=3)
    app.connect.fail_task(pipeline.connector_name, f"{NO_SECRETS} hunter2")
    with logged() as lines:
        app.tick()
    written: list[dict[str, Any]] = [json.loads(line) for line in lines.getvalue().splitlines()]
    (one,) = [line for line in written if line["message"] == "observed state changed"]
    assert (one["resource_type"], one["resource_id"]) == ("pipeline", pipeline.id)
    assert (one["before"], one["after"], one["kinds"]) == ("RUNNING", "FAILED", ["CDC_CONNECTOR_FAILED"])
    assert len(one["reasons"]) == 1
    assert "hunter2" not in lines.getvalue()
