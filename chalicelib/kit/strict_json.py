"""Strict JSON: text that two parsers may read in two ways is refused.

That is text that is not UTF-8, a key twice in one object, `NaN` and infinities (spelled or by overflow), integers of
more than 1,000 digits, nesting deeper than 32, more than 1,000 members in an object or 5,000 values in all. Depth and
values are counted before parsing, so that a body of nothing but brackets or commas costs a pass over its bytes.
"""

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 32
MAX_INTEGER_LENGTH = 1000
MAX_MEMBERS = 1000
MAX_VALUES = 5000
"""The largest legal body has about 3,700: 500 tables and 500 columns of a pipeline."""
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_BEGINS_VALUE = (b"[", b"{", b",")


_MISTAKES = (
    ("Illegal trailing comma", "a comma stands before a closing bracket"),
    ("Expecting property name", "a key in double quotes is expected"),
    ("Expecting ',' delimiter", "a comma or a closing bracket is expected"),
    ("Expecting ':' delimiter", "a colon is expected behind a key"),
    ("Expecting value", "a value is expected: text, a number, true, false, null, a list or an object"),
    ("Unterminated string", "a text has no closing quote"),
    ("Invalid control character", "a line break or another control character in a text has to be escaped"),
    ("Invalid \\", "a backslash in a text is not the beginning of an escape"),
    ("Extra data", "something stands behind the end of the value"),
)
"""How the messages of Python's JSON decoder begin, and how they are said here: some of them quote the text."""


class NotStrictJson(ValueError):
    """The text is not strict JSON. The message says why and quotes nothing. `line` and `column`, from 1, are where it
    cannot be read; None when it can be read and is refused.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def loads(raw: bytes) -> Any:
    """The value of a JSON text. Raises `NotStrictJson`."""
    _check_shape(raw)
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except NotStrictJson:
        raise
    except UnicodeDecodeError:
        raise NotStrictJson("not UTF-8") from None
    except json.JSONDecodeError as error:
        mistake = next((words for begin, words in _MISTAKES if error.msg.startswith(begin)), "it cannot be read")
        message = f"at line {error.lineno}, column {error.colno}, {mistake}"
        raise NotStrictJson(message, error.lineno, error.colno) from None
    except ValueError:
        raise NotStrictJson("not JSON") from None


def may_hide(raw: bytes, *needles: bytes) -> bool:
    """Whether a string in this JSON text may contain one of the needles: plainly, or spelled with `\\u` escapes.

    False is certain; after True the parsed value has to be searched. It saves nearly every request that search.
    """
    return b"\\u" in raw or any(needle in raw for needle in needles)


def _check_shape(raw: bytes) -> None:
    """Raises `NotStrictJson` for too many values or too deep nesting. Few bodies have to be read without strings."""
    if _values(raw) > MAX_VALUES or raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        # Each value has two strings at most, it and its key. Leaving out so many strings would take long.
        too_many_strings = raw.count(b'"') - raw.count(b'\\"') > 4 * MAX_VALUES
        bare = b"" if too_many_strings else _STRINGS.sub(b"", raw)
        if too_many_strings or _values(bare) > MAX_VALUES:
            raise NotStrictJson(f"more than {MAX_VALUES} values")
        if _too_deep(bare):
            raise NotStrictJson(f"nesting over {MAX_DEPTH}")


def _values(raw: bytes) -> int:
    """Values in a text without strings: never too few, and too many by one in each empty array or object."""
    return 1 + sum(raw.count(character) for character in _BEGINS_VALUE)


def _too_deep(bare: bytes) -> bool:
    depth = 0
    for bracket in bare.translate(None, _NOT_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_MEMBERS:
        raise NotStrictJson(f"an object of more than {MAX_MEMBERS} members")
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise NotStrictJson("a key twice in one object")
    return fields


def _constant(_: str) -> NoReturn:
    raise NotStrictJson("not a finite number")


def _integer(text: str) -> int:
    if len(text) > MAX_INTEGER_LENGTH:
        raise NotStrictJson("an integer of more than 1,000 digits")
    return int(text)


def _decimal(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NotStrictJson("not a finite number")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_decimal, strict=True
)
