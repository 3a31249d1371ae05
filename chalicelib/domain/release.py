"""What a pipeline keeps in its source, and what becomes of it when the pipeline is deleted."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRelease:
    """What a deletion can release in the source, by its name there. `statement` does it by hand. `kind` is what it is,
    in the word of the provider.

    `is_own`: the connector has made it. What was adopted is not released.
    """

    name: str
    statement: str
    kind: str = ""
    is_own: bool = True


class ReleaseState(StrEnum):
    """`ADOPTED`: it was there before the pipeline. `NOT_OURS`: something else has that name. `UNKNOWN`: the source
    could not be read.
    """

    RELEASED = "released"
    IN_USE = "in use"
    ADOPTED = "adopted"
    NOT_OURS = "not ours"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseResult:
    """How a release ended. `error` says why it is not known, in our own words."""

    state: ReleaseState
    error: str = ""
