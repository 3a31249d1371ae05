"""The contract between the worker of notifications and the senders of the providers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from chalicelib.clients.http.addresses import HostCheck
from chalicelib.clients.http.guarded import GuardedHttp
from chalicelib.domain.alerts.notification import MessageContent, NotificationError
from chalicelib.domain.alerts.pacing import Pace
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.config import ChannelConfig
from chalicelib.settings import Settings

ATTEMPT_SECONDS = 10.0
"""The time limit of an attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLine:
    """The part of a message about one alert.

    `recovery`: the alert ended before a message was sent, so this line is about both. `delayed`: it has waited for more
    than an hour. `firing_failed`: this is a recovery, and the message about the beginning did not arrive.
    """

    content: MessageContent
    recovery: MessageContent | None = None
    delayed: bool = False
    firing_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message about one alert (one line), or a digest of at most fifty. The test notification has no lines.

    `delivery_id` is the same in all attempts; `attempt_at` is the beginning of this attempt. `waiting` is the number of
    alerts that follow in later messages.
    """

    delivery_id: str
    attempt_at: datetime
    lines: tuple[MessageLine, ...]
    waiting: int = 0

    @property
    def is_digest(self) -> bool:
        return len(self.lines) > 1

    @property
    def is_test(self) -> bool:
        return not self.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The provider has the message. `changed` are secret fields of the channel that the provider has replaced: a group
    that was upgraded has a new id.
    """

    changed: Mapping[str, Secret] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Permanent:
    """The provider has refused the message and would refuse it again."""

    error: NotificationError


@dataclass(frozen=True, slots=True)
class Transient:
    """The provider does not have the message, and may accept it later: after `retry_after` if it says so."""

    error: NotificationError
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Throttled:
    """The provider accepts no message of this channel for a while: until `retry_after` if it says so (429)."""

    error: NotificationError
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The provider may have the message: the request was sent, and no answer came."""

    error: NotificationError


Outcome = Accepted | Permanent | Transient | Throttled | Ambiguous


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedConfig:
    """The target of a channel as people may see it, and its secret fields as they are stored."""

    mask: str
    secrets: Mapping[str, Secret]


class Sender(Protocol):
    def check(self, secrets: Mapping[str, Secret]) -> CheckedConfig:
        """Check that messages may be sent to the target in these secret fields.

        Raises Invalid, with the field at fault. A host whose name does not resolve is accepted.
        """

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        """Send it once, with the secret fields of the channel. Every failure is an outcome; nothing is raised."""


HttpFactory = Callable[[str], GuardedHttp]
"""Makes a client for a URL: a new one, so that the addresses of the host are checked for every request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderTools:
    """The dependencies of senders. Only the hosts in the settings of the installation may have private addresses."""

    settings: Settings
    to_operators_hosts: HttpFactory
    to_public_hosts: HttpFactory
    check_public: HostCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelDefinition:
    """A provider. `title` describes its channels in the documentation of the API.

    `make_sender` raises ValueError for a setting that cannot be used.
    """

    config: type[ChannelConfig]
    title: str
    pace: Pace
    make_sender: Callable[[SenderTools], Sender]
