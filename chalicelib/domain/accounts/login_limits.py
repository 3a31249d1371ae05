"""How often a password or a code may be tried, counted before it is checked.

| a try of a password                               | is counted for          | in 5 minutes | then one more        |
|---------------------------------------------------|-------------------------|--------------|----------------------|
| with a valid session of the account               | the session             | 10           | every 30 s           |
| from a network that has signed in to the account  | account and network     | 10           | every 30 s           |
| from any other network                            | network                 | 100          | when the window ends |
|                                                   | account and network     | 10           | every 30 s           |
|                                                   | account, other networks | 50           | every minute, for    |
|                                                   |                         |              | each network         |

| a code of the second factor, after the password   | is counted for          | in an hour   | then one more        |
|---------------------------------------------------|-------------------------|--------------|----------------------|
| with a valid session of the account               | the session             | 10           | when the window ends |
| from a network that has signed in to the account  | account and network     | 10           | when the window ends |
| from any other network                            | account, other networks | 10           | when the window ends |

A sign-in through single sign-on tries no password here; those that fail are counted for the network alone, at most 100.

So nobody keeps an owner out who knows the password: others elsewhere only make them wait, and who floods one network
shuts out that network. The wide counter comes first, so that refused tries make no rows. A code has six digits, so it
may be tried less often; a recovery code is too long to be guessed, and is not counted as a code. A login that succeeds
gives its tries back. The windows begin at whole multiples of their length.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, ip_network
from typing import Any

from chalicelib.kit.hosts import ip_address

WINDOW = timedelta(minutes=5)
KNOWN_FOR = timedelta(days=90)
MAX_CODES, CODE_WINDOW = 10, timedelta(hours=1)
_PER_ACCOUNT_AND_NETWORK, _PER_NETWORK, _PER_ACCOUNT = 10, 100, 50
_PAUSE, _PAUSE_UNDER_ATTACK = timedelta(seconds=30), timedelta(minutes=1)
_SIGN_ONS_PER_NETWORK = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLimit:
    """A counter of tries: its key, which contains the window, when that ends, and how many tries it may count.

    With a `pause` one more is counted whenever the last one was so long ago. `then`: what counts instead when this one
    counts no more.
    """

    key: str
    maximum: int
    ends_at: datetime
    pause: timedelta | None = None
    then: "LoginLimit | None" = None

    def wait(self, now: datetime) -> timedelta:
        """After this time a try is possible that is refused now, if nobody else tries meanwhile."""
        left = self.ends_at - now
        return left if self.pause is None else min(left, self.pause)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginTry:
    """One try. `account` is what spellings of an address share; `session_id` a valid session of that account."""

    account: str
    source_address: str
    session_id: str | None = None

    @property
    def known_key(self) -> str:
        """The key of the record that this network has signed in to this account."""
        return f"known/{_digest(self.account, network_of(self.source_address))}"

    def limits(self, now: datetime, *, known: bool) -> Sequence[LoginLimit]:
        """The limits that the try counts for, in this order."""
        network = network_of(self.source_address)
        if self.session_id:
            return [_limit("session", _PER_ACCOUNT_AND_NETWORK, now, self.session_id, pause=_PAUSE)]
        own = _limit("account-network", _PER_ACCOUNT_AND_NETWORK, now, self.account, network, pause=_PAUSE)
        if known:
            return [own]
        slow = _limit("attacked", 1, now, self.account, network, pause=_PAUSE_UNDER_ATTACK)
        account = _limit("account", _PER_ACCOUNT, now, self.account, then=slow)
        return [_limit("network", _PER_NETWORK, now, network), own, account]

    def code_limit(self, now: datetime, *, known: bool) -> LoginLimit:
        """The limit that a code of the second factor counts for."""
        if self.session_id:
            return _limit("code-session", MAX_CODES, now, self.session_id, window=CODE_WINDOW)
        network = (network_of(self.source_address),) if known else ()
        return _limit("code", MAX_CODES, now, self.account, *network, window=CODE_WINDOW)


def sign_on_limit(source_address: str, now: datetime) -> LoginLimit:
    """The limit that a callback of single sign-on counts for."""
    return _limit("sign-on", _SIGN_ONS_PER_NETWORK, now, network_of(source_address))


def window_end(now: datetime, window: timedelta = WINDOW) -> datetime:
    seconds = window.total_seconds()
    return datetime.fromtimestamp((now.timestamp() // seconds + 1) * seconds, UTC)


def network_of(source_address: str) -> str:
    """The network of an address: /24 of IPv4, /56 of IPv6, which a provider usually gives to one customer."""
    if (address := ip_address(source_address)) is None:
        return source_address
    mapped = getattr(address, "ipv4_mapped", None) or address
    return str(ip_network((mapped, 24 if isinstance(mapped, IPv4Address) else 56), strict=False))


def _limit(kind: str, maximum: int, now: datetime, *parts: str, window: timedelta = WINDOW, **more: Any) -> LoginLimit:
    # The window is part of the key: a new window starts with a new counter, and nothing has to be reset.
    number = int(now.timestamp() // window.total_seconds())
    key = f"{kind}/{_digest(*parts)}/{number}"
    return LoginLimit(key=key, maximum=maximum, ends_at=window_end(now, window), **more)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
