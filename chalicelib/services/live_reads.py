"""Asks a server for people: one question at a time, and none whose answer is known from some seconds ago."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion
from chalicelib.errors import ServerBusy
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.isolation import isolated
from chalicelib.kit.retry import Retry
from chalicelib.services.user_limits import UserLimits
from chalicelib.stores.live_reads import LiveAnswers

A = TypeVar("A")

WAIT_SECONDS = 5.0
"""So long a caller waits for the answer of another one."""

_ATTEMPTS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveReads:
    """The lease of each server is in the store: all processes together ask a server one question at a time."""

    store: LiveAnswers
    limits: UserLimits
    clock: Clock
    sleep: Callable[[float], None]

    def ask(
        self,
        context: RequestContext,
        question: LiveQuestion[A],
        run: Callable[[], A],
        *,
        fresh: bool,
        deadline: Deadline | None = None,
    ) -> LiveAnswer[A]:
        """The answer of the last seconds, or the one that `run` gets now; with `fresh` one of now.

        While others ask the server, this waits some seconds for them. Then it is the last answer, however old, which
        `fresh` refuses. Raises ServerBusy when there is none, RateLimited, and whatever `run` raises.
        """
        since = self.clock() if fresh else None
        last: LiveAnswer[A] | None = None

        def attempt(number: int) -> LiveAnswer[A]:
            nonlocal last
            now, seen = self.clock(), None
            # To who has just come, and wants to know what is now, nothing that is kept is an answer.
            if number or not fresh:
                last, seen = self.store.find(question, now)
                if last is not None and last.counts(question, now, since):
                    return last
            token = self.store.leases.take(question.lease_key, now, seen)
            if token is None:
                raise ServerBusy
            return self._ask(context, question, run, token)

        retry = Retry(attempts=_ATTEMPTS, first_pause=0.1, longest_pause=0.5, sleep=self.sleep)
        try:
            return retry.run(attempt, on=ServerBusy, deadline=(deadline or context.deadline).within(WAIT_SECONDS))
        except ServerBusy:
            if last is None or fresh:
                raise
            return last

    def outdate(self, server: tuple[object, ...]) -> None:
        """Headgate has changed something at this server: its earlier answers are shown no more."""
        # When the store fails, they are outdated within seconds all the same.
        with isolated():
            self.store.outdate(server, self.clock())

    def _ask(
        self,
        context: RequestContext,
        question: LiveQuestion[A],
        run: Callable[[], A],
        token: str,
    ) -> LiveAnswer[A]:
        """Ask the server, whose lease this caller has; keep the answer, and give the lease back."""
        try:
            self.limits.count(context)
            asked_at = self.clock()
            answer = LiveAnswer(run(), asked_at, self.clock())
        except Exception:
            with isolated():
                self.store.leases.give_back(question.lease_key, token)
            raise
        # When the store fails, the lease ends with its time.
        with isolated():
            self.store.finish(question, answer, token)
        return answer
