"""How values of a type become JSON and come back: built when first used, because building takes milliseconds."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@cache
def adapter(kind: Any) -> "TypeAdapter[Any]":
    """Pydantic's adapter of a type, the same one each time."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
