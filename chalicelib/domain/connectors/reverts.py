"""Connectors that should be running, and that something else pauses or stops again and again.

Each time a tick resumes them, so none is in the wrong state for long, but capture and delivery are interrupted again
and again.
"""

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


def after_observation(before: tuple[datetime, ...], *, newly_wrong: bool, now: datetime) -> tuple[datetime, ...]:
    """The last times, at most `REVERTED_TIMES`, at which a connector was found in a wrong state, having been in the
    right one. They are forgotten when it has been in the right state for a while.
    """
    times = (*before, now)[-REVERTED_TIMES:] if newly_wrong else before
    return times if times and now - times[-1] < REVERTED_WITHIN else ()


def is_contested(times: tuple[datetime, ...]) -> bool:
    return len(times) == REVERTED_TIMES and times[-1] - times[0] <= REVERTED_WITHIN
