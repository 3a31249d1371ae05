"""Strict JSON: text that two parsers may read in two ways is refused.

That is text that is not UTF-8, a key twice in one object, `NaN` and infinities (spelled or by overflow), integers of
more than 1,000 digits, nesting deeper than 32. The depth is counted before parsing, so that a body of nothing but
brackets costs one pass over its bytes and no recursion.
"""

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 32
MAX_INTEGER_LENGTH = 1000
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class NotStrictJson(ValueError):
    """The text is not strict JSON. The message says why and quotes nothing."""


def loads(raw: bytes) -> Any:
    """The value of a JSON text. Raises `NotStrictJson`."""
    if _too_deep(raw):
        raise NotStrictJson(f"nesting over {MAX_DEPTH}")
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except NotStrictJson:
        raise
    except UnicodeDecodeError:
        raise NotStrictJson("not UTF-8") from None
    except ValueError:
        raise NotStrictJson("not JSON") from None


def may_hide(raw: bytes, *needles: bytes) -> bool:
    """Whether a string in this JSON text may contain one of the needles: plainly, or spelled with `\\u` escapes.

    False is certain; after True the parsed value has to be searched. It saves nearly every request that search.
    """
    return b"\\u" in raw or any(needle in raw for needle in needles)


def _too_deep(raw: bytes) -> bool:
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _STRINGS.sub(b"", raw).translate(None, _NOT_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
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
