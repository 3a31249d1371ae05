"""Requests and responses without Chalice's types, so that only the Router depends on Chalice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Generic, Protocol, TypeVar

from chalicelib.kit.pages import Page

JSON = "application/json; charset=utf-8"
FALLBACK = "/{proxy+}"
"""The route of every path that no other route has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request.

    `route` is the pattern that matched (`/api/v1/sources/{uuid}`), `path` what was asked for, still percent-encoded and
    without query, `base` the stage or mapping in front of it. `has_slash`: the path was sent with a slash at its end.
    `path_values` are raw; header names are lower case.
    `body` is None when its transport encoding cannot be decoded. `source_address` is the peer's as the gateway saw it.
    `received_at` is in seconds of the monotonic clock.
    """

    method: str
    route: str
    path: str
    base: str = ""
    has_slash: bool = False
    path_values: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = b""
    source_address: str = ""
    correlation_id: str = ""
    received_at: float = 0.0


def forwarded_scheme(headers: Mapping[str, str]) -> str:
    """The scheme of the client's own connection, as the gateway reports it; empty when it does not.

    Of several proxies the first one reports it first. Header names are lower case.
    """
    return headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()


def over_https(headers: Mapping[str, str]) -> bool:
    """Whether the client's own connection was TLS."""
    return forwarded_scheme(headers) == "https"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A response as it is sent. A header with several values (`Set-Cookie`) is a tuple.

    `compressed` is sent in place of the body. `has_secret`: the body shows what must not be guessed from its length.
    """

    status: int
    body: str = ""
    headers: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    compressed: bytes | None = None
    has_secret: bool = False


class Caching(Enum):
    """Whether a client may keep a text. `WITH_ETAG`: it asks each time whether it has changed. `FOR_EVER`: its address
    contains a hash of it.
    """

    NEVER = auto()
    WITH_ETAG = auto()
    FOR_EVER = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextResponse:
    """Text that a handler returns to be sent unchanged: pages, scripts, metrics."""

    text: str
    media_type: str = "text/plain; charset=utf-8"
    caching: Caching = Caching.NEVER
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


T = TypeVar("T")
_NO_PAGE: Page[Any] = Page((), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonResponse(Generic[T]):
    """A model that a handler returns with a status, headers or cookies of its own. A `body` of None is an empty 204."""

    body: T
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WithList(Generic[T]):
    """A model that a handler returns, in which one list may be too long for one body.

    The list `field` of `body` gets as many items of `page` as fit. When there are more, `X-Next-Cursor` is a cursor of
    the list route `<path of this request><list_path>`. Without a `field` the body is sent as it is, and its cursor is
    that of the page.
    """

    body: T
    field: str = ""
    page: Page[Any] = _NO_PAGE
    list_path: str = ""


class _HasOperation(Protocol):
    @property
    def open_operation(self) -> object: ...


R = TypeVar("R", bound=_HasOperation)


def operation_response(body: R, *, status: int = 200) -> JsonResponse[R]:
    """The resource after an operation: 202 while Kafka Connect has not confirmed it, `status` afterwards."""
    return JsonResponse(body=body, status=202 if body.open_operation else status)


def deletion_response(remaining: T | None) -> JsonResponse[T | None]:
    """204 for a deleted resource; 202 with the resource while Kafka Connect has not confirmed the deletion."""
    return JsonResponse(body=remaining, status=202 if remaining else 204)
