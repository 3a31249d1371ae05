"""Connections of kafka-python to checked addresses only. It imports kafka-python: import it lazily.

A broker's answer names other brokers, leaders and coordinators, and kafka-python connects to them. So an attacker who
controls one broker could make Headgate connect anywhere. Before each connection kafka-python resolves the host by the
class for the scheme of `proxy_url`; ours returns the addresses that the check allows.
"""

import socket
from typing import Any

from kafka.net.inet import KafkaNetSocket

from chalicelib.clients.http.addresses import HostCheck
from chalicelib.errors import Invalid, Unavailable

AddressInfo = tuple[Any, ...]
"""An entry of `socket.getaddrinfo`."""


class GuardedUrl(str):
    """A `proxy_url` with an address check and a list of the sockets that were opened with it."""

    __slots__ = ("check_host", "sockets")
    check_host: HostCheck
    sockets: list[socket.socket]

    @classmethod
    def of(cls, check_host: HostCheck) -> "GuardedUrl":
        url = cls("guarded://")
        url.check_host, url.sockets = check_host, []
        return url

    def close_sockets(self) -> None:
        """Close the sockets that kafka-python leaves open when it is stopped while it connects."""
        for opened in self.sockets:
            opened.close()


class GuardedSocket(KafkaNetSocket):  # type: ignore[misc]  # kafka-python has no types
    """Resolves names by the address check. A host that is not allowed has no addresses."""

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
        new_socket = socket.socket(*arguments)
        self._guard.sockets.append(new_socket)
        return new_socket


def _info(address: str, port: int) -> AddressInfo:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)
