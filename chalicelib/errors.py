"""The errors that Headgate raises on purpose. None of them knows HTTP: `api/framework/errors.py` maps them to statuses.

HeadgateError(code, message, details)
├── Malformed               the body is not the JSON that the contract allows
├── Invalid                 the request is well-formed and its values are wrong
├── Unauthenticated         no valid session or token
├── NotPermitted            the role lacks the permission, or the request breaks the CSRF rule
├── NotFound                no such resource
├── MethodNotAllowed        the path exists, without this method; `allowed` are its methods
├── Gone                    the endpoint was removed
├── Conflict                the state of a resource does not allow it now
│   ├── RequestInProgress   the same idempotent request still runs: repeat it after `retry_after_seconds`
│   └── WriteConflict       a store's condition did not hold (internal: services turn it into a Conflict)
├── VersionMismatch         `If-Match` names an older version
├── TooLarge                the body is over the limit
├── UnsupportedMedia        the body is not declared as JSON
├── RateLimited             too many requests: the next is allowed after `retry_after_seconds`
├── ServerBusy              another request asks the same server now: repeat it after `retry_after_seconds`
├── Rejected                Kafka Connect understood and refused
├── Unavailable             an external system cannot be reached; nothing was changed there
├── StoreRefused            one of our own tables refuses a write for good: nothing was written
├── StoreUnavailable        one of our own tables, queues or keys does not answer; what it did is unknown
│   ├── SecretMismatch      a sealed secret is not the one that its resource lists
│   ├── UnreadableRow       this release cannot read the row: a newer one has written it, or it is damaged
│   └── StoreBusy           one of our own tables refuses for now; nothing was written
│       └── Contention      because another write of the same row was running, each time
└── TimedOut                an external system did not answer in time; whether it acted is *unknown*

`message` is a sentence for people: what is wrong and what to do. It is ours, never an external system's text.
`details` is a JSON object or list that holds no secret and no user input.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Details = Mapping[str, Any] | Sequence[Any]
MAX_SENTENCES = 3
"""Of the faults in the message of an error; all of them are in its details."""


class HeadgateError(Exception):
    """An expected failure with a stable `code`, a sentence for people and JSON `details`."""

    default_code = "INTERNAL"

    def __init__(self, message: str, *, code: str | None = None, details: Details | None = None) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.details: Details = {} if details is None else details


class Malformed(HeadgateError):
    default_code = "MALFORMED_JSON"


class Invalid(HeadgateError):
    """A value is wrong. `details` is a list of what `fault` makes for `VALIDATION_FAILED`."""

    default_code = "VALIDATION_FAILED"

    @classmethod
    def at(cls, *location: str | int, type_: str, message: str, **more: Any) -> "Invalid":
        """The error of one field. `location` starts with body, query, path or header; `more` is as `fault` has it."""
        return cls(message, details=[fault(*location, type_=type_, message=message, **more)])

    @classmethod
    def of(cls, faults: Sequence[Mapping[str, Any]], *, code: str | None = None) -> "Invalid":
        """The error of several fields. Its message is the first sentences of theirs."""
        sentences = tuple(dict.fromkeys(str(one["message"]) for one in faults))
        rest = len(sentences) - MAX_SENTENCES
        more = (f"{rest} more: see details.",) if rest > 0 else ()
        return cls(" ".join((*sentences[:MAX_SENTENCES], *more)), code=code, details=list(faults))


def fault(
    *location: str | int,
    type_: str,
    message: str,
    allowed: Sequence[str] = (),
    limit: int | None = None,
    did_you_mean: str | None = None,
    option: str | None = None,
) -> dict[str, Any]:
    """One entry of the details of `VALIDATION_FAILED`. `message` says what is right, `allowed` are the possible values,
    `limit` is the bound that was broken, `option` the field to use instead of a connector's property. None of them
    repeats what was sent. What does not apply is left out.
    """
    more = {"allowed": list(allowed), "limit": limit, "did_you_mean": did_you_mean, "option": option}
    applying = {name: value for name, value in more.items() if value is not None and value != []}
    return {"location": list(location), "type": type_, "message": message, **applying}


class Unauthenticated(HeadgateError):
    default_code = "UNAUTHENTICATED"


class NotPermitted(HeadgateError):
    """`actor` is who was refused, where that is known already: the audit names it."""

    default_code = "FORBIDDEN"

    def __init__(
        self, message: str, *, code: str | None = None, details: Details | None = None, actor: Any = None
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.actor = actor


class NotFound(HeadgateError):
    default_code = "NOT_FOUND"


class MethodNotAllowed(HeadgateError):
    default_code = "METHOD_NOT_ALLOWED"

    def __init__(self, message: str, *, allowed: Sequence[str]) -> None:
        super().__init__(message, details={"allowed": list(allowed)})
        self.allowed = tuple(allowed)


class Gone(HeadgateError):
    default_code = "EVENTS_REMOVED"


class Conflict(HeadgateError):
    default_code = "STATE_CONFLICT"


class RequestInProgress(Conflict):
    default_code = "REQUEST_IN_PROGRESS"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class WriteConflict(Conflict):
    """The condition of a write did not hold: another writer was faster. `label` names the first refused write, `labels`
    all of them.
    """

    def __init__(self, label: str, *others: str) -> None:
        super().__init__("Somebody else changed this at the same moment. Read it again and repeat.")
        self.label = label
        self.labels = (label, *others)


class VersionMismatch(HeadgateError):
    default_code = "VERSION_MISMATCH"


class TooLarge(HeadgateError):
    default_code = "PAYLOAD_TOO_LARGE"


class UnsupportedMedia(HeadgateError):
    default_code = "UNSUPPORTED_MEDIA_TYPE"


class RateLimited(HeadgateError):
    default_code = "RATE_LIMITED"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        seconds = max(1, retry_after_seconds)
        super().__init__(f"{message} Try again in {seconds} second{'s' if seconds > 1 else ''}.")
        self.retry_after_seconds = seconds


class ServerBusy(HeadgateError):
    """Another request asks the same server now, and there is no earlier answer that could be shown."""

    default_code = "TRY_AGAIN"
    retry_after_seconds = 2

    def __init__(
        self, message: str = "Another request asks this server now. Wait as long as Retry-After says, then repeat."
    ) -> None:
        super().__init__(message)


class Rejected(HeadgateError):
    default_code = "CONNECT_REJECTED"


class Unavailable(HeadgateError):
    default_code = "CONNECT_UNAVAILABLE"


class TimedOut(HeadgateError):
    default_code = "UPSTREAM_TIMEOUT"


class StoreRefused(HeadgateError):
    """One of our own tables refuses a write, and would refuse it again: a row is too large. Nothing was written."""


class StoreUnavailable(HeadgateError):
    """One of our own tables, queues or keys does not answer. What it did with the last write is unknown."""


class StoreBusy(StoreUnavailable):
    """One of our own tables has refused a call for now, again and again. Nothing was written by that call."""

    default_code = "TRY_AGAIN"
    retry_after_seconds = 1

    def __init__(
        self, message: str = "Headgate's store is busy. Wait as long as Retry-After says, then repeat."
    ) -> None:
        super().__init__(message)


class Contention(StoreBusy):
    """Each time another write of the same row was running (DynamoDB: TransactionConflict). No condition was refused."""


class UnreadableRow(StoreUnavailable):
    """A row that exists, and that this release cannot read: what is in it is unknown.

    `kind` is what the row is, such as `pipeline`; `row_id` names it among those.
    """

    default_code = "STATE_CONFLICT"

    def __init__(self, kind: str, row_id: str) -> None:
        super().__init__(
            f"This release of Headgate cannot read the stored {kind.replace('_', ' ')} {row_id}: a newer release has "
            "written it, or it is damaged. Nothing was changed. Use a release that reads it.",
            details={"unreadable": {"type": kind, "id": row_id}},
        )
        self.kind, self.row_id = kind, row_id


class SecretMismatch(StoreUnavailable):
    """A sealed secret was copied, exchanged, rolled back or removed; or it is being rotated at this moment."""
