"""What the console can act on: each kind with its actions, five states of it, and how it is seen outside."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import httpx

from tests.support.apps.sandbox import Json, Sandbox
from tests.support.waiting import eventually

TRACE = "java.lang.Error: broken"
_NOT_BY_A_PERSON = "onlyFailed=true"
"""So Headgate itself restarts what has failed."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Something that an action changes: its path, and what it is called outside (a connector, or a topic)."""

    id: str
    path: str
    outside: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One resource in its state: where the console shows it, and the parts that an action on it changes."""

    name: str
    route: str
    parts: Sequence[Part]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is outside: a state (None: nothing is there), and the calls so far that change something, oldest first."""

    state: str | None
    calls: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Kind:
    """`actions` are operations by what a person calls them; `noun` is that of the parts in the audit trail."""

    noun: str
    actions: Mapping[str, str]
    states: Mapping[str, Callable[[Sandbox], Subject]]
    look: Callable[[Sandbox, str], Seen]


def in_connect(sandbox: Sandbox, name: str) -> Seen:
    """A connector as Kafka Connect shows it, and the calls for it, such as `PUT pause`."""
    double, path = sandbox.doubles.connect_double, f"/connectors/{name}"
    calls = [
        f"{call.method} {call.path.removeprefix(path).strip('/')}".strip()
        for call in double.calls.calls(path=f"^{path}(/|$)")
        if call.method != "GET" and _NOT_BY_A_PERSON not in call.query
    ]
    if name not in double.names():  # the status of one that was deleted can be read for a moment
        return Seen(state=None, calls=calls)
    status = httpx.get(f"{sandbox.doubles.connect}{path}/status", timeout=10, trust_env=False)
    return Seen(state=status.json()["connector"]["state"] if status.is_success else "UNASSIGNED", calls=calls)


def in_kafka(sandbox: Sandbox, name: str) -> Seen:
    """A topic as the brokers have it."""
    return Seen(state="THERE" if name in sandbox.doubles.kafka_double.state.topics else None)


# what pipelines and deliveries can be in: each breaks or stops one that runs

_RUNNING = ("RUNNING",)


def _pause(sandbox: Sandbox, part: Part) -> None:
    sandbox.admin.post_ok(f"{part.path}/pause", status=200)
    _until(sandbox, part, "PAUSED")


def _fail(sandbox: Sandbox, part: Part, state: str = "FAILED") -> None:
    sandbox.doubles.connect_double.fail_task(part.outside, TRACE)
    _until(sandbox, part, state)


def _drop(sandbox: Sandbox, part: Part) -> None:
    sandbox.doubles.connect_double.drop(part.outside)
    _until(sandbox, part, "NOT_DEPLOYED")


def _leave(_sandbox: Sandbox, _part: Part) -> None:
    """It runs."""


def _fail_in_part(sandbox: Sandbox, part: Part) -> None:
    _fail(sandbox, part, "DEGRADED")


def _until(sandbox: Sandbox, part: Part, state: str) -> None:
    path = f"{part.path}/status?fresh=true"
    eventually(lambda: sandbox.admin.get_ok(path)["observed_state"], lambda seen: seen == state, seconds=40)


Change = Callable[[Sandbox, Part], None]


def _part(place: str, resource: Json) -> Part:
    return Part(id=resource["id"], path=f"/{place}/{resource['id']}", outside=resource["connector_name"])


def _pipeline(change: Change | None) -> Callable[[Sandbox], Subject]:
    def make(sandbox: Sandbox) -> Subject:
        pipeline = sandbox.new_pipeline() if change is None else sandbox.running_pipeline()
        part = _part("pipelines", pipeline)
        if change:
            _until(sandbox, part, "RUNNING")
            change(sandbox, part)
        return Subject(name=pipeline["name"], route=part.path[1:], parts=[part])

    return make


def _delivery(change: Change, *, tasks: int = 1) -> Callable[[Sandbox], Subject]:
    def make(sandbox: Sandbox) -> Subject:
        delivery = sandbox.new_delivery(sandbox.destination, tasks_max=tasks)
        part = _part("deliveries", delivery)
        _until(sandbox, part, "RUNNING")
        change(sandbox, part)
        return Subject(name=delivery["name"], route=part.path[1:], parts=[part])

    return make


def _destination(*changes: Change) -> Callable[[Sandbox], Subject]:
    def make(sandbox: Sandbox) -> Subject:
        destination = sandbox.new_destination()
        parts = [_part("deliveries", sandbox.new_delivery(destination)) for _ in changes]
        for change, part in zip(changes, parts, strict=True):
            _until(sandbox, part, "RUNNING")
            change(sandbox, part)
        return Subject(name=destination["name"], route=f"destinations/{destination['id']}", parts=parts)

    return make


def _topic(make_topic: Callable[[Sandbox], str]) -> Callable[[Sandbox], Subject]:
    def make(sandbox: Sandbox) -> Subject:
        name, query = make_topic(sandbox), f"?cluster_id={sandbox.stream['id']}"
        part = Part(id=name, path=f"/stream/topics/{name}{query}", outside=name)
        return Subject(name=name, route=f"topics/{name}{query}", parts=[part])

    return make


