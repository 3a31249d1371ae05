"""Faults that tests plant in the Connect double."""

import socket
import threading

import httpx
import pytest

from infra.local.doubles.connect import ConnectDouble
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually

Config = dict[str, str]


def test_a_lost_reply_leaves_the_call_applied(double: ConnectDouble, connect: ConnectView, sink: Config) -> None:
    double.plant(FaultEffect.LOSE_REPLY, "POST", "^/connectors$")
    with pytest.raises(httpx.RemoteProtocolError):
        connect.create(sink)
    assert double.names() == ["sink-1"]
    assert connect.create(sink).status_code == 409


def test_a_late_call_is_applied_after_its_reply_was_lost(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    double.plant(FaultEffect.APPLY_LATE, "POST", "^/connectors$", delay_seconds=0.2)
    with pytest.raises(httpx.RemoteProtocolError):
        connect.create(sink)
    eventually(double.names, lambda names: names == ["sink-1"])


@pytest.mark.parametrize(
    ("effect", "status", "applied"),
    [
        (FaultEffect.REBALANCE, 409, False),
        (FaultEffect.REBALANCE_EXPECTED, 500, False),
        (FaultEffect.TIMED_OUT, 500, False),
        (FaultEffect.TIMED_OUT_APPLIED, 500, True),
        (FaultEffect.NOT_READY, 404, False),
        (FaultEffect.GARBAGE, 200, False),
        (FaultEffect.SLOW, 201, True),
    ],
)
def test_an_effect_answers_and_applies_as_it_says(
    double: ConnectDouble, connect: ConnectView, sink: Config, effect: FaultEffect, status: int, applied: bool
) -> None:
    double.plant(effect, "POST", "^/connectors$")
    assert connect.create(sink).status_code == status
    assert double.names() == (["sink-1"] if applied else [])


def test_a_worker_that_is_not_ready_answers_in_html(double: ConnectDouble, connect: ConnectView) -> None:
    double.plant(FaultEffect.NOT_READY)
    answer = connect.call("GET", "/connectors/sink-1")
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "Error 404" in answer.text


def test_a_rebalance_has_another_message_than_an_existing_name(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    connect.create(sink)
    exists = connect.create(sink).json()["message"]
    double.plant(FaultEffect.REBALANCE)
    assert "rebalance" in connect.create(sink).json()["message"]
    assert exists == "Connector sink-1 already exists"


def test_a_fault_meets_only_the_calls_that_it_means(double: ConnectDouble, connect: ConnectView, sink: Config) -> None:
    fault = double.plant(FaultEffect.TIMED_OUT, "PUT", "/pause$", times=2, skip=1)
    connect.create(sink)
    answers = [connect.call("PUT", "/connectors/sink-1/pause").status_code for _ in range(4)]
    assert answers == [202, 500, 500, 202]
    assert fault.met == 2


def test_a_hanging_call_ends_without_answer_when_it_is_released(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    fault = double.plant(FaultEffect.HANG, "POST", "^/connectors$")
    ended: list[str] = []

    def call() -> None:
        try:
            connect.create(sink)
        except httpx.RemoteProtocolError:
            ended.append("without answer")

    caller = threading.Thread(target=call)
    caller.start()
    eventually(lambda: fault.met, lambda met: met == 1)
    assert ended == []
    fault.release()
    caller.join()
    assert (ended, double.names()) == (["without answer"], [])


def test_a_double_that_refuses_cuts_open_connections_too(double: ConnectDouble, connect: ConnectView) -> None:
    assert connect.call("GET", "/").status_code == 200
    double.refuse()
    with pytest.raises(httpx.TransportError):
        connect.call("GET", "/")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(double.url.rpartition(":")[2])))
    double.accept()
    assert connect.call("GET", "/").status_code == 200


def test_every_call_is_written_down(double: ConnectDouble, connect: ConnectView, sink: Config) -> None:
    connect.create(sink)
    double.plant(FaultEffect.LOSE_REPLY, "PUT")
    with pytest.raises(httpx.RemoteProtocolError):
        connect.call("PUT", "/connectors/sink-1/pause")
    connect.call("GET", "/connectors?expand=status")
    noted = [(call.method, call.path, call.query, call.status) for call in double.calls.calls()]
    assert noted == [
        ("POST", "/connectors", "", 201),
        ("PUT", "/connectors/sink-1/pause", "", None),
        ("GET", "/connectors", "expand=status", 200),
    ]
    assert double.calls.by_kind()["PUT", "/connectors/{name}/pause"] == 1
    assert double.calls.count("GET") == 1
    double.calls.clear()
    assert double.calls.count() == 0


def test_a_failed_task_shows_its_planted_trace_until_a_restart(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    connect.run(sink)
    hostile = 'org.example.Failure: password "s3cret" refused\n\tat <script>alert(1)</script>'
    double.fail_task("sink-1", hostile)
    connect.wait_for_states("sink-1", "RUNNING", "FAILED")
    assert connect.trace("sink-1") == hostile
    connect.call("POST", "/connectors/sink-1/restart?includeTasks=true&onlyFailed=true")
    connect.wait_for_states("sink-1", "RUNNING", "RUNNING")


def test_a_task_can_fail_again_after_restarts(double: ConnectDouble, connect: ConnectView, sink: Config) -> None:
    connect.run(sink)
    double.fail_task("sink-1", "first", failing_restarts=1)
    connect.call("POST", "/connectors/sink-1/tasks/0/restart")
    eventually(lambda: double.failing_restarts_left("sink-1"), lambda remaining: remaining == 0)
    connect.wait_for_states("sink-1", "RUNNING", "FAILED")
    connect.call("POST", "/connectors/sink-1/tasks/0/restart")
    connect.wait_for_states("sink-1", "RUNNING", "RUNNING")


def test_a_state_can_be_written_straight_into_the_status(
    double: ConnectDouble, connect: ConnectView, sink: Config
) -> None:
    connect.create(sink)
    connect.wait_for_states("sink-1", "STOPPED")
    double.show("sink-1", "UNASSIGNED")
    double.show("sink-1", "RESTARTING", task=0)
    assert connect.states("sink-1") == ("UNASSIGNED", ["RESTARTING"])
