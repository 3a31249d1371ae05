"""Lets a process reach no host but its own."""

import ipaddress
import socket
from typing import Any

from chalicelib.clients.http.addresses import refusal

_resolve = socket.getaddrinfo


def seal() -> None:
    """From now on names of other hosts do not resolve, nor do addresses that Headgate would contact.

    Addresses that it refuses still resolve, so that it is Headgate that refuses them.
    """
    socket.getaddrinfo = _only_here  # type: ignore[assignment]


def _only_here(host: Any, *arguments: Any, **options: Any) -> Any:
    if host is None or host == "localhost" or _is_here_or_refused(str(host)):
        return _resolve(host, *arguments, **options)
    raise socket.gaierror(socket.EAI_NONAME, "this process reaches no other host")


def _is_here_or_refused(host: str) -> bool:
    try:
        entries = _resolve(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return False
    addresses = [str(entry[4][0]) for entry in entries]
    return all(
        ipaddress.ip_address(address.partition("%")[0]).is_loopback or refusal(address, allow_loopback=True)
        for address in addresses
    )
