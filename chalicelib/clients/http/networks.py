"""The table of networks with a special meaning, and who may contact them.

The properties of `ipaddress` are not used, because they differ between Python releases. Sources: IANA's registries of
special addresses, IPv4 and IPv6 (the RFC is named), IANA's IPv6 address space, and the documents of cloud providers.
"""

import ipaddress
from dataclasses import dataclass
from enum import Enum, auto

from chalicelib.kit.hosts import Address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Reach(Enum):
    """Which clients may contact an address."""

    PUBLIC = auto()
    PRIVATE = auto()
    """Those of databases, brokers and Connect, but not those of webhooks."""
    LOOPBACK = auto()
    """Those of `PRIVATE`, where the installation allows loopback."""
    NEVER = auto()


@dataclass(frozen=True, slots=True)
class SpecialNetwork:
    """One line of the table. `source` is an RFC or the document of a provider."""

    network: Network
    reach: Reach
    reason: str
    source: str


def _table(*lines: tuple[str, Reach, str, str]) -> tuple[SpecialNetwork, ...]:
    networks = (
        SpecialNetwork(ipaddress.ip_network(text), reach, reason, source) for text, reach, reason, source in lines
    )
    return tuple(sorted(networks, key=lambda line: line.network.prefixlen, reverse=True))


_METADATA = "a cloud metadata service"
SPECIAL_NETWORKS = _table(
    ("0.0.0.0/0", Reach.PUBLIC, "public", "RFC 791"),
    ("0.0.0.0/8", Reach.NEVER, "unspecified", "RFC 1122, 3.2.1.3"),
    ("10.0.0.0/8", Reach.PRIVATE, "private (RFC 1918)", "RFC 1918"),
    ("100.64.0.0/10", Reach.PRIVATE, "shared by the customers of a provider (RFC 6598)", "RFC 6598"),
    ("100.100.100.200/32", Reach.NEVER, _METADATA, "Alibaba Cloud, instance metadata"),
    ("127.0.0.0/8", Reach.LOOPBACK, "loopback (this machine itself)", "RFC 1122, 3.2.1.3"),
    ("168.63.129.16/32", Reach.NEVER, "a cloud platform service", "Azure, What is IP address 168.63.129.16"),
    ("169.254.0.0/16", Reach.NEVER, "link-local, where cloud metadata services are", "RFC 3927"),
    ("172.16.0.0/12", Reach.PRIVATE, "private (RFC 1918)", "RFC 1918"),
    ("192.0.0.0/24", Reach.NEVER, "reserved for protocols", "RFC 6890"),
    ("192.0.2.0/24", Reach.NEVER, "reserved for documentation", "RFC 5737"),
    ("192.31.196.0/24", Reach.NEVER, "reserved for AS112 name servers", "RFC 7535"),
    ("192.52.193.0/24", Reach.NEVER, "reserved for multicast tunnels", "RFC 7450"),
    ("192.88.99.0/24", Reach.NEVER, "reserved for 6to4 relays", "RFC 7526"),
    ("192.168.0.0/16", Reach.PRIVATE, "private (RFC 1918)", "RFC 1918"),
    ("192.175.48.0/24", Reach.NEVER, "reserved for AS112 name servers", "RFC 7534"),
    ("198.18.0.0/15", Reach.NEVER, "reserved for benchmarks", "RFC 2544"),
    ("198.51.100.0/24", Reach.NEVER, "reserved for documentation", "RFC 5737"),
    ("203.0.113.0/24", Reach.NEVER, "reserved for documentation", "RFC 5737"),
    ("224.0.0.0/4", Reach.NEVER, "multicast", "RFC 5771"),
    ("240.0.0.0/4", Reach.NEVER, "reserved or broadcast", "RFC 1112, 4; RFC 919, 7"),
    ("::/0", Reach.NEVER, "not a public address", "IANA, IPv6 address space"),
    ("::/96", Reach.NEVER, "an IPv4-compatible address, long withdrawn", "RFC 4291, 2.5.5.1"),
    ("::/128", Reach.NEVER, "unspecified", "RFC 4291, 2.5.2"),
    ("::1/128", Reach.LOOPBACK, "loopback (this machine itself)", "RFC 4291, 2.5.3"),
    ("::ffff:0:0:0/96", Reach.NEVER, "an IPv4-translated address", "RFC 2765, 2.1"),
    ("64:ff9b::/96", Reach.PRIVATE, "not a public address but a translator's (NAT64)", "RFC 6052, 2.1"),
    # Its networks choose where in the address the IPv4 address is, so that one cannot be judged.
    ("64:ff9b:1::/48", Reach.NEVER, "a local translator's (NAT64)", "RFC 8215"),
    ("100::/64", Reach.NEVER, "discard-only", "RFC 6666"),
    ("100:0:0:1::/64", Reach.NEVER, "a dummy prefix", "RFC 9780"),
    ("2000::/3", Reach.PUBLIC, "public", "IANA, IPv6 address space"),
    ("2001::/23", Reach.NEVER, "reserved for protocols", "RFC 2928"),
    ("2001::/32", Reach.NEVER, "a Teredo tunnel", "RFC 4380"),
    ("2001:2::/48", Reach.NEVER, "reserved for protocols (benchmarks)", "RFC 5180"),
    ("2001:10::/28", Reach.NEVER, "reserved for protocols (ORCHID)", "RFC 4843"),
    ("2001:20::/28", Reach.NEVER, "reserved for protocols (ORCHIDv2)", "RFC 7343"),
    ("2001:30::/28", Reach.NEVER, "reserved for protocols (drone ids)", "RFC 9374"),
    ("2001:db8::/32", Reach.NEVER, "reserved for documentation", "RFC 3849"),
    ("2002::/16", Reach.NEVER, "a 6to4 tunnel", "RFC 3056, RFC 7526"),
    ("2620:4f:8000::/48", Reach.NEVER, "reserved for AS112 name servers", "RFC 7534"),
    ("3ffe::/16", Reach.NEVER, "a former test network (6bone)", "RFC 3701"),
    ("3fff::/20", Reach.NEVER, "reserved for documentation", "RFC 9637"),
    ("5f00::/16", Reach.NEVER, "not a public address but for segment routing", "RFC 9602"),
    ("fc00::/7", Reach.PRIVATE, "unique local (RFC 4193)", "RFC 4193"),
    ("fd00:42::42/128", Reach.NEVER, _METADATA, "Scaleway, instance metadata"),
    ("fd00:c1::a9fe:a9fe/128", Reach.NEVER, _METADATA, "Oracle Cloud, instance metadata"),
    ("fd00:ec2::/32", Reach.NEVER, _METADATA, "AWS, instance metadata"),
    ("fd20:ce::254/128", Reach.NEVER, _METADATA, "Google Cloud, metadata server"),
    ("fe80::/10", Reach.NEVER, "link-local", "RFC 4291, 2.5.6"),
    ("fec0::/10", Reach.NEVER, "site-local, long withdrawn", "RFC 3879"),
    ("ff00::/8", Reach.NEVER, "multicast", "RFC 4291, 2.7"),
)
"""Longest prefix first: the most specific line that contains an address decides."""

METADATA_IPV4 = frozenset(int(ipaddress.IPv4Address(text)) for text in ("169.254.169.254", "169.254.170.2"))
"""An IPv6 address that ends in one of these may lead to it by a translator or a tunnel (RFC 6052, RFC 5214)."""


def network_of(address: Address) -> SpecialNetwork:
    return next(line for line in SPECIAL_NETWORKS if address in line.network)
