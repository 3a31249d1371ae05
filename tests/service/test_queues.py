"""Messages of the dispatcher: ten in a call, and what the queue refuses for now is sent again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.clients.queue import SOURCE_CHECKS, TICKS, DelayedMessage
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.log import log_context
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.queues import received


def messages(count: int, delay: int = 0) -> list[DelayedMessage]:
    return [({"cluster_id": str(number)}, delay) for number in range(count)]


@contextmanager
def batches(app: InProcessApp, *answers: Any) -> Iterator[list[Point]]:
    """The first batches get these answers, None: the queue's own. Yields the batches that were sent, at the end."""
    scripted, sent = list(answers), list[Point]()

    def answer(point: Point, call: InterceptedCall) -> object:
        if point.operation != "SendMessageBatch":
            return call()
        sent.append(point)
        chosen = scripted.pop(0) if scripted else None
        return call() if chosen is None else chosen

    app.interceptor.watch(answer)
    try:
        yield sent
    finally:
        app.interceptor.unwatch()


def answered(failed: dict[str, bool], *, count: int = 10) -> tuple[int, dict[str, str], bytes]:
    """The answer to a batch of which some were refused: by their number, and whether the sender is to blame."""
    done = [{"Id": str(number), "MessageId": "m"} for number in range(count) if str(number) not in failed]
    refused = [{"Id": number, "SenderFault": blamed, "Code": "Refused"} for number, blamed in failed.items()]
    return 200, {"x-amzn-RequestId": "r"}, json.dumps({"Successful": done, "Failed": refused}).encode()


def test_ten_messages_are_one_call(app: InProcessApp) -> None:
    with batches(app) as sent:
        assert app.services.queues.send_all_due(TICKS, messages(25), Deadline.after(5)) == 25
    assert len(sent) == 3
    assert sorted(int(body["cluster_id"]) for body in received(TICKS)) == list(range(25))


def test_what_the_queue_refuses_for_now_is_sent_again_and_nothing_else(app: InProcessApp) -> None:
    with batches(app, answered({"3": False, "4": True})) as sent:
        taken = app.services.queues.send_all_due(TICKS, messages(10), Deadline.after(5))
    assert (taken, len(sent)) == (9, 2)
    assert [body["cluster_id"] for body in received(TICKS)] == ["3"]


def test_a_batch_that_is_refused_again_and_again_does_not_stop_the_next_one(app: InProcessApp) -> None:
    refused = (503, {"x-amzn-RequestId": "r"}, b"{}")
    with batches(app, *[refused] * 6):  # the SDK asks twice each time
        taken = app.services.queues.send_all_due(TICKS, messages(20), Deadline.after(5))
    assert taken == 10
    assert sorted(int(body["cluster_id"]) for body in received(TICKS)) == list(range(10, 20))


def test_a_message_says_when_it_is_due(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chalicelib.clients.queue.utc_now", app.clock)
    body = {"source_id": "s"}
    app.services.queues.send_all_due(SOURCE_CHECKS, [(body, 0), (body, 1)], Deadline.after(5))
    seen = set[str]()
    while len(seen) < 2:  # the second becomes visible after its second
        seen |= {found["due_at"] for found in received(SOURCE_CHECKS)}
    assert seen == {rfc3339(app.clock.now + timedelta(seconds=delay)) for delay in (0, 1)}


def test_the_correlation_id_of_a_request_goes_with_its_message(app: InProcessApp) -> None:
    with log_context(correlation_id="from-the-browser"):
        app.services.queues.send("jobs", {"job_id": "j"})
    app.services.queues.send("jobs", {"job_id": "k"})
    assert received("jobs") == [{"job_id": "j", "correlation_id": "from-the-browser"}, {"job_id": "k"}]
