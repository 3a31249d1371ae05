"""What the senders to chats share: they use one host, which the installation names."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Self

from chalicelib.clients.http.guarded import HttpAnswer
from chalicelib.kit.hosts import HttpsHost, UrlRefused, parse_host
from chalicelib.notify.contract import Outcome, OutgoingMessage, Permanent, SenderTools
from chalicelib.notify.errors import Texts, error
from chalicelib.notify.http import Post, failure_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSender:
    """Sends to chats. `setting` is the field of the settings with the host, `errors` are texts of the provider's own
    codes.
    """

    setting: ClassVar[str]
    errors: ClassVar[Mapping[str, Texts]]

    host: HttpsHost
    post: Post

    @classmethod
    def make(cls, tools: SenderTools) -> Self:
        """Raises ValueError, with the name of the variable, for a host that cannot be used."""
        try:
            host = parse_host(getattr(tools.settings, cls.setting))
        except UrlRefused as refusal:
            raise ValueError(f"HEADGATE_{cls.setting.upper()}: {refusal.message}") from None
        return cls(host=host, post=Post(tools.to_operators_hosts))

    def refusal(
        self, answer: HttpAnswer, code: str | None, wait: timedelta | None, message: OutgoingMessage
    ) -> Outcome:
        """The outcome of an answer that does not confirm the message. `code` and `wait` are what its body says."""
        if code:
            return Permanent(error(code, self.errors))
        return failure_outcome(answer, message.attempt_at, wait)
