"""What the worker of notifications and the senders of the providers agree on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from chalicelib.domain.alerts.notification import MessageContent, NotificationError
from chalicelib.domain.alerts.urls import TargetUrl
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

ATTEMPT_SECONDS = 10.0
"""An attempt has ended after this time, whatever the provider does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLine:
    """What a message says of one alert.

    `recovery`: the alert is over before anything was sent about it, so this line says both. `delayed`: it has waited
    for more than an hour. `firing_failed`: this is a recovery, and the message that something was wrong did not arrive.
    """

    content: MessageContent
    recovery: MessageContent | None = None
    delayed: bool = False
    firing_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message about one alert (one line), or a digest of several: at most fifty. One without lines is the test
    notification.

    `delivery_id` is the same for each attempt; `attempt_at` is when this attempt began. `waiting` more alerts follow in
    later messages.
    """

    delivery_id: str
    attempt_at: datetime
    lines: tuple[MessageLine, ...]
    waiting: int = 0

    @property
    def is_digest(self) -> bool:
        """Whether it is about several alerts."""
        return len(self.lines) > 1

    @property
    def is_test(self) -> bool:
        """Whether it is the test notification of a channel."""
        return not self.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The provider has the message. `changed` are secret fields of the channel that the provider has replaced: a group
    that became another one has a new id.
    """

    changed: Mapping[str, Secret] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Permanent:
    """The provider has refused the message, and would refuse it again."""

    error: NotificationError


@dataclass(frozen=True, slots=True)
class Transient:
    """The provider does not have the message; it may take it after `retry_after`, if it says so, or later."""

    error: NotificationError
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class RateLimited:
    """The provider takes no message of this channel before `retry_after`, if it says so (429)."""

    error: NotificationError
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The provider may have the message: the request was sent, and no answer came."""

    error: NotificationError


Outcome = Accepted | Permanent | Transient | RateLimited | Ambiguous


class Sender(Protocol):
    """Sends messages of one provider."""

    def address(self, secrets: Mapping[str, Secret]) -> TargetUrl:
        """Where the messages of a channel with these secret fields go. Looks its host up, where it is users' choice.

        Raises Invalid, `URL_NOT_ALLOWED`: it must not be contacted. A name that does not resolve may be.
        """

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        """Send it once, with the secret fields of the channel. Raises nothing: whatever happens is an outcome."""
