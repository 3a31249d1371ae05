"""The error tree. Everything that Headgate raises on purpose is one of these; none of them knows HTTP.

HeadgateError(code, message, details)
├── Malformed            the request cannot be read at all
├── Invalid              the request reads well and asks for something that cannot be
├── Unauthenticated      nobody is signed in
├── NotPermitted         somebody is, and may not
├── NotFound             no such thing
├── MethodNotAllowed     such a thing, but not that way
├── Gone                 was here once, never will be again
├── Conflict             true now, may be untrue later
│   └── WriteConflict    a store's condition did not hold (internal: services turn it into a Conflict)
├── VersionMismatch      the caller looked at an older version
├── TooLarge, UnsupportedMedia
├── RateLimited          later, please
├── Rejected             a foreign system answered with a definite no
├── Unavailable          a foreign system cannot be reached; nothing was changed there
├── StoreUnavailable     one of our own tables or queues does not answer; what it did is unknown
└── TimedOut             a foreign system did not answer in time; whether it acted is *unknown*

`message` is a sentence for people: what is wrong and what to do. It is ours, never a foreign system's text.
`details` is a JSON object or list that holds no secret and no user input.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Details = Mapping[str, Any] | Sequence[Any]


class HeadgateError(Exception):
    """An expected failure with a stable `code`, a sentence for people and JSON `details`."""

    default_code = "INTERNAL"

    def __init__(self, message: str, *, code: str | None = None, details: Details | None = None) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.details: Details = {} if details is None else details


class Malformed(HeadgateError):
    """The body is not the JSON that the contract allows."""

    default_code = "MALFORMED_JSON"


class Invalid(HeadgateError):
    """Well-formed and wrong. `details` is a list of `{"location": [...], "type": "..."}` for `VALIDATION_FAILED`."""

    default_code = "VALIDATION_FAILED"

    @classmethod
    def at(cls, *location: str, type_: str, message: str) -> "Invalid":
        """One field is wrong: `location` starts with body, query, path or header."""
        return cls(message, details=[{"location": list(location), "type": type_}])


class Unauthenticated(HeadgateError):
    """No valid session or token."""

    default_code = "UNAUTHENTICATED"


class NotPermitted(HeadgateError):
    """Signed in, but the role lacks the permission (or the request fails the CSRF rule)."""

    default_code = "FORBIDDEN"


class NotFound(HeadgateError):
    """The thing does not exist, or its id is not an id."""

    default_code = "NOT_FOUND"


class MethodNotAllowed(HeadgateError):
    """The path exists; `allowed` are the methods that it takes."""

    default_code = "METHOD_NOT_ALLOWED"

    def __init__(self, message: str, *, allowed: Sequence[str]) -> None:
        super().__init__(message)
        self.allowed = tuple(allowed)


class Gone(HeadgateError):
    """Removed for good."""

    default_code = "EVENTS_REMOVED"


class Conflict(HeadgateError):
    """The state of things does not allow it now."""

    default_code = "STATE_CONFLICT"


class RequestInProgress(Conflict):
    """The same idempotent request still runs; `retry_after_seconds` says when to look again."""

    default_code = "REQUEST_IN_PROGRESS"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class WriteConflict(Conflict):
    """A store's condition did not hold: somebody else was faster. `label` names the write that was refused."""

    def __init__(self, label: str) -> None:
        super().__init__("Somebody else changed this at the same moment. Read it again and repeat.")
        self.label = label


class VersionMismatch(HeadgateError):
    """`If-Match` names another version than the stored one."""

    default_code = "VERSION_MISMATCH"


class TooLarge(HeadgateError):
    """The body is over the limit."""

    default_code = "PAYLOAD_TOO_LARGE"


class UnsupportedMedia(HeadgateError):
    """The body is not declared as JSON."""

    default_code = "UNSUPPORTED_MEDIA_TYPE"


class RateLimited(HeadgateError):
    """Too many attempts; `retry_after_seconds` says when the next is welcome."""

    default_code = "RATE_LIMITED"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Rejected(HeadgateError):
    """Kafka Connect understood and refused."""

    default_code = "CONNECT_REJECTED"


class Unavailable(HeadgateError):
    """A foreign system cannot be reached. Nothing was changed there."""

    default_code = "CONNECT_UNAVAILABLE"


class TimedOut(HeadgateError):
    """A foreign system did not answer in time. Whether it acted is unknown."""

    default_code = "UPSTREAM_TIMEOUT"


class StoreUnavailable(HeadgateError):
    """One of our own tables, queues or keys does not answer. What it did with the last write is unknown."""
