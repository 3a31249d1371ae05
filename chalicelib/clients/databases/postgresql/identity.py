"""Which PostgreSQL server answers, asked over a replication connection. It imports psycopg: import it lazily."""

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql import session
from chalicelib.clients.databases.postgresql.errors import failure
from chalicelib.domain.database import DatabaseAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.postgresql.facts import ServerIdentity
from chalicelib.kit.clock import Deadline


def read_identity(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> ServerIdentity:
    """Opens a replication connection as a capture does, asks who answers, and closes it.

    Raises DatabaseFailure: `REPLICATION_NOT_SUPPORTED` also where a pooler ignores what kind of connection was asked
    for, so that the command reaches an ordinary session.
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
