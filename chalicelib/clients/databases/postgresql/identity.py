"""Reads the identity of a PostgreSQL server by a replication connection. It imports psycopg: import it lazily."""

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql import session
from chalicelib.clients.databases.postgresql.errors import failure
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.postgresql.facts import ServerIdentity
from chalicelib.kit.clock import Deadline


def read_identity(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> ServerIdentity:
    """Opens a replication connection, as a capture does.

    Raises DatabaseFailure: `REPLICATION_NOT_SUPPORTED` also for a pooler that ignores the type of the connection and so
    sends the command to an ordinary session.
    """
    try:
        answer = session.replication_answer(endpoint, check_host, trusted_ca_file, deadline, "IDENTIFY_SYSTEM")
    except DatabaseFailure as refusal:
        if refusal.failure_code is FailureCode.READ_FAILED:
            raise failure(FailureCode.REPLICATION_NOT_SUPPORTED) from None
        raise
    if len(answer) < 2 or not all(value.isdecimal() for value in answer[:2]):
        raise failure(FailureCode.REPLICATION_NOT_SUPPORTED)
    return ServerIdentity(system_identifier=answer[0][:20], timeline=int(answer[1][:10]))
