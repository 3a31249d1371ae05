"""Whether Kafka Connect still has the configs that Headgate sent. Drift is reported, and never overwritten."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.observation import Observation, ReportedState

COMPARE_EVERY = timedelta(minutes=10)
"""How often all configs are asked for and compared."""

SUSPECT_EVERY = timedelta(minutes=1)
"""The same, when a connector looks as if somebody else had changed it."""

MAX_COMPARED = 10_000
"""Connectors of a cluster. With more, the configs do not fit into one bounded answer, and are not compared."""

DRIFTED = (
    "Its config in Kafka Connect is not the one that Headgate gave it. To put that back, deploy the pipeline again, or "
    "send the delivery's mappings again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A config that was found different from the one with the hash `expected`.

    It is `confirmed`, and reported, when it was found different twice in a row.
    """

    expected: str
    confirmed: bool = False


def refresh_due(compared_at: datetime | None, now: datetime) -> bool:
    """Whether it is time to read again what is desired: the index that it was last read from may have been behind."""
    return compared_at is None or now - compared_at >= COMPARE_EVERY


def still_drifted(before: Drift | None, config_hash: str | None) -> Drift | None:
    """The drift of a connector that was not compared. It ends when the connector is sent a config with another hash."""
    return before if before is not None and before.expected == config_hash else None


def after_comparison(before: Drift | None, config_hash: str | None, actual: str | None) -> Drift | None:
    """The drift of a connector that was sent the config with `config_hash` and has the one with the hash `actual`.

    `actual` is None when its config could not be read: then only confirmed drift remains.
    """
    known = still_drifted(before, config_hash)
    if actual is None:
        return known if known and known.confirmed else None
    if config_hash is None or config_hash == actual:
        return None
    return Drift(expected=config_hash, confirmed=known is not None)


def is_suspicious(before: Observation | None, after: Observation | None) -> bool:
    """Whether a connector changed as a new config would change it: it has another state, or another number of tasks."""
    return before is not None and after is not None and _shape(before) != _shape(after)


def _shape(observation: Observation) -> tuple[ReportedState, int] | None:
    status = observation.connector
    return (status.state, len(status.tasks)) if status else None
