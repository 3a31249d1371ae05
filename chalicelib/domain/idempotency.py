"""Requests that carry an `Idempotency-Key`: the claim of a key, the kept answer, and the contract of their store."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from chalicelib.domain.timing import API_FUNCTION
from chalicelib.kit.masking import Secret

KEPT_FOR = timedelta(hours=24)
LEASE = API_FUNCTION + timedelta(seconds=6)
"""Longer than any request can run, so that no lease ends under a live one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer as it was sent. Its body may hold a token that is shown once: seal it wherever it is written."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str

    def __repr__(self) -> str:
        return f"KeptAnswer(status={self.status}, ...)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to run the request. `token` tells one claim of a key from a later one of the same key."""

    key: str
    token: str


class TextSealer(Protocol):
    """Encrypts the answers that are stored."""

    def seal(self, name: str, text: Secret) -> str:
        """The text, encrypted and bound to the name."""

    def open(self, name: str, sealed: str) -> Secret:
        """The plain text. Raises StoreUnavailable when it was sealed under another name or key."""


class IdempotencyStore(Protocol):
    """One row per key for 24 hours. `key` and `body_hash` are digests: they do not show what was requested."""

    def claim(self, key: str, body_hash: str, now: datetime) -> Claim | KeptAnswer:
        """The right to run, or the answer of the first request.

        A row whose lease has ended without an answer is claimed again by the same body: its worker died. Raises
        `Conflict` with code `IDEMPOTENCY_KEY_REUSED` when the key came with another body, `RequestInProgress` while the
        first request still runs.
        """

    def finish(self, claim: Claim, answer: KeptAnswer) -> None:
        """Keep the answer. Nothing happens when the claim has been taken over."""

    def release(self, claim: Claim) -> None:
        """Forget the claim, so that the request may be repeated. Nothing happens when it has been taken over."""
