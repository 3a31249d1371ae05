"""How a server of any kind is reached: its checked addresses, one after the other, in time."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline

MAX_ADDRESSES = 4

_TRY_NEXT = frozenset({FailureCode.CONNECTION_REFUSED, FailureCode.HOST_UNREACHABLE, FailureCode.TIMEOUT})

Connection = TypeVar("Connection")


def first_connection(
    address: DatabaseAddress,
    check_host: HostCheck,
    deadline: Deadline,
    connect: Callable[[str, Deadline], Connection],
) -> Connection:
    """What `connect` gives for the first of the host's addresses that lets it in, each with its share of the shorter of
    the two time limits. Raises DatabaseFailure.
    """
    limit = Deadline.after(deadline.remaining(address.connection_timeout_seconds))
    allowed = _allowed_addresses(address.host, check_host)
    last = DatabaseFailure(FailureCode.TIMEOUT)
    for number, ip_address in enumerate(allowed):
        if limit.passed:
            break
        try:
            return connect(ip_address, Deadline.after(limit.remaining() / (len(allowed) - number)))
        except DatabaseFailure as refusal:
            last = refusal
            if refusal.failure_code not in _TRY_NEXT:
                break
    raise last


def _allowed_addresses(host: str, check_host: HostCheck) -> Sequence[str]:
    """The checked addresses: no name is resolved after the check."""
    try:
        return tuple(check_host(host))[:MAX_ADDRESSES]
    except Invalid:
        raise DatabaseFailure(FailureCode.URL_NOT_ALLOWED) from None
    except Unavailable:
        raise DatabaseFailure(FailureCode.HOST_NOT_FOUND) from None


@contextlib.contextmanager
def reaching() -> Iterator[None]:
    """Converts what the system says about an address to our failures."""
    try:
        yield
    except ConnectionRefusedError:
        raise DatabaseFailure(FailureCode.CONNECTION_REFUSED) from None
    except ConnectionResetError:
        raise DatabaseFailure(FailureCode.CONNECTION_LOST) from None
    except TimeoutError:
        raise DatabaseFailure(FailureCode.TIMEOUT) from None
    except OSError:
        raise DatabaseFailure(FailureCode.HOST_UNREACHABLE) from None
