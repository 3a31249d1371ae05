"""Runs a timeline: lets time pass in a world, and notes after each tick what a user would read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.observation import PAUSED_CAPTURE
from tests.timelines.script import CAPTURE, DELIVERY, Timeline
from tests.timelines.world import World

LIVE_EVERY = 3
"""Statuses are read after every third tick: each costs a call of Kafka Connect and several of the store."""

PAUSED_AS_ASKED = frozenset({"The connector is paused.", PAUSED_CAPTURE})


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The state of a resource in one answer."""

    state: str
    reasons: tuple[str, ...]

    def is_well(self, desired: str) -> bool:
        """Whether it reads as if nothing were wrong."""
        return self.state == desired and not set(self.reasons) - PAUSED_AS_ASKED


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What a user reads after a tick: `listed` in the lists, `live` in the status of each resource, which is read after
    every third tick only. What was deleted is in neither.
    """

    second: float
    listed: Mapping[str, Shown]
    live: Mapping[str, Shown]
    incidents: tuple[Mapping[str, Any], ...]

    @property
    def active(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(one for one in self.incidents if one["status"] != "RESOLVED")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A timeline that has passed. `texts` are the bodies of all answers."""

    timeline: Timeline
    moments: tuple[Moment, ...]
    texts: tuple[str, ...]
    ids: Mapping[str, str]
    """The ids of the pipeline and of the delivery."""


def run(timeline: Timeline, world: World) -> Run:
    """Let the timeline pass."""
    moments = []
    for second, kind, action in timeline.events():
        world.advance_to(second)
        if action:
            action(world)
        elif kind == "look":
            world.look()
        else:
            world.tick()
            moments.append(read(world, live=len(moments) % LIVE_EVERY == 0))
    world.ends.close()
    ids = {CAPTURE: world.pipeline.id, DELIVERY: world.delivery.id}
    return Run(timeline=timeline, moments=tuple(moments), texts=tuple(world.api.bodies), ids=ids)


def read(world: World, *, live: bool) -> Moment:
    """What a user reads now."""
    api, pipeline, delivery = world.api, world.pipeline.id, world.delivery.id
    listed = {one["id"]: _shown(one) for path in ("/pipelines", "/deliveries") for one in api.get(path)}
    paths = {CAPTURE: (pipeline, f"/pipelines/{pipeline}"), DELIVERY: (delivery, f"/deliveries/{delivery}")}
    present = {who: (key, path) for who, (key, path) in paths.items() if key in listed}
    return Moment(
        second=world.second,
        listed={who: listed[key] for who, (key, _) in present.items()},
        live={who: _shown(api.get(f"{path}/status")) for who, (_, path) in present.items()} if live else {},
        incidents=tuple(api.get("/operations/errors?limit=200")),
    )


def _shown(body: Mapping[str, Any]) -> Shown:
    # Why its progress is not known says nothing about the connector.
    reasons = (one for one in body["reasons"] if one != body.get("progress_notice"))
    return Shown(state=body["observed_state"], reasons=tuple(reasons))
