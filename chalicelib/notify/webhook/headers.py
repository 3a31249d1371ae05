"""Custom headers of webhooks: which names and values may be sent."""

import re
from collections.abc import Iterator, Mapping
from typing import LiteralString

MAX_HEADERS = 20
MAX_BYTES = 4096
"""Of all names and values together."""

FIXED_HEADERS = frozenset(
    {
        *("host", "content-length", "transfer-encoding"),
        *("connection", "keep-alive", "te", "trailer", "upgrade", "expect", "http2-settings"),
        *("webhook-id", "webhook-timestamp", "webhook-signature", "idempotency-key"),
    }
)
"""Headers of routing and length, of the connection (RFC 9110, 7.6.1), and of the id of the message.

Headers that begin with `proxy-` are refused as well.
"""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}\Z")
"""RFC 9110, 5.6.2."""
_VALUE = re.compile(r"([!-~]([ !-~]*[!-~])?)?\Z")
"""Visible ASCII with spaces inside."""
VALUE: LiteralString = "it has to be visible ASCII text in one line"
HEADER_RULES: Mapping[str, LiteralString] = {
    "header_not_allowed": "headers of HTTP itself and those of the message's id and signature are set by Headgate",
    "header_name": "the name of a header has to be letters, digits and dashes",
    "header_value": VALUE,
    "header_repeated": "a header may be given once, whatever the case of its name",
    "headers_too_long": "up to 20 headers of 4096 bytes in all are sent",
}
"""What is right, by the type of an error in headers."""


def header_faults(headers: Mapping[str, str]) -> Iterator[str]:
    """The types of errors in custom headers; none when they may be sent."""
    names = [name.strip().lower() for name in headers]
    if any(is_fixed(name) for name in names):
        yield "header_not_allowed"
    if not all(_TOKEN.match(name) for name in headers):
        yield "header_name"
    if not all(is_value(value) for value in headers.values()):
        yield "header_value"
    if len(set(names)) < len(names):
        yield "header_repeated"
    if len(headers) > MAX_HEADERS or sum(map(len, (*headers, *headers.values()))) > MAX_BYTES:
        yield "headers_too_long"


def is_fixed(name: str) -> bool:
    """Whether only Headgate sets this header. `name` is in lower case."""
    return name in FIXED_HEADERS or name.startswith("proxy-")


def is_value(text: str) -> bool:
    return _VALUE.match(text) is not None


def sendable_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The stored headers that may be sent, by names in lower case. The rules are applied again before each request."""
    names = {name.strip().lower(): name for name in headers}
    return {
        lower: headers[name]
        for lower, name in names.items()
        if _TOKEN.match(name) and is_value(headers[name]) and not is_fixed(lower)
    }
