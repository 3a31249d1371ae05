"""A request and a response in plain words, so that only the Router has to know what carries them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

JSON = "application/json; charset=utf-8"
FALLBACK = "/{proxy+}"
"""The route of every path that no other route has."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What came in.

    `route` is the pattern that matched (`/api/v1/sources/{uuid}`), `path` what was asked for, still percent-encoded and
    without query, `base` the stage or mapping in front of it. `path_values` are raw; header names are lower case.
    `body` is None when its transport encoding cannot be undone. `source_address` is the peer's as the gateway saw it.
    """

    method: str
    route: str
    path: str
    base: str = ""
    path_values: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = b""
    source_address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """What goes out. A header with several values (`Set-Cookie`) holds a tuple."""

    status: int
    body: str = ""
    headers: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Text of a handler's own making: pages, scripts, metrics. It is sent as it is."""

    text: str
    media_type: str = "text/plain; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """A model with a status chosen at run time, headers and cookies of its own. A `body` of None is an empty 204."""

    body: T
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: tuple[str, ...] = ()
