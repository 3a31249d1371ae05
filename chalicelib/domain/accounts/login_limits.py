"""How often a password may be tried, counted before it is hashed.

| a try                                              | is counted for           | limit in five minutes |
|----------------------------------------------------|--------------------------|-----------------------|
| with a valid session of the account                | the session              | 10                    |
| from a network that has signed in to the account   | account and network      | 10                    |
| from any other network                             | account and network      | 10                    |
|                                                    | network                  | 100                   |
|                                                    | account, other networks  | 50                    |

A sign-in through single sign-on tries no password here; those that fail are counted for the network alone, at most 100.

So nobody keeps a user out who has a session, or who comes from the usual network, except from that very network. A
login that succeeds gives its tries back. The windows begin at whole multiples of five minutes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, ip_network

from chalicelib.kit.hosts import ip_address

WINDOW = timedelta(minutes=5)
KNOWN_FOR = timedelta(days=90)
_PER_ACCOUNT_AND_NETWORK, _PER_NETWORK, _PER_ACCOUNT = 10, 100, 50
_SIGN_ONS_PER_NETWORK = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLimit:
    """A counter of tries: its key, which contains the window, and how many tries it may count."""

    key: str
    maximum: int


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
        """The limits that the try counts for, the narrowest first."""
        network = network_of(self.source_address)
        if self.session_id:
            return [_limit("session", _PER_ACCOUNT_AND_NETWORK, now, self.session_id)]
        own = _limit("account-network", _PER_ACCOUNT_AND_NETWORK, now, self.account, network)
        if known:
            return [own]
        return [own, _limit("network", _PER_NETWORK, now, network), _limit("account", _PER_ACCOUNT, now, self.account)]


def sign_on_limit(source_address: str, now: datetime) -> LoginLimit:
    """The limit that a callback of single sign-on counts for."""
    return _limit("sign-on", _SIGN_ONS_PER_NETWORK, now, network_of(source_address))


def window_end(now: datetime) -> datetime:
    seconds = WINDOW.total_seconds()
    return datetime.fromtimestamp((now.timestamp() // seconds + 1) * seconds, UTC)


def network_of(source_address: str) -> str:
    """The network of an address: /24 of IPv4, /56 of IPv6, which a provider usually gives to one customer."""
    if (address := ip_address(source_address)) is None:
        return source_address
    mapped = getattr(address, "ipv4_mapped", None) or address
    return str(ip_network((mapped, 24 if isinstance(mapped, IPv4Address) else 56), strict=False))


def _limit(kind: str, maximum: int, now: datetime, *parts: str) -> LoginLimit:
    # The window is part of the key: a new window starts with a new counter, and nothing has to be reset.
    window = int(now.timestamp() // WINDOW.total_seconds())
    return LoginLimit(key=f"{kind}/{_digest(*parts)}/{window}", maximum=maximum)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
