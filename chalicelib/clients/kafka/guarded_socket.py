"""Connections of kafka-python to checked addresses only. It imports kafka-python: import it lazily.

A broker's answer names other brokers, and kafka-python connects to them: to leaders and coordinators. Somebody who
controls one broker could so make Headgate connect anywhere. Every connection that kafka-python opens begins with a
look-up in the class that the scheme of `proxy_url` chooses; ours returns what the address check allows.
"""

import socket
from typing import Any

from kafka.net.inet import KafkaNetSocket

from chalicelib.clients.addresses import HostCheck
from chalicelib.errors import Invalid, Unavailable

AddressInfo = tuple[Any, ...]
"""An entry of `socket.getaddrinfo`."""


class GuardedUrl(str):
    """A `proxy_url` that brings an address check along, and keeps the sockets that were opened with it."""

    __slots__ = ("check_host", "sockets")
    check_host: HostCheck
    sockets: list[socket.socket]

    @classmethod
    def of(cls, check_host: HostCheck) -> "GuardedUrl":
        url = cls("guarded://")
        url.check_host, url.sockets = check_host, []
        return url

    def close_sockets(self) -> None:
        """Close what kafka-python leaves open when it is stopped while it connects."""
        for one in self.sockets:
            one.close()


class GuardedSocket(KafkaNetSocket):  # type: ignore[misc]  # kafka-python has no types
    """Looks names up by the address check. What it does not allow has no address."""

    SCHEMES = ("guarded",)

    def __init__(self, proxy_url: GuardedUrl) -> None:
        super().__init__(proxy_url)
        self._guard = proxy_url

    def dns_lookup(self, host: str, port: int, raise_error: bool = False) -> list[AddressInfo]:
        try:
            addresses = self._guard.check_host(host)
        except (Invalid, Unavailable):
            return []
        return [_info(address, port) for address in addresses]

    def socket(self, *arguments: Any) -> socket.socket:
        made = socket.socket(*arguments)
        self._guard.sockets.append(made)
        return made


def _info(address: str, port: int) -> AddressInfo:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)
