from collections.abc import Callable

import pytest

from chalicelib.clients.connect.client import MAX_ATTEMPTS, AlreadyExists, Connect, OutcomeUnknown
from chalicelib.errors import Invalid, NotFound, Rejected, Unavailable
from chalicelib.kit.clock import Deadline
from infra.local.process.ports import free_port
from tests.support.apps.connect_worker import (
    CONFIG,
    NAME,
    SECRET,
    Reply,
    Worker,
    connect_at,
    html,
    refusal,
    reset,
    short_deadline,
    silence,
)

Write = Callable[[Connect, Deadline], object]
WRITES: dict[str, tuple[str, str, Write]] = {
    "create": ("POST", "/connectors", lambda c, d: c.create_stopped(NAME, CONFIG, d)),
    "put_config": ("PUT", f"/connectors/{NAME}/config", lambda c, d: c.put_config(NAME, CONFIG, d)),
    "pause": ("PUT", f"/connectors/{NAME}/pause", lambda c, d: c.pause(NAME, d)),
    "resume": ("PUT", f"/connectors/{NAME}/resume", lambda c, d: c.resume(NAME, d)),
    "stop": ("PUT", f"/connectors/{NAME}/stop", lambda c, d: c.stop(NAME, d)),
    "restart": (
        "POST",
        f"/connectors/{NAME}/restart?includeTasks=true&onlyFailed=false",
        lambda c, d: c.restart(NAME, d),
    ),
    "restart_failed": (
        "POST",
        f"/connectors/{NAME}/restart?includeTasks=true&onlyFailed=true",
        lambda c, d: c.restart_failed(NAME, d),
    ),
    "restart_task": ("POST", f"/connectors/{NAME}/tasks/3/restart", lambda c, d: c.restart_task(NAME, 3, d)),
    "delete": ("DELETE", f"/connectors/{NAME}", lambda c, d: c.delete(NAME, d)),
}
writes = pytest.mark.parametrize("write", WRITES)


@writes
def test_a_change_is_made_with_one_request(connect: Connect, worker: Worker, write: str) -> None:
    method, path, call = WRITES[write]
    worker.on(method, path, Reply(201 if write == "create" else 204))
    call(connect, short_deadline())
    assert worker.count(method, path) == 1


UNKNOWN = [
    *(pytest.param(refusal(status), id=f"error {status}") for status in (500, 502, 503, 504, 408)),
    pytest.param(Reply(after=reset), id="lost answer"),
    pytest.param(html(200, "<html>please sign in</html>"), id="page"),
]


@writes
@pytest.mark.parametrize("reply", UNKNOWN)
def test_without_a_definite_answer_the_outcome_is_unknown_and_nothing_is_repeated(
    connect: Connect, worker: Worker, write: str, reply: Reply
) -> None:
    method, path, call = WRITES[write]
    worker.on(method, path, reply)
    with pytest.raises(OutcomeUnknown) as raised:
        call(connect, short_deadline())
    assert raised.value.code == "UPSTREAM_TIMEOUT"
    assert SECRET not in raised.value.message
    assert worker.count(method, path) == 1


@writes
def test_a_late_answer_leaves_the_outcome_unknown(connect: Connect, worker: Worker, write: str) -> None:
    method, path, call = WRITES[write]
    worker.on(method, path, Reply(after=silence(worker)))
    with pytest.raises(OutcomeUnknown):
        call(connect, short_deadline(0.3))
    assert worker.count(method, path) == 1


@writes
@pytest.mark.parametrize("reply", [html(404), html(401), html(403), html(400), Reply(302), refusal(401), refusal(403)])
def test_what_connect_never_processed_changed_nothing(
    connect: Connect, worker: Worker, write: str, reply: Reply
) -> None:
    method, path, call = WRITES[write]
    worker.on(method, path, reply)
    with pytest.raises(Unavailable):
        call(connect, short_deadline())
    assert worker.count(method, path) == 1


