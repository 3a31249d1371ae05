"""Nothing that a request carries becomes a line of a log, a header of a response, or an address of its own."""

import json
from functools import cache
from itertools import product

import pytest

from tests.support.apps.edge import ADMIN, JSON_ADMIN, THING, Send, make_edge, through_lambda_event
from tests.support.log_lines import logged

HEADERS = (
    "X-Correlation-ID", "Idempotency-Key", "If-Match", "Cookie", "Host", "Origin", "User-Agent", "Authorization",
    "Content-Type", "X-Forwarded-Proto", "X-Forwarded-For", "X-Forwarded-Host", "Accept", "Referer", "Sec-Fetch-Site",
    "Content-Length", "X-HTTP-Method-Override", "Content-Encoding", "Transfer-Encoding",
)  # fmt: skip
PLANTED = "planted"
TEXTS = (
    f"a\r\nSet-Cookie: {PLANTED}=1",
    f"a\nLocation: https://{PLANTED}.example",
    f'a\r\n\r\n{{"level":"ERROR","message":"{PLANTED}"}}',
    f"\x1b[2J\x1b]0;{PLANTED}\x07",
    f"\x00{PLANTED}",
    f"a\u2028{PLANTED}",
    f"\x85{PLANTED}",
    f"\ud800{PLANTED}",
    f"\u202e{PLANTED}",
    f"{PLANTED}" * 4_000,
)
REQUESTS = (
    ("GET", "/api/v1/things", b""),
    ("POST", "/api/v1/things", b'{"name": "one"}'),
    ("PUT", f"/api/v1/things/{THING}", b'{"name": "one"}'),
    ("DELETE", f"/api/v1/things/{THING}", b""),
    ("GET", "/", b""),
    ("GET", "/docs", b""),
)
PATHS = (
    "/api/v1/things/%0d%0aSet-Cookie:%20planted=1",
    "/api/v1/things\r\nplanted: 1",
    "/api/v1/names/a%0aplanted",
    "/api/v1/names/a%1b%5b2Jplanted",
    "/api/v1/names/a%00planted",
    "/api/v1/names/a%e2%80%a8planted",
    "/api/v1/names/a%ed%a0%80planted",
    "//planted.example/",
    "/\\planted.example",
    "/api/v1/../../planted",
    "/api/v1/%2e%2e/planted",
    "/api/v1/things?%0d%0aplanted=1",
    "/api/v1/things?tag=%0d%0aplanted:%201",
)


@cache
def _send() -> Send:
    return through_lambda_event(make_edge().app)


def _assert_harmless(method: str, target: str, headers: dict[str, str], body: bytes) -> None:
    with logged() as stream:
        response = _send()(method, target, headers, body)
    assert response.status < 500, response.body
    for name, value in response.headers.items():
        assert all(" " <= letter <= "~" for letter in name + str(value)), (name, value)
        assert PLANTED not in name + str(value)
    lines = stream.getvalue().split("\n")
    assert lines.pop() == ""
    assert len(lines) <= 2
    for line in lines:
        assert "request" in json.loads(line)["message"]
        assert not any(letter < " " or "\x7f" <= letter < "\xa0" or letter in "\u2028\u2029" for letter in line)
        assert PLANTED not in line


@pytest.mark.parametrize("header", HEADERS)
def test_no_header_becomes_a_line_or_another_header(header: str) -> None:
    for text, (method, target, body) in product(TEXTS, REQUESTS):
        headers = {**(JSON_ADMIN if body else ADMIN), "X-Correlation-ID": "mine"}
        kept = {name: value for name, value in headers.items() if name.lower() != header.lower()}
        _assert_harmless(method, target, {**kept, header: text}, body)


@pytest.mark.parametrize("target", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_path_or_query_becomes_a_line_or_a_header(method: str, target: str) -> None:
    _assert_harmless(method, target, {**ADMIN, "Accept": "text/html"}, b"")
