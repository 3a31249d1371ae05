"""Random pauses and random order: what collides or fails once must not do so again in the same way."""

import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def jitter(seconds: float, attempt: int) -> float:
    """Seconds to wait: at most `seconds` after attempt 0, and twice as long after each later attempt."""
    return random.uniform(0, seconds * 2**attempt)  # noqa: S311 - not a secret


def shuffled(items: Iterable[T]) -> list[T]:
    """In random order: when only some are handled, those that always fail must not exclude the others."""
    result = list(items)
    random.shuffle(result)
    return result