@writes
def test_a_refused_connection_changed_nothing(write: str) -> None:
    client = connect_at(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(Unavailable):
        WRITES[write][2](client, short_deadline())
    client.close()


@writes
def test_without_time_nothing_is_sent(connect: Connect, worker: Worker, write: str) -> None:
    with pytest.raises(Unavailable):
        WRITES[write][2](connect, Deadline.after(0))
    assert worker.seen == []


@pytest.mark.parametrize("write", [name for name in WRITES if name not in ("create", "delete", "put_config")])
def test_changing_what_does_not_exist_is_not_found(connect: Connect, worker: Worker, write: str) -> None:
    method, path, call = WRITES[write]
    worker.on(method, path, refusal(404))
    with pytest.raises(NotFound):
        call(connect, short_deadline())


@writes
def test_any_other_refusal_is_a_rejection(connect: Connect, worker: Worker, write: str) -> None:
    method, path, call = WRITES[write]
    worker.on(method, path, refusal(405))
    with pytest.raises(Rejected) as raised:
        call(connect, short_deadline())
    assert raised.value.code == "CONNECT_REJECTED"
    assert SECRET not in raised.value.message


def test_deleting_reports_whether_it_existed(connect: Connect, worker: Worker) -> None:
    worker.on("DELETE", f"/connectors/{NAME}", Reply(204), refusal(404))
    assert connect.delete(NAME, short_deadline()) is True
    assert connect.delete(NAME, short_deadline()) is False


@pytest.mark.parametrize("write", [name for name in WRITES if name != "create"])
def test_a_rebalancing_worker_is_asked_again(connect: Connect, worker: Worker, write: str) -> None:
    method, path, call = WRITES[write]
    worker.on("GET", f"/connectors/{NAME}/config", Reply(body={"other": "config"}))
    worker.on(method, path, refusal(409), Reply(204))
    call(connect, short_deadline())
    assert worker.count(method, path) == 2


@writes
def test_a_rebalance_without_end_leaves_the_outcome_unknown(connect: Connect, worker: Worker, write: str) -> None:
    method, path, call = WRITES[write]
    worker.on("GET", f"/connectors/{NAME}/config", refusal(404))
    worker.on(method, path, refusal(409))
    with pytest.raises(OutcomeUnknown):
        call(connect, short_deadline())
    assert worker.count(method, path) == MAX_ATTEMPTS


def test_after_a_rebalance_a_worker_that_is_gone_leaves_the_outcome_unknown(connect: Connect, worker: Worker) -> None:
    worker.on("PUT", f"/connectors/{NAME}/pause", refusal(409), html(503))
    with pytest.raises(OutcomeUnknown):
        connect.pause(NAME, short_deadline())


def test_a_config_that_was_written_despite_the_409_is_not_written_again(connect: Connect, worker: Worker) -> None:
    worker.on("PUT", f"/connectors/{NAME}/config", refusal(409))
    worker.on("GET", f"/connectors/{NAME}/config", Reply(body={**CONFIG, "name": NAME}))
    connect.put_config(NAME, CONFIG, short_deadline())
    assert worker.count("PUT", f"/connectors/{NAME}/config") == 1


def test_a_connector_is_created_stopped(connect: Connect, worker: Worker) -> None:
    worker.on("POST", "/connectors", Reply(201, {"name": NAME}))
    connect.create_stopped(NAME, CONFIG, short_deadline())
    assert worker.bodies[-1] == {"name": NAME, "config": {**CONFIG, "name": NAME}, "initial_state": "STOPPED"}


@pytest.mark.parametrize("version", ["3.6.2", "7.6.1-ce", "unheard-of"])
def test_an_older_connect_creates_it_and_stops_it(connect: Connect, worker: Worker, version: str) -> None:
    worker.on("GET", "/", Reply(body={"version": version}))
    worker.on("POST", "/connectors", Reply(201))
    worker.on("PUT", f"/connectors/{NAME}/stop", Reply(204))
    connect.create_stopped(NAME, CONFIG, short_deadline())
    assert worker.seen[1:] == [("POST", "/connectors"), ("PUT", f"/connectors/{NAME}/stop")]
    assert "initial_state" not in worker.bodies[1]


@pytest.mark.parametrize("reply", [html(404), refusal(404), refusal(500)])
def test_created_and_perhaps_not_stopped_is_an_unknown_outcome(connect: Connect, worker: Worker, reply: Reply) -> None:
    worker.on("GET", "/", Reply(body={"version": "3.4.0"}))
    worker.on("POST", "/connectors", Reply(201))
    worker.on("PUT", f"/connectors/{NAME}/stop", reply)
    with pytest.raises(OutcomeUnknown):
        connect.create_stopped(NAME, CONFIG, short_deadline())


def test_a_name_that_is_taken_is_found_by_a_read(connect: Connect, worker: Worker) -> None:
    worker.on("POST", "/connectors", refusal(409, "whatever it says"))
    worker.on("GET", f"/connectors/{NAME}/config", Reply(body={"name": NAME}))
    with pytest.raises(AlreadyExists) as raised:
        connect.create_stopped(NAME, CONFIG, short_deadline())
    assert raised.value.code == "CONNECTOR_NAME_CONFLICT"
    assert worker.count("POST", "/connectors") == 1


def test_a_rebalance_during_create_is_waited_out(connect: Connect, worker: Worker) -> None:
    worker.on("POST", "/connectors", refusal(409, "Connector x already exists"), Reply(201))
    worker.on("GET", f"/connectors/{NAME}/config", refusal(404))
    connect.create_stopped(NAME, CONFIG, short_deadline())
    assert worker.count("POST", "/connectors") == 2


def test_a_409_whose_cause_cannot_be_read_leaves_the_outcome_unknown(connect: Connect, worker: Worker) -> None:
    worker.on("POST", "/connectors", refusal(409))
    worker.on("GET", f"/connectors/{NAME}/config", html(404))
    with pytest.raises(OutcomeUnknown):
        connect.create_stopped(NAME, CONFIG, short_deadline())
    assert worker.count("POST", "/connectors") == 1


REFUSED = f"""Connector configuration is invalid and contains the following 3 error(s):
Missing required configuration "database.hostname" which has no default value.
Error while validating connector config: FATAL: password authentication failed for user "{SECRET}"
The {SECRET} is odd
You can also find the above list of errors at the endpoint `/connector-plugins/{{connectorType}}/config/validate`"""


@pytest.mark.parametrize("write", ["create", "put_config"])
def test_a_refused_config_is_reported_in_our_words(connect: Connect, worker: Worker, write: str) -> None:
    method, path, call = WRITES[write]
    worker.on(method, path, refusal(400, REFUSED))
    with pytest.raises(Invalid) as raised:
        call(connect, short_deadline())
    assert raised.value.code == "CONNECTOR_CONFIG_INVALID"
    (error,) = raised.value.details["errors"]  # type: ignore[call-overload]
    assert error["field"] == "database.hostname"
    assert error["messages"] == [
        "A value is required.",
        "The source refuses the user name or password. Check them, store the right ones and restart.",
    ]
    assert SECRET not in str(raised.value.details)


def test_a_refusal_with_an_unknown_text_is_still_a_refusal(connect: Connect, worker: Worker) -> None:
    worker.on("POST", "/connectors", refusal(400))
    with pytest.raises(Invalid) as raised:
        connect.create_stopped(NAME, CONFIG, short_deadline())
    assert raised.value.details == {"errors": [{"field": "config", "messages": ["The connector refuses this value."]}]}
