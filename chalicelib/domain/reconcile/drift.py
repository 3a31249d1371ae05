"""Whether Kafka Connect still holds the configs that Headgate gave it. Drift is reported, and never overwritten."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from chalicelib.domain.observation import Observation

COMPARE_EVERY = timedelta(minutes=10)
"""How often all configs are asked for and compared."""

SUSPECT_EVERY = timedelta(minutes=1)
"""How often at the most, when something looks as if somebody else had been at work."""

COMPARED_AT_MOST = 10_000
"""Connectors of a cluster. The configs of more do not fit into one answer of a bounded size, and are not compared."""

DRIFTED = (
    "Its config in Kafka Connect is not the one that Headgate gave it. To put that back, deploy the pipeline again, or "
    "send the delivery's mappings again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A config that was found different. `given` is the hash of the one that it should be; it is `confirmed`, and told,
    when it was found twice.
    """

    given: str
    confirmed: bool = False


class Given(Protocol):
    """A connector that was given a config with this hash."""

    @property
    def config_hash(self) -> str | None: ...


def compare_due(compared_at: datetime | None, connectors: int, now: datetime) -> bool:
    """Whether it is time to ask for all configs of a cluster of so many connectors."""
    if connectors > COMPARED_AT_MOST:
        return False
    return compared_at is None or now - compared_at >= COMPARE_EVERY


def drifted(
    before: Mapping[str, Drift], given: Mapping[str, Given], held: Mapping[str, str] | None
) -> dict[str, Drift]:
    """What differs, by name. `held` are the hashes of what Connect holds, of the connectors that could be compared;
    None when nothing was compared.

    What was confirmed stays true until it is found equal or is given another config.
    """
    found = {name: drift for name, drift in before.items() if name in given and given[name].config_hash == drift.given}
    if held is None:
        return found
    now = {}
    for name, one in given.items():
        hashed = held.get(name)
        if hashed is None:
            if name in found and found[name].confirmed:
                now[name] = found[name]
        elif one.config_hash not in (None, hashed):
            now[name] = Drift(given=str(one.config_hash), confirmed=name in found)
    return now


def suspicious(before: Mapping[str, Observation], now: Mapping[str, Observation]) -> bool:
    """Whether a connector changed in a way that a new config brings about: it has another state, or other tasks."""
    return any(
        name in before and seen is not before[name] and _shape(seen) != _shape(before[name])
        for name, seen in now.items()
    )


def _shape(seen: Observation) -> tuple[str, int] | None:
    return (seen.connector.state, len(seen.connector.tasks)) if seen.connector else None
