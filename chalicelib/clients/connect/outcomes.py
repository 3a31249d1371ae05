"""The errors for answers of Connect to changes and reads: refused, not found, unavailable, or outcome unknown."""

from collections.abc import Collection

from chalicelib.clients.connect.http import Answer
from chalicelib.clients.connect.parse import read_refusal
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, Rejected, TimedOut, Unavailable


class OutcomeUnknown(TimedOut):
    """A change was sent to Connect, and its outcome is unknown: the connector has to be read before the next step."""


class AlreadyExists(Conflict):
    """A connector of this name exists. Its config shows the owner."""

    default_code = "CONNECTOR_NAME_CONFLICT"


def require_success(answer: Answer, keys: Collection[str] = ()) -> None:
    """Raise the error for the answer to a change, unless it succeeded. `keys` are the keys of the config that was sent.

    A 5xx of Connect may mean "timed out, possibly applied", or an error of forwarding. A 409 is that of the last retry.
    """
    if answer.succeeded and answer.is_json:
        return
    if answer.succeeded or answer.refusal == 409 or answer.status == 408 or answer.status >= 500:
        raise outcome_unknown()
    match answer.refusal:
        case 404:
            raise NotFound("Kafka Connect has no such connector or task.")
        case 400 | 422:
            errors = [{"field": e.field, "messages": list(e.messages)} for e in read_refusal(answer.message, keys)]
            raise Invalid(
                "Kafka Connect refuses the configuration.", code="CONNECTOR_CONFIG_INVALID", details={"errors": errors}
            )
        case None | 401 | 403:
            raise read_error(answer)
        case _:
            raise Rejected("Kafka Connect refuses the request.")


def read_error(answer: Answer) -> HeadgateError:
    """The error for an unusable answer to a read."""
    if answer.status in (401, 403, 407):
        return Unavailable("Kafka Connect refuses the user name or password that is stored for it.")
    if 300 <= answer.status < 400:
        return Unavailable(
            "Kafka Connect answers with a redirect, which is not followed. Register the address that it names."
        )
    if answer.status == 404:
        # For some seconds after its port opens, Connect answers every path with an HTML 404 of its web server.
        return Unavailable("Kafka Connect is not ready yet, or something else answers at its address.")
    return no_usable_answer()


def outcome_unknown(*, late: bool = False) -> OutcomeUnknown:
    how = "did not answer in time" if late else "gave no definite answer"
    return OutcomeUnknown(f"Kafka Connect {how}, so whether it acted is unknown. Look again before repeating.")


def no_usable_answer(*, late: bool = False) -> Unavailable | TimedOut:
    """The error for a read without an answer, or with an unusable one."""
    if late:
        return TimedOut("Kafka Connect did not answer in time. Check its workers, and try again.")
    return Unavailable("Kafka Connect gave no answer that can be used. Check its workers, and try again.")
