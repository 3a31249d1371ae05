"""Which hosts may be contacted, decided on the addresses that the name really resolves to."""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from unicodedata import normalize

from chalicelib.errors import Invalid, Unavailable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str], Iterable[str]]
"""Gives the addresses of a host name as text. Raises OSError or UnicodeError when there are none."""
HostCheck = Callable[[str], Sequence[str]]
"""Gives the IP addresses of a host, all of them allowed, to be tried in this order. An `AddressPolicy` is one.

Raises Invalid when one of them is not allowed, Unavailable when the name does not resolve.
"""

Networks = tuple[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str], ...]


def _networks(*table: tuple[str, str]) -> Networks:
    return tuple((ipaddress.ip_network(network), reason) for network, reason in table)


MAX_ADDRESSES = 16
_LOOPBACK = tuple(map(ipaddress.ip_network, ("127.0.0.0/8", "::1/128")))
# ipaddress's own properties differ between Python releases and call some of these ranges global, so they are listed.
_NEVER = _networks(
    ("0.0.0.0/8", "unspecified"),
    ("169.254.0.0/16", "link-local, where cloud metadata services are"),
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
# Registries: IANA special-purpose addresses (IPv4, IPv6). Only 2000::/3 is assigned to the public IPv6 network.
_NOT_PUBLIC = _networks(
    ("10.0.0.0/8", "private (RFC 1918)"),
    ("172.16.0.0/12", "private (RFC 1918)"),
    ("192.168.0.0/16", "private (RFC 1918)"),
    ("100.64.0.0/10", "shared by the customers of a provider (RFC 6598)"),
    ("192.0.2.0/24", "reserved for documentation"),
    ("198.51.100.0/24", "reserved for documentation"),
    ("203.0.113.0/24", "reserved for documentation"),
    ("192.31.196.0/24", "reserved for AS112 name servers"),
    ("192.52.193.0/24", "reserved for multicast tunnels"),
    ("192.88.99.0/24", "reserved for 6to4 relays"),
    ("192.175.48.0/24", "reserved for AS112 name servers"),
    ("198.18.0.0/15", "reserved for benchmarks"),
    ("fc00::/7", "unique local (RFC 4193)"),
    ("::/3", "not a public address"),
    ("4000::/2", "not a public address"),
    ("8000::/1", "not a public address"),
    ("2001::/23", "reserved for protocols"),
    ("2002::/16", "a 6to4 tunnel"),
    ("2620:4f:8000::/48", "reserved for AS112 name servers"),
    ("3fff::/20", "reserved for documentation"),
)
_NOT_PUBLIC_NAMES = (
    ("localhost", "this machine itself"),
    ("localdomain", "a name of a local network"),
    ("local", "a name of a local network"),
    ("lan", "a name of a local network"),
    ("home.arpa", "a name of a local network"),
    ("internal", "a name of a private network"),
    ("corp", "a name of a private network"),
    ("intranet", "a name of a private network"),
    ("svc", "a name inside a Kubernetes cluster"),
    ("onion", "a name of the Tor network"),
    ("metadata.goog", "a cloud metadata service"),
    ("metadata.tencentyun.com", "a cloud metadata service"),
    ("instance-data", "a cloud metadata service"),
)
"""Names that are refused, with all names below them."""
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_IPV4_COMPATIBLE = ipaddress.IPv6Network("::/96")


def system_resolve(host: str) -> list[str]:
    """All addresses of a host, by the system's resolver."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPolicy:
    """Which addresses are allowed. Link-local, metadata, multicast, unspecified and reserved addresses never are.

    Private addresses are normal for databases, brokers and Connect. Without `allow_private` only public addresses and
    names are allowed, and no loopback, whatever `allow_loopback` says.
    """

    allow_loopback: bool = False
    allow_private: bool = True
    resolve: Resolve = system_resolve
    seconds: float = 3.0

    def __call__(self, host: str) -> tuple[str, ...]:
        """The allowed addresses of `host`, as text, in the resolver's order; every one of them was checked.

        Raises:
            Invalid: `URL_NOT_ALLOWED`, one of its addresses or its name is not allowed, or this is no host name.
            Unavailable: the name did not resolve within `seconds`. The code is the default, callers set their own.
        """
        if not host or len(host) > 253 or any(ch.isspace() or ch in "/@?#,\\%" or not ch.isprintable() for ch in host):
            raise _refused("This is not a host name. Give one host, without scheme, port, path or spaces.")
        if not self.allow_private and (reason := name_refusal(host)):
            raise _refused(f"This host name is not allowed: {reason}.")
        texts = self._resolve_within_time(host.strip("[]"))
        for text in texts:
            if reason := refusal(text, allow_loopback=self.allow_loopback, allow_private=self.allow_private):
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


def refusal(text: str, *, allow_loopback: bool, allow_private: bool = True) -> str | None:
    """Why an address is not allowed; None when it is. An IPv6 address that carries an IPv4 address is
    judged by that one, and where only public addresses are allowed, by both.
    """
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return "it is not an IP address"
    inner = _inner(address)
    if any(inner in network for network in _LOOPBACK):
        return None if allow_loopback and allow_private else "loopback (this machine itself)"
    reason = _reason(inner, _NEVER)
    if reason or allow_private:
        return reason
    mapped = isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped
    return _reason(inner, _NOT_PUBLIC) or _reason(mapped or address, _NOT_PUBLIC)


def name_refusal(host: str) -> str | None:
    """Why a host name is none of the public network; None when it may be one."""
    # The resolver takes these characters for dots and letters as well (IDNA).
    name = normalize("NFKC", host).casefold().replace("\u3002", ".").removesuffix(".")
    return next((reason for end, reason in _NOT_PUBLIC_NAMES if name == end or name.endswith("." + end)), None)


def _reason(address: Address, networks: Networks) -> str | None:
    return next((reason for network, reason in networks if address in network), None)


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
