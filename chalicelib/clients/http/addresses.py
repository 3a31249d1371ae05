"""Decides which hosts may be contacted, by the addresses to which their names resolve."""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from unicodedata import normalize

from chalicelib.clients.http.networks import METADATA_IPV4, Reach, network_of
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.hosts import Address, ip_address, may_be_host

Resolve = Callable[[str], Iterable[str]]
"""Resolves a host name to addresses, as text. Raises OSError or UnicodeError when there are none."""
HostCheck = Callable[[str], Sequence[str]]
"""Resolves a host to allowed IP addresses, to be tried in this order. An `AddressPolicy` is one.

Raises Invalid when one of the addresses is not allowed, Unavailable when the name does not resolve.
"""

MAX_ADDRESSES = 16
_NOT_PUBLIC_DOMAINS: Mapping[str, Sequence[str]] = {
    "this machine itself": ("localhost",),
    "a name of a local network": ("localdomain", "local", "lan", "home.arpa"),
    "a name of a private network": ("internal", "corp", "intranet"),
    "a name inside a Kubernetes cluster": ("svc",),
    "a name of the Tor network": ("onion",),
    "a cloud metadata service": ("metadata.goog", "metadata.tencentyun.com", "instance-data"),
}
"""Refused domains, with all names below them, by the reason."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = frozenset({0x5EFE, 0x0200_5EFE})
"""The third group of 32 bits of an ISATAP address; the last one is an IPv4 address (RFC 5214, 6.1)."""


def system_resolve(host: str) -> list[str]:
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPolicy:
    """Allows addresses by the table in `networks`. Link-local, metadata and reserved addresses are never allowed.

    Private addresses are normal for databases, brokers and Connect. Without `allow_private` only public addresses and
    names are allowed, and no loopback, whatever `allow_loopback` is.
    """

    allow_loopback: bool = False
    allow_private: bool = True
    resolve: Resolve = system_resolve
    seconds: float = 3.0

    def __call__(self, host: str) -> tuple[str, ...]:
        """The allowed addresses of `host`, as text, in the resolver's order; every one of them was checked.

        Raises:
            Invalid: `URL_NOT_ALLOWED`, one of its addresses or its name is not allowed, or this is no host name.
            Unavailable: the name did not resolve within `seconds`.
        """
        if not may_be_host(host):
            raise _refused("This is not a host name. Give one host, without scheme, port, path or spaces.")
        if not self.allow_private and (reason := name_refusal(host)):
            raise _refused(f"This host name is not allowed: {reason}.")
        texts = self._resolve_within_time(host.strip("[]"))
        for text in texts:
            if reason := refusal(text, allow_loopback=self.allow_loopback, allow_private=self.allow_private):
                raise _refused(f"This host leads to an address that is not allowed: {reason}.")
        return texts

    def _resolve_within_time(self, host: str) -> tuple[str, ...]:
        # getaddrinfo has no time limit. The caller does not wait longer; the daemon thread may still run for a while.
        answers: SimpleQueue[tuple[str, ...]] = SimpleQueue()
        Thread(target=self._resolve_into, args=(host, answers), daemon=True).start()
        try:
            addresses = answers.get(timeout=self.seconds)
        except Empty:
            raise Unavailable(
                "The host name could not be resolved in time. Check the name and the name server."
            ) from None
        if not addresses:
            raise Unavailable("The host name cannot be resolved. Check its spelling and the name server.")
        return addresses

    def _resolve_into(self, host: str, answers: SimpleQueue[tuple[str, ...]]) -> None:
        try:
            answers.put(tuple(self.resolve(host))[:MAX_ADDRESSES])
        except (OSError, UnicodeError, ValueError):
            answers.put(())


def refusal(text: str, *, allow_loopback: bool, allow_private: bool = True) -> str | None:
    """Why an address is not allowed; None when it is. An embedded IPv4 address has to be allowed, too."""
    if (address := ip_address(text)) is None:
        return "it is not an IP address"
    allowed = {Reach.PUBLIC}
    if allow_private:
        allowed |= {Reach.PRIVATE, Reach.LOOPBACK} if allow_loopback else {Reach.PRIVATE}
    networks = map(network_of, _addresses_in(address))
    return next((network.reason for network in networks if network.reach not in allowed), None)


def name_refusal(host: str) -> str | None:
    """Why a host name is not public; None when it may be."""
    # By IDNA the resolver converts these characters to letters and dots, too.
    name = normalize("NFKC", host).casefold().replace("\u3002", ".").removesuffix(".")
    for reason, domains in _NOT_PUBLIC_DOMAINS.items():
        if f".{name}".endswith(tuple(f".{domain}" for domain in domains)):
            return reason
    return None


def _addresses_in(address: Address) -> tuple[Address, ...]:
    """The address, behind the IPv4 address to which a translator or a tunnel would forward its packets."""
    if isinstance(address, ipaddress.IPv4Address):
        return (address,)
    if address.ipv4_mapped:
        return (address.ipv4_mapped,)  # the operating system connects to this one
    last = int(address) & 0xFFFF_FFFF
    if address in _NAT64 or (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP or last in METADATA_IPV4:
        return (ipaddress.IPv4Address(last), address)
    return (address,)


def _refused(message: str) -> Invalid:
    return Invalid(message, code="URL_NOT_ALLOWED")
