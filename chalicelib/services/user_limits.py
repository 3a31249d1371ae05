"""What the requests of one user may cost the servers that they ask: so many in a minute, and so many tests at a time.

The numbers are in the store, so that all processes share them. A user and their tokens count as one.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.login_limits import LoginLimit, window_end
from chalicelib.errors import RateLimited
from chalicelib.kit.clock import Clock
from chalicelib.kit.isolation import isolated
from chalicelib.kit.randomness import shuffled
from chalicelib.kit.retry import Retry
from chalicelib.stores.accounts.login_tries import LoginTries
from chalicelib.stores.live_reads import Leases

WINDOW = timedelta(minutes=1)
MAX_QUESTIONS = 600
"""Of a user in a minute: live reads that ask a server, tests of connections, and previews."""

MAX_TESTS = 10
"""Of a user at a time: tests of connections, and previews. Each opens a few connections, for 12 seconds at most."""

_ATTEMPTS = 10
_TRY_AGAIN_SECONDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class UserLimits:
    counters: LoginTries
    leases: Leases
    clock: Clock
    sleep: Callable[[float], None]
    max_questions: int = MAX_QUESTIONS

    def count(self, context: RequestContext) -> None:
        """Count one question to a server. Raises RateLimited. What Headgate does by itself is not counted."""
        if context.actor.id is None:
            return
        now = self.clock()
        ends_at = window_end(now, WINDOW)
        key = f"questions/{context.actor.id}/{ends_at.timestamp():.0f}"
        limit = LoginLimit(key=key, maximum=self.max_questions, ends_at=ends_at)
        if not self.counters.count(limit, now):
            raise RateLimited(
                f"You may ask servers {self.max_questions} times in a minute.",
                retry_after_seconds=int(limit.wait(now).total_seconds()) + 1,
            )

    def pace(self, context: RequestContext, key: str, every: timedelta) -> None:
        """Let one through in this time, of a user and with this key. Raises RateLimited for the others."""
        now = self.clock()
        limit = LoginLimit(key=f"pace/{context.actor.id}/{key}", maximum=1, ends_at=now + every, pause=every)
        if not self.counters.count(limit, now):
            wait = math.ceil(every.total_seconds())
            raise RateLimited("You have sent the same a moment ago. Wait a little.", retry_after_seconds=wait)

    @contextmanager
    def test(self, context: RequestContext) -> Iterator[None]:
        """Count a test or a preview, and let it begin when fewer than ten of this user run. Raises RateLimited."""
        self.count(context)
        retry = Retry(attempts=_ATTEMPTS, first_pause=0.2, longest_pause=0.8, sleep=self.sleep)
        key, token = retry.run(lambda _attempt: self._place(context), on=RateLimited, deadline=context.deadline)
        try:
            yield
        finally:
            with isolated():  # when the store fails, the lease ends with its time
                self.leases.give_back(key, token)

    def _place(self, context: RequestContext) -> tuple[str, str]:
        """The key and the token of a lease that nobody has. Raises RateLimited when all are held."""
        now, places = self.clock(), [f"test/{context.actor.id}/{number}" for number in range(MAX_TESTS)]
        for key in shuffled(self.leases.free_of(places, now)):
            if token := self.leases.take(key, now):
                return key, token
        raise RateLimited(
            f"{MAX_TESTS} tests and previews of yours run at this moment, and one has to end first.",
            retry_after_seconds=_TRY_AGAIN_SECONDS,
        )
