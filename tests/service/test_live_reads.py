"""Questions to a server, by callers in several processes over one store."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Barrier, Event, Lock
from typing import Any

import pytest

from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.live_reads import LEASE, LiveAnswer, LiveQuestion
from chalicelib.errors import RateLimited, ServerBusy, Unavailable
from chalicelib.services.live_reads import LiveReads
from tests.support.apps.in_process_app import START_TIME, InProcessApp

QUESTION = LiveQuestion[int](server=("db", 5432), subject=("how many",), answer=int)


@dataclass
class Server:
    """Answers with the number of the question, and counts how many it is asked at once."""

    asked: int = 0
    at_once: int = 0
    _now: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __call__(self) -> int:
        with self._lock:
            self.asked += 1
            self._now += 1
            self.at_once = max(self.at_once, self._now)
            number = self.asked
        time.sleep(0.02)
        with self._lock:
            self._now -= 1
        return number


@pytest.fixture
def server() -> Server:
    return Server()


def reads(app: InProcessApp) -> LiveReads:
    return app.services.pipelines.live_reads


def patient(reads: LiveReads) -> LiveReads:
    """It really waits."""
    return replace(reads, sleep=time.sleep)


def another_process(app: InProcessApp) -> LiveReads:
    app.restart()
    return reads(app)


@contextmanager
def being_asked(app: InProcessApp, reads: LiveReads) -> Iterator[Callable[[], None]]:
    """While another caller has the lease of the server; the value lets the server answer 100."""
    asked, may_answer, ended = Event(), Event(), Event()

    def answer() -> int:
        asked.set()
        assert may_answer.wait(30)
        return 100

    def let_answer() -> None:
        may_answer.set()
        assert ended.wait(30)

    def ask() -> None:
        reads.ask(app.context(), QUESTION, answer, fresh=True)
        ended.set()

    with ThreadPoolExecutor(1) as other:
        asking = other.submit(ask)
        try:
            assert asked.wait(30)
            yield let_answer
        finally:
            may_answer.set()
            asking.result(30)


def test_an_answer_is_shown_again_for_five_seconds_by_all_processes(app: InProcessApp, server: Server) -> None:
    first = reads(app).ask(app.context(), QUESTION, server, fresh=False)
    app.clock.advance(4)
    assert (
        another_process(app).ask(app.context(), QUESTION, server, fresh=False)
        == first
        == LiveAnswer(1, START_TIME, START_TIME)
    )
    app.clock.advance(1)
    assert reads(app).ask(app.context(), QUESTION, server, fresh=False).value == 2


def test_fresh_asks_anew(app: InProcessApp, server: Server) -> None:
    for number in (1, 2):
        assert reads(app).ask(app.context(), QUESTION, server, fresh=True).value == number


def test_an_answer_that_another_release_has_kept_is_asked_for_again(app: InProcessApp, server: Server) -> None:
    in_words = LiveQuestion[str](server=QUESTION.server, subject=QUESTION.subject, answer=str)
    assert in_words.key == QUESTION.key
    reads(app).ask(app.context(), in_words, lambda: "many", fresh=False)
    assert reads(app).ask(app.context(), QUESTION, server, fresh=False).value == 1


def test_many_callers_of_two_processes_ask_once(app: InProcessApp, server: Server) -> None:
    processes, together = (patient(reads(app)), patient(another_process(app))), Barrier(20)

    def ask(number: int) -> int:
        together.wait(30)
        return processes[number % 2].ask(app.context(), QUESTION, server, fresh=False).value

    with ThreadPoolExecutor(20) as callers:
        assert set(callers.map(ask, range(20))) == {1}
    assert server.asked == 1


@pytest.mark.parametrize("fresh", [False, True])
def test_different_questions_to_one_server_are_asked_one_at_a_time(app: InProcessApp, fresh: bool) -> None:
    together, server = Barrier(6), Server()

    def ask(number: int) -> None:
        together.wait(30)
        question = replace(QUESTION, subject=(number,))
        patient(reads(app)).ask(app.context(), question, server, fresh=fresh)

    with ThreadPoolExecutor(6) as callers:
        list(callers.map(ask, range(6)))
    assert (server.asked, server.at_once) == (6, 1)


def test_who_comes_meanwhile_gets_the_last_answer_with_its_age(app: InProcessApp, server: Server) -> None:
    reads(app).ask(app.context(), QUESTION, server, fresh=False)
    app.clock.advance(60)
    with being_asked(app, reads(app)):
        assert another_process(app).ask(app.context(), QUESTION, server, fresh=False) == LiveAnswer(
            1, START_TIME, START_TIME
        )
    assert server.asked == 1


@pytest.mark.parametrize("fresh", [False, True])
def test_without_an_answer_that_will_do_the_server_is_busy(app: InProcessApp, server: Server, fresh: bool) -> None:
    if fresh:
        reads(app).ask(app.context(), QUESTION, server, fresh=False)
    with being_asked(app, reads(app)), pytest.raises(ServerBusy) as refused:
        another_process(app).ask(app.context(), QUESTION, server, fresh=fresh)
    assert (refused.value.code, refused.value.retry_after_seconds) == ("TRY_AGAIN", 2)


def test_who_waits_gets_the_answer_of_the_other(app: InProcessApp, server: Server) -> None:
    with being_asked(app, reads(app)) as let_answer:
        waiting = replace(reads(app), sleep=lambda _seconds: let_answer())
        assert waiting.ask(app.context(), QUESTION, server, fresh=False).value == 100
    assert server.asked == 0


def test_the_lease_of_a_caller_that_died_ends(app: InProcessApp, server: Server) -> None:
    assert reads(app).store.leases.take(QUESTION.lease_key, app.clock())
    with pytest.raises(ServerBusy):
        reads(app).ask(app.context(), QUESTION, server, fresh=False)
    app.clock.advance(LEASE.total_seconds())
    assert reads(app).ask(app.context(), QUESTION, server, fresh=False).value == 1


def test_an_error_is_raised_to_its_caller_and_the_next_one_asks(app: InProcessApp, server: Server) -> None:
    def fail() -> int:
        raise Unavailable("away")

    with pytest.raises(Unavailable):
        reads(app).ask(app.context(), QUESTION, fail, fresh=False)
    assert reads(app).ask(app.context(), QUESTION, server, fresh=False).value == 1


def test_a_user_asks_servers_so_often_in_a_minute_and_reads_what_is_known_without_limit(
    app: InProcessApp, server: Server
) -> None:
    limited = replace(reads(app), limits=replace(reads(app).limits, max_questions=3))
    for _ in range(3):
        limited.ask(app.context(), QUESTION, server, fresh=True)
    with pytest.raises(RateLimited) as refused:
        limited.ask(app.context(), QUESTION, server, fresh=True)
    assert refused.value.retry_after_seconds == 61
    assert limited.ask(app.context(), QUESTION, server, fresh=False).value == 3
    assert limited.ask(context_of("somebody else"), QUESTION, server, fresh=True).value == 4
    app.clock.advance(60)
    assert limited.ask(app.context(), QUESTION, server, fresh=True).value == 5


def context_of(user: str, **more: Any) -> RequestContext:
    actor = Actor(id=user, email=f"{user}@example.com", role=Role.OPS, via="session")
    return RequestContext(actor=actor, correlation_id="test", **more)
