"""The providers of messages as a script: what each channel's provider answers, and what it has received when."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.alerts.notification import NotificationError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.hosts import parse_url
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import (
    ATTEMPT_SECONDS,
    Accepted,
    Ambiguous,
    CheckedConfig,
    Outcome,
    OutgoingMessage,
    Permanent,
    Throttled,
    Transient,
)
from tests.support.apps.virtual_time import VirtualTime

Answer = Outcome | Callable[[OutgoingMessage], Outcome]


def ok(_message: OutgoingMessage) -> Outcome:
    return Accepted()


def status(code: int, *, retry_after: float | None = None) -> Outcome:
    """What the senders make of an HTTP status."""
    error = NotificationError(code=f"http_{code}", message=f"The provider has answered {code}.")
    wait = None if retry_after is None else timedelta(seconds=retry_after)
    if code == 429:
        return Throttled(error, wait)
    if code >= 500 or code in (408, 425):
        return Transient(error, wait)
    return Accepted() if code == 200 else Permanent(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One call of the provider: when it came, and whether the provider has taken the message."""

    at: datetime
    message: OutgoingMessage
    taken: bool


@dataclass(kw_only=True)
class ScriptedProvider:
    """The provider behind one channel. It takes `latency` seconds; after the script is over it accepts everything.

    With `per_second` and `per_minute` it counts calls that come too fast, in `too_fast`, and answers 429 to them.
    """

    time: VirtualTime
    script: deque[Answer] = field(default_factory=deque)
    always: Answer = ok
    latency: float = 0
    per_second: int | None = None
    per_minute: int | None = None
    received: list[Received] = field(default_factory=list)
    too_fast: int = 0

    def answers(self, *answers: int | Answer) -> None:
        """What it answers to the next calls: statuses, or what is called."""
        self.script.extend(status(answer) if isinstance(answer, int) else answer for answer in answers)

    @property
    def messages(self) -> list[OutgoingMessage]:
        return [call.message for call in self.received if call.taken]

    def seconds_since(self, start: datetime) -> list[float]:
        return [(call.at - start).total_seconds() for call in self.received]

    def hang(self, _message: OutgoingMessage) -> Outcome:
        """It takes the message and does not answer."""
        self.time.sleep(ATTEMPT_SECONDS)
        return Ambiguous(NotificationError(code="timed_out", message="No answer came."))

    def crash_before(self, _message: OutgoingMessage) -> Outcome:
        """The worker dies before it has sent anything (C4)."""
        self.time.crash()

    def crash_after(self, message: OutgoingMessage) -> Outcome:
        """It takes the message, and the worker dies (C5)."""
        self._note(message, taken=True)
        self.time.crash()

    def call(self, message: OutgoingMessage) -> Outcome:
        if self._comes_too_fast():
            self.too_fast += 1
            self._note(message, taken=False)
            return status(429, retry_after=30)
        if self.latency:
            self.time.sleep(self.latency)
        answer = self.script.popleft() if self.script else self.always
        began = self.time.clock.now
        outcome = answer(message) if callable(answer) else answer
        self._note(message, taken=isinstance(outcome, Accepted | Ambiguous), at=began)
        return outcome

    def _note(self, message: OutgoingMessage, *, taken: bool, at: datetime | None = None) -> None:
        self.received.append(Received(at=at or self.time.clock.now, message=message, taken=taken))

    def _comes_too_fast(self) -> bool:
        now = self.time.clock.now
        limits = ((self.per_second, timedelta(seconds=1)), (self.per_minute, timedelta(minutes=1)))
        return any(
            limit is not None and sum(now - call.at < window for call in self.received[-limit:]) >= limit
            for limit, window in limits
        )


@dataclass(kw_only=True)
class ScriptedSender:
    """A `Sender` whose channels have scripted providers, found by one of the channel's secrets."""

    time: VirtualTime
    providers: dict[str, ScriptedProvider] = field(default_factory=dict)

    def check(self, secrets: Mapping[str, Secret]) -> CheckedConfig:
        urls = {name: parse_url(text.reveal()) for name, text in secrets.items() if text.reveal().startswith("https:")}
        mask = next((url.target.mask for url in urls.values()), "https://bots.example.com/********")
        return CheckedConfig(mask=mask, secrets={**secrets, **{name: Secret(str(url)) for name, url in urls.items()}})

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], _deadline: Deadline) -> Outcome:
        found = [self.providers[secret.reveal()] for secret in secrets.values() if secret.reveal() in self.providers]
        return found[0].call(message)

    def behind(self, key: str, **options: Any) -> ScriptedProvider:
        """A new provider for the channel with this secret."""
        self.providers[key] = ScriptedProvider(time=self.time, **options)
        return self.providers[key]
