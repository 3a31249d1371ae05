"""Pauses of chance: those who met once shall not meet again at the same moment."""

import random


def jitter(seconds: float, attempt: int) -> float:
    """Seconds to wait before another attempt: up to `seconds` after attempt 0, twice as long after each later one."""
    return random.uniform(0, seconds * 2**attempt)  # noqa: S311 - not a secret
