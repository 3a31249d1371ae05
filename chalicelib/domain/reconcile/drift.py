"""Whether Kafka Connect still has the configs that Headgate sent. Drift is reported, and never overwritten."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from chalicelib.domain.observation import Observation

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


class Configured(Protocol):
    """A connector that was sent a config with this hash."""

    @property
    def config_hash(self) -> str | None: ...


def compare_due(compared_at: datetime | None, connectors: int, now: datetime) -> bool:
    """Whether it is time to ask for all configs. `connectors` is how many the cluster has."""
    return connectors <= MAX_COMPARED and refresh_due(compared_at, now)


def refresh_due(compared_at: datetime | None, now: datetime) -> bool:
    """Whether it is time to read again what is desired: the index that it was last read from may have been behind."""
    return compared_at is None or now - compared_at >= COMPARE_EVERY


def drifted(
    before: Mapping[str, Drift], desired: Mapping[str, Configured], actual: Mapping[str, str] | None
) -> dict[str, Drift]:
    """What differs, by name. `actual` are the hashes of the configs that Connect has, of the connectors that could be
    compared; None when nothing was compared.

    What was confirmed stays so until it is found equal or the connector is sent another config.
    """
    still = {
        name: drift for name, drift in before.items() if name in desired and desired[name].config_hash == drift.expected
    }
    if actual is None:
        return still
    found = {}
    for name, connector in desired.items():
        config_hash = actual.get(name)
        if config_hash is None:
            if name in still and still[name].confirmed:
                found[name] = still[name]
        elif connector.config_hash not in (None, config_hash):
            found[name] = Drift(expected=str(connector.config_hash), confirmed=name in still)
    return found


def suspicious(before: Mapping[str, Observation], now: Mapping[str, Observation]) -> bool:
    """Whether a connector changed as a new config would change it: it has another state, or another number of tasks."""
    return any(
        name in before and seen is not before[name] and _shape(seen) != _shape(before[name])
        for name, seen in now.items()
    )


def _shape(seen: Observation) -> tuple[str, int] | None:
    return (seen.connector.state, len(seen.connector.tasks)) if seen.connector else None
