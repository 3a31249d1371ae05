"""Random pauses before another attempt, so that callers who collided once do not collide again."""

import random


def jitter(seconds: float, attempt: int) -> float:
    """Seconds to wait: at most `seconds` after attempt 0, and twice as long after each later attempt."""
    return random.uniform(0, seconds * 2**attempt)  # noqa: S311 - not a secret
