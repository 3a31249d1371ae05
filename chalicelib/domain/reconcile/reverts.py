"""Connectors that should be running, and that something else pauses or stops again and again.

Each time a tick resumes them, so none is in the wrong state for long, and what they capture or deliver comes in pieces.
"""

from collections.abc import Mapping, Set
from datetime import datetime, timedelta

REVERTED_TIMES = 3
REVERTED_WITHIN = timedelta(minutes=15)
"""A connector that is found paused or stopped so often within that time is controlled by something else: Strimzi, for
one, pauses and stops the connectors whose resource says so in `spec.state`.
"""

REVERTED = (
    "It is paused or stopped in Kafka Connect again and again although nobody has asked Headgate for that. Something "
    "else controls it, for example Strimzi with `spec.state` of a KafkaConnector. Change that there."
)

Reverted = Mapping[str, tuple[datetime, ...]]
"""When connectors were last found in a wrong state, having been in the right one: at most `REVERTED_TIMES` times."""


def after_look(before: Reverted, newly_wrong: Set[str], desired: Set[str], now: datetime) -> Reverted:
    """What to remember; a connector that has been in the right state for a while is forgotten."""
    times = {name: (*before.get(name, ()), now)[-REVERTED_TIMES:] for name in newly_wrong}
    recent = {name: at for name, at in {**before, **times}.items() if now - at[-1] < REVERTED_WITHIN}
    return {name: at for name, at in recent.items() if name in desired}


def is_contested(times: tuple[datetime, ...]) -> bool:
    """Whether it has happened too often in too short a time."""
    return len(times) == REVERTED_TIMES and times[-1] - times[0] <= REVERTED_WITHIN
