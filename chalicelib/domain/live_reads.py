"""Questions to a server that people wait for: how old an answer may be, and which one is an answer to which question.

`infra/decisions/031-live-reads.md` says why a server is asked so seldom.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from chalicelib.domain.timing import CLOCKS_APART, REQUEST

A = TypeVar("A")

READINESS_COUNTS = timedelta(seconds=30)
"""So long the readiness of a source is shown again: it is several dozen queries, and two connections."""

LIVE_COUNTS = timedelta(seconds=5)
"""So long any other answer of a server is shown again."""

KEPT = timedelta(minutes=5)
"""So long an answer is kept for callers who come while the server is being asked."""

LEASE = REQUEST + CLOCKS_APART
"""Longer than a request may ask a server, so that no lease ends under a live one."""

MAX_ANSWER_BYTES = 200_000
"""Of a stored answer, compressed: a row has at most 400 KB. A larger one is shown to its caller alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveQuestion(Generic[A]):
    """What a server is asked. `server` is its address, for all questions to it.

    `subject` tells questions to one server apart. It contains the version of everything that the answer depends on:
    what was answered before a change is no answer after it. `answer` is the type of the answer, for its JSON.
    """

    server: tuple[object, ...]
    subject: tuple[object, ...]
    answer: Any
    counts: timedelta = LIVE_COUNTS

    @property
    def change_key(self) -> str:
        """The key of the last change that Headgate made at the server."""
        return change_key(self.server)

    @property
    def lease_key(self) -> str:
        """The key of the server's lease."""
        return f"lease/{_digest(self.server)}"

    @property
    def key(self) -> str:
        """The key of the question's answer."""
        return f"answer/{_digest((self.server, self.subject))}"


@dataclass(frozen=True, slots=True)
class LiveAnswer(Generic[A]):
    """What a server was asked for at one time and has answered `at` another: many seconds later, when it is away."""

    value: A
    asked_at: datetime
    at: datetime

    def counts(self, question: LiveQuestion[A], now: datetime, since: datetime | None) -> bool:
        """Whether it is young enough; with `since`, whether the server was asked later than that."""
        # One of a time that has not come yet: the clock was set back.
        if self.at - now > CLOCKS_APART:
            return False
        return self.at > now - question.counts if since is None else self.asked_at > since


def change_key(server: tuple[object, ...]) -> str:
    """The key of the last change that Headgate made at this server: what it answered before is no answer after it."""
    return f"change/{_digest(server)}"


def _digest(parts: tuple[object, ...]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()
