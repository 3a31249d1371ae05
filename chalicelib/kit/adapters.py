"""Pydantic's type adapters, each built when it is first used: building one takes milliseconds."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@cache
def adapter(kind: Any) -> "TypeAdapter[Any]":
    """The adapter of a type, the same one each time."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
