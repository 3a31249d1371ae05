"""Requests that are small to send and meant to be expensive to refuse."""

import gzip
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from chalicelib.api.framework import inputs
from chalicelib.api.framework.http import HttpRequest
from chalicelib.api.framework.route import Route
from chalicelib.errors import HeadgateError

MOST = inputs.MAX_BODY_BYTES


def _filled(start: bytes, unit: bytes, end: bytes = b"") -> bytes:
    return start + unit * ((MOST - len(start) - len(end)) // len(unit)) + end


BODIES: Mapping[str, bytes] = {
    "nested arrays": _filled(b"", b"["),
    "nested objects": _filled(b"", b'{"a":'),
    "closed nested arrays": b"[" * (MOST // 2) + b"]" * (MOST // 2),
    "brackets in a string": _filled(b'{"name": "', b"[{", b'"}'),
    "brackets after strings": _filled(b"[", b'"",['),
    "a huge integer": _filled(b'{"port": ', b"9", b"}"),
    "huge integers": _filled(b"[", b"9" * 1_000 + b",", b"1]"),
    "a huge exponent": b'{"port": 1e999999999}',
    "decimals with many digits": _filled(b"[", b"0." + b"1" * 2_000 + b",", b"1]"),
    "many members": b"{" + b",".join(b'"k%d":0' % number for number in range(20_000)) + b"}",
    "as many members as are allowed": b"{" + b",".join(b'"k%d":0' % number for number in range(1_000)) + b"}",
    "objects with as many members as are allowed": b"["
    + b",".join(b"{" + b",".join(b'"k%d":0' % number for number in range(990)) + b"}" for _ in range(5))
    + b"]",
    "commas": _filled(b"[", b","),
    "as many values as are allowed": b"[" + b",".join([b"null"] * 4_990) + b"]",
    "empty objects": b"[" + b",".join([b"{}"] * 2_400) + b"]",
    "one key again and again": b"{" + b",".join([b'"a":1'] * 1_000) + b"}",
    "a long string": _filled(b'{"name": "', b"a", b'"}'),
    "a long string of escapes": _filled(b'{"name": "', b"\\u0041", b'"}'),
    "lone surrogates": _filled(b'{"name": "', b"\\ud800", b'"}'),
    "zeros": _filled(b'{"name": "', b"\\u0000", b'"}'),
    "secret references": _filled(b'{"name": "', b"${", b'"}'),
    "secret references in many strings": b"[" + b",".join([b'"${a}"'] * 4_900) + b"]",
    "directions": _filled(b'{"name": "', "\u202e".encode(), b'"}'),
    "characters without width": _filled(b'{"name": "', "\u200b".encode(), b'"}'),
    "joiners": _filled(b'{"name": "', "\u0915\u200d".encode(), b'"}'),
    "combining marks": _filled(b'{"name": "a', "\u0301".encode(), b'"}'),
    "letters that fold to many": _filled(b'{"name": "', "\ufdfa".encode(), b'"}'),
    "backslashes without an end": _filled(b'"', b"\\"),
    "quotes": _filled(b"", b'"'),
    "white space": _filled(b"{", b" ", b"}"),
    "bytes that are no text": _filled(b'{"name": "', b"\xff", b'"}'),
    "a packed body": gzip.compress(b" " * 50_000_000 + b"{}"),
    "unknown fields": b"{" + b",".join(b'"field_%s":0' % (b"a" * (number % 20 + 1)) for number in range(20)) + b"}",
    "tables that are wrong": b'{"tables": [' + b",".join([b'{"x": 1}'] * 1_600) + b"]}",
    "mappings that are wrong": b'{"mappings": [' + b",".join([b'{"topic": 1, "x": 2}'] * 1_600) + b"]}",
    "properties that are wrong": b'{"properties": {' + b",".join(b'"%d": 1' % number for number in range(999)) + b"}}",
    "headers that are wrong": b'{"provider": "webhook", "config": {"headers": {'
    + b",".join(b'"%d ": "a"' % number for number in range(999))
    + b"}}}",
}
"""Bodies of up to 256 KiB. A few are well-formed and refused by the model."""

HEADERS: Mapping[str, tuple[str, str]] = {
    "cookies without values": ("Cookie", ";" * 60_000),
    "many cookies": ("Cookie", "a=b; " * 12_000),
    "one cookie again and again": ("Cookie", "headgate_session=x; " * 3_000),
    "a long cookie": ("Cookie", "headgate_session=" + "x" * 60_000),
    "a long credential": ("Authorization", "Bearer " + "x" * 60_000),
    "a long correlation id": ("X-Correlation-ID", "a" * 60_000),
    "a long key": ("Idempotency-Key", "a" * 60_000),
    "a long version": ("If-Match", '"' + "1" * 60_000 + '"'),
    "a long type": ("Content-Type", "application/" + "a.-" * 20_000 + "+json"),
    "a type with much space": ("Content-Type", "application/json" + " " * 60_000 + ";"),
    "a long length": ("Content-Length", "9" * 60_000),
    "a long host": ("Host", "a." * 30_000),
    "a long origin": ("Origin", "https://" + "a" * 60_000),
}

TARGETS: Mapping[str, str] = {
    "many parameters": "/api/v1/things?" + "&".join(f"p{number}=1" for number in range(1_800)),
    "one parameter again and again": "/api/v1/things?" + "tag=a&" * 2_600,
    "parameters without names": "/api/v1/things?" + "&" * 16_000,
    "separators": "/api/v1/things?" + "=" * 16_000,
    "percent signs": "/api/v1/things?tag=" + "%" * 16_000,
    "percent encoding twice": "/api/v1/things/" + "%2525" * 3_000,
    "encoded slashes": "/api/v1/things/" + "%2f" * 5_000,
    "bytes that are no text": "/api/v1/things/" + "%ff" * 5_000,
    "a long segment": "/api/v1/things/" + "a" * 16_000,
    "many segments": "/api/v1" + "/a" * 8_000,
    "empty segments": "/" * 16_000,
    "dots": "/api/v1/" + "../" * 5_000,
    "a long cursor": "/api/v1/things?cursor=" + "A" * 16_000,
}


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The answer to a body at a route, and its processor time."""

    body: str
    route: str
    refused: bool
    milliseconds: float


def refuse_bodies(routes: Mapping[str, Route]) -> Iterator[Refused]:
    """Each body, read by each of these routes, by their names; without the steps before and after reading."""
    for (name, body), (route_name, route) in ((case, other) for case in BODIES.items() for other in routes.items()):
        request = HttpRequest(method="POST", route=route.path, path=route.path, body=body)
        refused, seconds = _measured(lambda route=route, request=request: inputs.body_model(route, request))
        yield Refused(body=name, route=route_name, refused=refused, milliseconds=seconds * 1000)


def _measured(read: Callable[[], object]) -> tuple[bool, float]:
    """Whether the read was refused, and the least time of three: another process can make one longer only."""
    times, refused = [], False
    for _ in range(3):
        began = time.thread_time()
        try:
            read()
        except HeadgateError:
            refused = True
        times.append(time.thread_time() - began)
    return refused, min(times)
