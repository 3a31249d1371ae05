from contextlib import suppress
from typing import Any

import pytest

from chalicelib.clients.connect.client import Connect, FieldError
from chalicelib.errors import Unavailable
from tests.support.apps.connect_worker import (
    HOSTILE,
    NAME,
    READS,
    SECRET,
    VALIDATE,
    Reply,
    Worker,
    short_deadline,
    status_body,
    validate,
    validated,
)

reads = pytest.mark.parametrize("read", READS)


@reads
@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: repr(body)[:20])
def test_an_answer_of_any_shape_is_unavailable_or_empty_but_never_a_crash(
    connect: Connect, worker: Worker, read: str, body: Any
) -> None:
    path, call = READS[read]
    worker.on("GET", path, Reply(body=body))
    worker.on("GET", f"/connectors/{NAME}/config", Reply(body=body))
    found: object = None
    with suppress(Unavailable):
        found = call(connect, short_deadline())
    assert "text" not in repr(found)


def test_unknown_words_in_a_status_are_not_passed_on(connect: Connect, worker: Worker) -> None:
    body = status_body(SECRET, SECRET)
    body["connector"]["worker_id"] = f"{SECRET}\n<script>"
    worker.on("GET", f"/connectors/{NAME}/status", Reply(body=body))
    status = connect.find_status(NAME, short_deadline())
    assert status is not None
    assert (status.state, status.worker_id) == ("UNKNOWN", None)
    assert SECRET not in repr(status)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        7,
        {},
        {"status": None},
        {"status": {"connector": []}},
        {"status": {"connector": {}, "tasks": [{"id": "0"}]}},
        {"status": {"connector": {}, "tasks": [{"id": True}]}},
        {"status": {"connector": {}, "tasks": [7]}},
        {"status": {"connector": {}, "tasks": [{"id": 1}] * 5000}},
    ],
)
def test_one_unreadable_entry_does_not_hide_others_and_is_not_absent(
    connect: Connect, worker: Worker, bad: Any
) -> None:
    body = {"bad": bad, "good": {"status": status_body("RUNNING", "RUNNING")}}
    worker.on("GET", "/connectors?expand=status", Reply(body=body))
    assert {name: status.state for name, status in connect.statuses(short_deadline()).items()} == {
        "bad": "UNKNOWN",
        "good": "RUNNING",
    }


@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: repr(body)[:20])
def test_a_validation_of_any_shape_is_unavailable_and_never_valid(connect: Connect, worker: Worker, body: Any) -> None:
    worker.on("PUT", VALIDATE, Reply(body=body))
    with pytest.raises(Unavailable):
        validate(connect)


def test_errors_without_a_field_are_still_errors(connect: Connect, worker: Worker) -> None:
    worker.on("PUT", VALIDATE, validated(count=2))
    assert validate(connect) == (FieldError(field="config", messages=("The connector refuses this value.",)),)


def test_of_a_connector_of_others_only_words_of_known_forms_are_kept(connect: Connect, worker: Worker) -> None:
    config = {"connector.class": f"{SECRET} \n", "headgate.owner": f"{SECRET} ", "password": SECRET}
    entry = {"status": status_body("RUNNING", "FAILED", trace=SECRET, type_="unknown"), "info": {"config": config}}
    worker.on("GET", "/connectors?expand=status&expand=info", Reply(body={"theirs": entry}))
    found = connect.connectors(short_deadline())["theirs"]
    assert (found.type, found.connector_class, found.marks) == (None, None, {})
    assert found.status.tasks[0].diagnosis is not None
    assert SECRET not in repr(found)


def test_a_name_that_no_worker_accepts_hides_no_other_connector(connect: Connect, worker: Worker) -> None:
    body = {"bad\x00\ud800": {}, "good": {"status": status_body()}}
    worker.on("GET", "/connectors?expand=status&expand=info", Reply(body=body))
    found = connect.connectors(short_deadline())
    assert {name: connector.status.state for name, connector in found.items()} == {
        "bad\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}": "UNKNOWN",
        "good": "RUNNING",
    }
