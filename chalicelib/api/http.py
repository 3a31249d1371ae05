"""A request and a response in plain words, so that only the Router has to know what carries them.

Named tuples, as everywhere on the way of every request: a dataclass takes three times as long to import.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

JSON = "application/json; charset=utf-8"
FALLBACK = "/{proxy+}"
"""The route of every path that no other route has."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
T = TypeVar("T")


class HttpRequest(NamedTuple):
    """What came in.

    `route` is the pattern that matched (`/api/v1/sources/{uuid}`), `path` what was asked for, still percent-encoded and
    without query, `base` the stage or mapping in front of it. `path_values` are raw; header names are lower case.
    `body` is None when its transport encoding cannot be undone. `source_address` is the peer's as the gateway saw it.
    """

    method: str
    route: str
    path: str
    base: str = ""
    path_values: Mapping[str, str] = NOTHING
    query: Mapping[str, Sequence[str]] = NOTHING
    headers: Mapping[str, str] = NOTHING
    body: bytes | None = b""
    source_address: str = ""


class HttpResponse(NamedTuple):
    """What goes out. A header with several values (`Set-Cookie`) holds a tuple."""

    status: int
    body: str = ""
    headers: Mapping[str, str | tuple[str, ...]] = NOTHING


class Reply(NamedTuple):
    """Text of a handler's own making: pages, scripts, metrics. It is sent as it is."""

    text: str
    media_type: str = "text/plain; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = NOTHING


class Answer(NamedTuple, Generic[T]):
    """A model with a status chosen at run time, headers and cookies of its own. A `body` of None is an empty 204."""

    body: T
    status: int
    headers: Mapping[str, str] = NOTHING
    cookies: tuple[str, ...] = ()