def _free_topic(sandbox: Sandbox) -> str:
    return _made(sandbox, sandbox.name("free"))


def _made(sandbox: Sandbox, name: str) -> str:
    if name not in sandbox.doubles.kafka_double.state.topics:
        sandbox.doubles.kafka_double.state.create_topic(name)
    return name


def _topic_of_a_removed_pipeline(sandbox: Sandbox) -> str:
    pipeline = sandbox.running_pipeline()
    response = sandbox.admin.delete(f"/pipelines/{pipeline['id']}")
    assert response.is_success, response.text
    eventually(lambda: sandbox.admin.get(f"/pipelines/{pipeline['id']}").status_code, lambda status: status == 404)
    return str(pipeline["topics"][0])


KINDS: Mapping[str, Kind] = {
    "pipeline": Kind(
        noun="pipeline",
        look=in_connect,
        actions={
            "deploy": "deploy_pipeline",
            "pause": "pause_pipeline",
            "resume": "resume_pipeline",
            "restart": "restart_pipeline",
            "restart task": "restart_pipeline_task",
            "delete": "delete_pipeline",
        },
        states={
            "draft": _pipeline(None),
            "running": _pipeline(_leave),
            "paused": _pipeline(_pause),
            "failed": _pipeline(_fail),
            "missing in Kafka Connect": _pipeline(_drop),
        },
    ),
    "delivery": Kind(
        noun="delivery",
        look=in_connect,
        actions={
            "pause": "pause_delivery",
            "resume": "resume_delivery",
            "restart": "restart_delivery",
            "restart task": "restart_delivery_task",
            "delete": "delete_delivery",
        },
        states={
            "running": _delivery(_leave),
            "paused": _delivery(_pause),
            "failed": _delivery(_fail),
            "failed in one of two tasks": _delivery(_fail_in_part, tasks=2),
            "missing in Kafka Connect": _delivery(_drop),
        },
    ),
    "destination": Kind(
        noun="delivery",
        look=in_connect,
        actions={"pause": "pause_destination", "resume": "resume_destination", "restart": "restart_destination"},
        states={
            "of two that run": _destination(_leave, _leave),
            "of two that are paused": _destination(_pause, _pause),
            "of one that runs and one that is paused": _destination(_leave, _pause),
            "of one that runs and one that failed": _destination(_leave, _fail),
            "of one that runs and one that is missing": _destination(_leave, _drop),
        },
    ),
    "topic": Kind(
        noun="topic",
        look=in_kafka,
        actions={"delete": "delete_topic"},
        states={
            "of no pipeline": _topic(_free_topic),
            "of a running pipeline": _topic(lambda sandbox: str(sandbox.running_pipeline()["topics"][0])),
            "of a removed pipeline": _topic(_topic_of_a_removed_pipeline),
            "of Kafka itself": _topic(lambda sandbox: _made(sandbox, "__consumer_offsets")),
            "missing": _topic(lambda sandbox: sandbox.name("missing")),
        },
    ),
}


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a consequence means outside: the calls that come, those that may come too, and the states in the end."""

    calls: Sequence[str] = ()
    allowed: Sequence[str] = ()
    states: Sequence[str | None] | None = None


EFFECTS: Mapping[str, Effect] = {
    "CAPTURE_PAUSES": Effect(calls=["PUT pause"], states=["PAUSED"]),
    "DELIVERY_PAUSES": Effect(calls=["PUT pause"], states=["PAUSED"]),
    "CAPTURE_CONTINUES": Effect(calls=["PUT resume"], states=_RUNNING),
    "DELIVERY_CONTINUES": Effect(calls=["PUT resume"], states=_RUNNING),
    "CONNECTOR_RESTARTS": Effect(calls=["POST restart"], states=[*_RUNNING, "PAUSED"]),
    "TASK_RESTARTS": Effect(calls=["POST tasks/0/restart"], states=[*_RUNNING, "PAUSED"]),
    # It is made by a call that has its name in the body.
    "CONNECTOR_IS_CREATED": Effect(allowed=["PUT resume"], states=_RUNNING),
    "CONFIG_IS_WRITTEN": Effect(calls=["PUT config"]),
    "POSITION_IS_LOST": Effect(allowed=["PUT stop", "DELETE offsets", "DELETE"], states=[None]),
    "TOPIC_IS_DELETED": Effect(states=[None]),
}
"""By the code of the consequence. From any other one nothing follows outside."""


def unlike(codes: Sequence[str], before: Seen, after: Seen) -> list[str]:
    """How what happened outside differs from what these consequences say."""
    effects = [EFFECTS[code] for code in codes if code in EFFECTS]
    came = after.calls[len(before.calls) :]
    due = [call for effect in effects for call in effect.calls]
    allowed = {*due, *(call for effect in effects for call in effect.allowed)}
    found = [f"{call} did not come" for call in due if call not in came]
    found += [f"{call} came" for call in came if call not in allowed]
    for effect in effects:
        if effect.states is not None and after.state not in effect.states:
            found.append(f"it is {after.state} outside, not {json.dumps(list(effect.states))}")
    if not effects and after.state != before.state:
        found.append(f"it was {before.state} outside and is {after.state}")
    return found
