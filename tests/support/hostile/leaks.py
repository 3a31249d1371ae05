"""Searches captured output for secrets: as plain text, and in the encodings that software commonly applies.

found = find_leaks({"database password": "..."}, [CapturedOutput("log", "headgate.log", data)])
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote, quote_plus

WINDOW = 12
"""Characters. Twelve successive characters of a random secret do not occur by chance."""


@dataclass(frozen=True)
class CapturedOutput:
    """A piece of output of a system: its channel, its location in that channel, and the bytes."""

    channel: str
    location: str
    data: bytes


@dataclass(frozen=True)
class Leak:
    """A secret that was found, by its name, and where. It does not contain the secret itself."""

    secret: str
    channel: str
    location: str
    encoding: str

    def __str__(self) -> str:
        return f"{self.secret} ({self.encoding}) in {self.channel}: {self.location}"


def find_leaks(secrets: Mapping[str, str], outputs: Iterable[CapturedOutput]) -> list[Leak]:
    leaks: dict[Leak, None] = {}
    for output in outputs:
        for name, secret in secrets.items():
            encoding = next((encoding for encoding, form in encodings(secret) if form in output.data), None)
            if encoding is not None:
                leaks[Leak(name, output.channel, output.location, encoding)] = None
    return list(leaks)


@cache
def encodings(secret: str) -> tuple[tuple[str, bytes], ...]:
    """The forms to search for with their names, plain text first."""
    return tuple(_encodings(secret))


def _encodings(secret: str) -> Iterator[tuple[str, bytes]]:
    raw = secret.encode()
    yield "raw", raw
    for offset in range(3):
        for name, encode in (("base64", base64.b64encode), ("base64url", base64.urlsafe_b64encode)):
            yield f"{name}, {offset} bytes in", _core(encode(b"\0" * offset + raw), offset, len(raw))
    for safe in ("", "/"):
        yield "url", quote(secret, safe=safe).encode()
    yield "url", quote_plus(secret).encode()
    yield "url", quote(secret, safe="").lower().encode()
    yield "hex", raw.hex().encode()
    yield "hex", raw.hex().upper().encode()
    once = json.dumps(secret)[1:-1]
    yield "json", once.encode()
    yield "json in json", json.dumps(once)[1:-1].encode()
    yield "json", json.dumps(secret, ensure_ascii=False)[1:-1].encode()
    for begin in range(len(raw) - WINDOW + 1):
        yield "window", raw[begin : begin + WINDOW]


def _core(encoded: bytes, offset: int, length: int) -> bytes:
    """The part of a base64 text that depends on the secret alone, not on the bytes before or after it."""
    first = -(-offset * 8 // 6)
    last = (offset + length) * 8 // 6
    return encoded[first:last]
