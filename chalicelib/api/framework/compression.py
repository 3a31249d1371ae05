"""Compression of bodies for clients that accept it (wire contract, section 9)."""

import gzip
import re
from dataclasses import replace
from functools import lru_cache

from chalicelib.api.framework.http import HttpRequest, HttpResponse

MIN_BYTES = 1024
"""Smaller bodies are not compressed: the packet that carries them is no smaller."""
_FAST, _BEST = 1, 9
"""Levels of gzip: for a body that is sent once, and for one that is kept."""
_ACCEPTS_GZIP = re.compile(r"(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0{0,3})?\s*(,|$))[0-9.]+\s*)?(,|$)", re.IGNORECASE)
"""RFC 9110, section 12.5.3. A weight of 0 means: not that one."""


def compressed(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The response, compressed where that helps and the client accepts it.

    What shows a secret is never compressed: from the length of a compressed body that mixes a secret with words of a
    request one can guess the secret (CVE-2013-3587).
    """
    body = response.body
    if response.status == 304:
        # RFC 9110, section 15.4.5: it has the headers that the whole answer would have.
        return replace(response, headers={**response.headers, "Vary": "Accept-Encoding"})
    if response.has_secret or len(body) < MIN_BYTES:
        return response
    # Caches must keep both forms apart, so also the form that is not compressed says it.
    headers = {**response.headers, "Vary": "Accept-Encoding"}
    if not _ACCEPTS_GZIP.search(request.headers.get("accept-encoding", "")):
        return replace(response, headers=headers)
    is_kept = response.headers.get("Cache-Control", "no-store") != "no-store"
    content = _kept(body) if is_kept else _gzip(body, _FAST)
    return replace(response, compressed=content, headers={**headers, "Content-Encoding": "gzip"})


@lru_cache(maxsize=64)
def _kept(text: str) -> bytes:
    """Of a page, a script or a style: the same for every client."""
    return _gzip(text, _BEST)


def _gzip(text: str, level: int) -> bytes:
    return gzip.compress(text.encode(), compresslevel=level, mtime=0)
