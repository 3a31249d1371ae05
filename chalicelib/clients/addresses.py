"""Which hosts a registered system may live on, decided on the addresses that the name really resolves to."""

import ipaddress
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

from chalicelib.errors import Invalid, Unavailable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str], Iterable[str]]
"""Gives the addresses of a host name as text. Raises OSError or UnicodeError when there are none."""

MAX_ADDRESSES = 16
_LOOPBACK = tuple(map(ipaddress.ip_network, ("127.0.0.0/8", "::1/128")))
# ipaddress's own properties differ between Python releases and call some of these ranges global, so they are listed.
_REFUSED: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "unspecified"),
    ("169.254.0.0/16", "link-local, home of cloud metadata services"),
    ("100.100.100.200/32", "a cloud metadata service"),
    ("168.63.129.16/32", "a cloud platform service"),
    ("192.0.0.0/24", "reserved"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved or broadcast"),
    ("::/128", "unspecified"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local, long withdrawn"),
    ("fd00:ec2::/32", "a cloud metadata service"),
    ("100::/64", "discard-only"),
    ("2001:db8::/32", "reserved for documentation"),
    ("ff00::/8", "multicast"),
)
_REFUSED_NETWORKS = tuple((ipaddress.ip_network(text), what) for text, what in _REFUSED)
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_IPV4_COMPATIBLE = ipaddress.IPv6Network("::/96")


def system_resolve(host: str) -> list[str]:
    """All addresses of a host, by the system's resolver."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPolicy:
    """Private addresses are normal for databases, brokers and Connect, and allowed. Loopback only where the
    installation allows it; link-local, metadata, multicast, unspecified and reserved addresses never.
    """

    allow_loopback: bool = False
    resolve: Resolve = system_resolve
    seconds: float = 3.0

    def __call__(self, host: str) -> tuple[str, ...]:
        """The allowed addresses of `host`, as text, in the resolver's order; every one of them was checked.

        Raises:
            Invalid: `URL_NOT_ALLOWED`, one of its addresses is not allowed, or this is no host name.
            Unavailable: the name did not resolve within `seconds`. The code is the default: callers put their own.
        """
        if not host or len(host) > 253 or any(ch.isspace() or ch in "/@?#,\\%" or not ch.isprintable() for ch in host):
            raise _refused("This is not a host name. Give one host, without scheme, port, path or spaces.")
        texts = self._resolve_within_time(host.strip("[]"))
        for text in texts:
            if reason := refusal(text, allow_loopback=self.allow_loopback):
                raise _refused(f"This host leads to an address that is not allowed: {reason}.")
        return texts

    def _resolve_within_time(self, host: str) -> tuple[str, ...]:
        # getaddrinfo has no time limit of its own: a daemon thread may outlive us, the caller does not wait for it.
        answers: SimpleQueue[tuple[str, ...]] = SimpleQueue()
        Thread(target=self._resolve_into, args=(host, answers), daemon=True).start()
        try:
            found = answers.get(timeout=self.seconds)
        except Empty:
            raise Unavailable(
                "The host name could not be resolved in time. Check the name and the name server."
            ) from None
        if not found:
            raise Unavailable("The host name cannot be resolved. Check its spelling and the name server.")
        return found

    def _resolve_into(self, host: str, answers: SimpleQueue[tuple[str, ...]]) -> None:
        try:
            answers.put(tuple(self.resolve(host))[:MAX_ADDRESSES])
        except (OSError, UnicodeError, ValueError):
            answers.put(())


def refusal(text: str, *, allow_loopback: bool) -> str | None:
    """Why an address is not allowed; None when it is. One that carries another inside is judged by that one."""
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return "it is not an IP address"
    address = _inner(address)
    if any(address in network for network in _LOOPBACK):
        return None if allow_loopback else "loopback (this machine itself)"
    return next((what for network, what in _REFUSED_NETWORKS if address in network), None)


def _inner(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    carried = any(address in network for network in _NAT64)
    if carried or (address in _IPV4_COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _refused(message: str) -> Invalid:
    return Invalid(message, code="URL_NOT_ALLOWED")
