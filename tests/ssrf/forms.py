"""URLs that must not lead to a connection, and URLs that must.

Each form is a label, a URL, and what its name resolves to. `{port}` is the port of a server on loopback that counts.
"""

import ipaddress
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from chalicelib.clients.http.networks import SPECIAL_NETWORKS, Reach

PUBLIC = "93.184.215.14"
_DATA = Path(__file__).parent

TARGETS = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.5.4", "192.168.1.1"),  # noqa: S104
    *("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
)
"""This machine, private networks and metadata services: each is written in every spelling that there is."""


@dataclass(frozen=True)
class Form:
    """`addresses` is what the host's name resolves to; None: it is no name, or one that does not exist."""

    label: str
    url: str
    addresses: tuple[str, ...] | None = None


def forbidden() -> list[Form]:
    """Every form that has to be refused, each URL once."""
    forms = [*_listed("forbidden.json"), *_spelled(), *_networks()]
    return list({(form.url, form.addresses): form for form in forms}.values())


def legal() -> list[Form]:
    """Every form that has to lead to a connection."""
    return list(_listed("legal.json"))


def _listed(name: str) -> Iterator[Form]:
    groups: Mapping[str, list[str | list[str]]] = json.loads((_DATA / name).read_text())
    for label, entries in groups.items():
        for entry in entries:
            url, *addresses = [entry] if isinstance(entry, str) else entry
            yield Form(label, url, tuple(addresses) or None)


def _spelled() -> Iterator[Form]:
    for target in TARGETS:
        for label, host in _spellings(ipaddress.IPv4Address(target)):
            yield Form(label, f"https://{host}:{{port}}/hook")
        yield Form("a name that resolves there", f"https://to-{target.replace('.', '-')}.example.com/", (target,))
        yield Form("a name with a public address as well", "https://mixed.example.com/", (PUBLIC, target))
        mapped = f"::ffff:{target}"
        yield Form("a name that resolves to an address that carries it", "https://six.example.com/", (mapped,))


def _spellings(address: ipaddress.IPv4Address) -> Iterator[tuple[str, str]]:
    number, parts = int(address), [int(part) for part in str(address).split(".")]
    text, high, low = str(address), number >> 16, number & 0xFFFF
    yield "dotted", text
    yield "dotted with a dot at its end", text + "."
    yield "decimal", str(number)
    yield "hexadecimal", hex(number)
    yield "octal", f"0{number:o}"
    yield "dotted hexadecimal", ".".join(map(hex, parts))
    yield "dotted octal", ".".join(f"0{part:o}" for part in parts)
    yield "leading zeros", ".".join(f"{part:03d}" for part in parts)
    yield "three parts", f"{parts[0]}.{parts[1]}.{low}"
    yield "two parts", f"{parts[0]}.{number & 0xFFFFFF}"
    yield "mixed", f"{parts[0]:#x}.0{parts[1]:o}.{low}"
    yield "percent-encoded", "".join(f"%{ord(character):02x}" for character in text)
    yield "wide digits", "".join(chr(0xFF10 + int(character)) if character != "." else "." for character in text)
    yield "ideographic dots", text.replace(".", "\u3002")
    yield "wide dots", text.replace(".", "\uff0e")
    yield "mapped into IPv6", f"[::ffff:{text}]"
    yield "mapped into IPv6, hexadecimal", f"[::ffff:{high:x}:{low:x}]"
    yield "compatible with IPv6", f"[::{high:x}:{low:x}]"
    yield "translated", f"[::ffff:0:{high:x}:{low:x}]"
    yield "NAT64", f"[64:ff9b::{high:x}:{low:x}]"
    yield "local NAT64", f"[64:ff9b:1::{high:x}:{low:x}]"
    yield "6to4", f"[2002:{high:x}:{low:x}::1]"
    yield "ISATAP", f"[fe80::5efe:{high:x}:{low:x}]"
    yield "user name before it", f"hooks.example.com@{text}"
    yield "user name and backslash before it", f"hooks.example.com\\@{text}"


def _networks() -> Iterator[Form]:
    """The first and the last address of every network that is not public, as literals and behind names."""
    for line in SPECIAL_NETWORKS:
        if line.reach is Reach.PUBLIC or line.network.prefixlen == 0:
            continue
        for address in {line.network[0], line.network[-1]}:
            host = f"[{address}]" if address.version == 6 else str(address)
            yield Form(line.reason, f"https://{host}/")
            yield Form(line.reason, "https://network.example.com/", (str(address),))
