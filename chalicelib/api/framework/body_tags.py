"""Weak ETags of bodies without the times at which they were observed (wire contract, section 8).

A client that asks every few seconds gets 304 and no body while nothing but these times has moved. A body that has a
`version` has a strong ETag instead, which is sent back in `If-Match`.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from chalicelib.api.framework.http import HttpRequest, HttpResponse
from chalicelib.api.framework.route import Route
from chalicelib.domain.access import Permission
from chalicelib.kit.clock import rfc3339, utc_now

OBSERVED_AT = "X-Observed-At"
OBSERVED_FIELDS = (
    *("observed_at", "checked_at", "last_checked_at", "last_health_check_at", "last_seen_at", "moved_at"),
    *("exported_at", "oldest_waiting_seconds"),
)
"""The fields that say when something was observed, or how old it is. Null is another value."""

# Text in a string cannot match: its quotes have backslashes.
_OBSERVED = re.compile(rf'"(?:{"|".join(OBSERVED_FIELDS)})":(?:"([^"]*)"|[0-9.]+)')


def has_body_tag(route: Route) -> bool:
    """Whether answers of the route may have such a tag. A digest of a body that shows a secret would say something
    about it.
    """
    return route.method == "GET" and not route.shows_secret and route.needs is not Permission.SERVICE


def with_body_tag(request: HttpRequest, response: HttpResponse, next_key: str | None) -> HttpResponse:
    """The response with the tag of its body and of where its list goes on; 304 when the client has that."""
    parts = _OBSERVED.split(response.body)
    text, times = "".join(parts[::2]), parts[1::2]
    digest = hashlib.blake2b(f"{text}\n{next_key}".encode(), digest_size=16).hexdigest()
    headers = {**response.headers, "ETag": f'W/"{digest}"'}
    if not is_known(request.headers.get("if-none-match", ""), f'"{digest}"'):
        return replace(response, headers=headers)
    headers.pop("Content-Type", None)
    headers.setdefault(OBSERVED_AT, _newest(times))
    return replace(response, status=304, body="", headers=headers)


def is_known(if_none_match: str, etag: str) -> bool:
    """Whether the client has what this ETag names. RFC 9110, section 13.1.2: whether a tag is weak does not count."""
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return bool(tags & {etag, "*"})


def _newest(times: Sequence[str | None]) -> str:
    """All are written alike, so that their order is that of their texts."""
    return max(filter(None, times), default=None) or rfc3339(utc_now())
