"""Parses a large JSON object member by member: parsed JSON may need 26 times the memory of its text."""

import codecs
import json
import re
from collections.abc import Iterator

MAX_MEMBER_LENGTH = 4 * 1024 * 1024
"""Characters of one member. A member of Connect's list is one connector, with the traces of its failed tasks."""
_SLICE_BYTES = 1024 * 1024
_SPACE = " \t\n\r"
_BETWEEN = re.compile(r"[ \t\n\r,]*")
_AFTER = re.compile(r"[ \t\n\r]*[,}]")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_parse = json.JSONDecoder().raw_decode


def members(content: bytes) -> Iterator[tuple[str, object]]:
    """The members of a JSON object, in its order.

    Raises ValueError, perhaps after some members, where `content` is no JSON object or one member is too long.
    """
    slices = _slices(content)
    buffer = next(slices, "").lstrip(_SPACE)
    if not buffer.startswith("{"):
        raise ValueError
    at = 1
    while not buffer.startswith("}", at := _end(_BETWEEN, buffer, at)):
        member = _member(buffer, at)
        if member is None:
            more = next(slices, "")
            if not more or len(buffer) - at > MAX_MEMBER_LENGTH:
                raise ValueError
            buffer, at = buffer[at:] + more, 0
            continue
        name, value, at = member
        yield name, value
    if (buffer[at + 1 :] + "".join(slices)).strip(_SPACE):
        raise ValueError


def _member(buffer: str, start: int) -> tuple[str, object, int] | None:
    """Name, value and end; None when it is incomplete or not JSON."""
    try:
        name, end = _parse(buffer, start)
        value, end = _parse(buffer, _end(_COLON, buffer, end))
    except (RecursionError, ValueError):
        return None
    # A number at the end of the buffer may be incomplete.
    return (name, value, end) if isinstance(name, str) and _AFTER.match(buffer, end) else None


def _end(pattern: re.Pattern[str], buffer: str, start: int) -> int:
    match = pattern.match(buffer, start)
    if match is None:
        raise ValueError
    return match.end()


def _slices(content: bytes) -> Iterator[str]:
    """The text in slices that are not empty. Raises UnicodeDecodeError, a ValueError."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), _SLICE_BYTES):
        text = decoder.decode(content[start : start + _SLICE_BYTES], final=start + _SLICE_BYTES >= len(content))
        if text:
            yield text
