"""Runs a timeline: lets time pass in a world, and reads the API after each tick, as a user would."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.timelines.script import CAPTURE, DELIVERY, Action, Timeline
from tests.timelines.world import World

LIVE_EVERY = 3
"""Statuses are read after every third tick: each costs a call of Kafka Connect and several of the store."""


@dataclass(frozen=True, kw_only=True)
class ShownState:
    state: str
    reasons: tuple[str, ...]

    def is_well(self, desired: str) -> bool:
        """Whether it reads as if nothing were wrong."""
        return self.state == desired and not self.reasons


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The answers to a user after a tick: `listed` in the lists, `live` in the status of each resource, which is read
    after every third tick only. Deleted resources are in neither.
    """

    second: float
    listed: Mapping[str, ShownState]
    live: Mapping[str, ShownState]
    incidents: tuple[Mapping[str, Any], ...]

    @property
    def active(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(incident for incident in self.incidents if incident["status"] != "RESOLVED")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A timeline that has passed. `alerts` are those that it has raised, `texts` the bodies of all answers."""

    timeline: Timeline
    readings: tuple[Reading, ...]
    alerts: tuple[Mapping[str, Any], ...]
    texts: tuple[str, ...]
    ids: Mapping[str, str]
    """The ids of the pipeline and of the delivery."""


def run(timeline: Timeline, world: World) -> Run:
    readings = []
    for second, kind, action in timeline.events():
        world.advance_to(second)
        happen(world, kind, action)
        if kind == "tick":
            readings.append(read(world, live=len(readings) % LIVE_EVERY == 0))
    world.ends.close()
    alerts = tuple(world.api.get("/alerts?pageSize=200")["items"])
    ids = {CAPTURE: world.pipeline.id, DELIVERY: world.delivery.id}
    return Run(timeline=timeline, readings=tuple(readings), alerts=alerts, texts=tuple(world.api.bodies), ids=ids)


def happen(world: World, kind: str, action: Action | None) -> None:
    """Let an event of a timeline happen, now."""
    if action:
        action(world)
    elif kind == "look":
        world.look()
        world.look_at_destination()
    else:
        world.tick()


def read(world: World, *, live: bool) -> Reading:
    api, pipeline, delivery = world.api, world.pipeline.id, world.delivery.id
    listed = {body["id"]: _state_in(body) for path in ("/pipelines", "/deliveries") for body in api.get(path)}
    paths = {CAPTURE: (pipeline, f"/pipelines/{pipeline}"), DELIVERY: (delivery, f"/deliveries/{delivery}")}
    present = {resource: (key, path) for resource, (key, path) in paths.items() if key in listed}
    return Reading(
        second=world.second,
        listed={resource: listed[key] for resource, (key, _) in present.items()},
        live={resource: _state_in(api.get(f"{path}/status?fresh=true")) for resource, (_, path) in present.items()}
        if live
        else {},
        incidents=tuple(api.get("/operations/errors?limit=200")),
    )


def _state_in(body: Mapping[str, Any]) -> ShownState:
    return ShownState(state=body["observed_state"], reasons=tuple(body["reasons"]))
