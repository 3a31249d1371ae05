"""The effects of operations on Kafka Connect: each can be repeated, and each looks whose it is before it touches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chalicelib.clients.connect.client import AlreadyExists, Connect, OutcomeUnknown
from chalicelib.domain.names import OWNER_KEY, owner_marker, parse_connector_name
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, HeadgateError, NotFound, TimedOut, Unavailable
from chalicelib.kit.clock import Deadline

Config = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Everything that an effect on the connector `name` needs.

    `config` builds what the connector should have, and is asked only by effects that need it: one that cannot be built
    any more stands in nobody's way to pause or delete. `check` raises when a connector may not be given that config;
    `may_exist` is false for the draft of a pipeline that was never deployed.
    """

    connect: Connect
    name: str
    config: Callable[[], Config]
    deadline: Deadline
    check: Callable[[Config], None] = lambda _: None
    may_exist: bool = True
    task: int | None = None


def deploy(effect: Effect) -> None:
    """Create the connector STOPPED, or take over the one that an earlier attempt of ours has left."""
    config = effect.config()
    if adopt(effect, config):
        return
    effect.check(config)
    try:
        effect.connect.create_stopped(effect.name, config, effect.deadline)
    except (AlreadyExists, OutcomeUnknown) as unclear:
        _see_what_came_of_it(effect, config, unclear)


def _see_what_came_of_it(effect: Effect, config: Config, unclear: HeadgateError) -> None:
    try:
        if adopt(effect, config):
            return
    except (Unavailable, TimedOut) as silence:
        unclear = silence
    raise OutcomeUnknown("Kafka Connect did not say whether it created the connector.") from unclear


def adopt(effect: Effect, config: Config) -> bool:
    """Whether a connector of this name is ours and now has the config. Raises CONNECTOR_NAME_CONFLICT if not ours."""
    held = find_ours(effect)
    if held is None:
        return False
    if not same(held, config):
        effect.connect.put_config(effect.name, config, effect.deadline)
    return True


def update(effect: Effect) -> None:
    """Give the connector another config, if it has not got it yet: each write of a config restarts a connector."""
    held, config = _require_ours(effect), effect.config()
    if not same(held, config):
        effect.check(config)
        effect.connect.put_config(effect.name, config, effect.deadline)


def pause(effect: Effect) -> None:
    """Pause the connector."""
    _order(effect, effect.connect.pause)


def resume(effect: Effect) -> None:
    """Resume the connector."""
    _order(effect, effect.connect.resume)


def restart(effect: Effect) -> None:
    """Restart the connector with all of its tasks."""
    _order(effect, effect.connect.restart)


def restart_task(effect: Effect) -> None:
    """Restart one task."""
    require_task(effect)
    if effect.task is not None:
        effect.connect.restart_task(effect.name, effect.task, effect.deadline)


def require_task(effect: Effect) -> None:
    """Raise NotFound when the connector has no such task."""
    _require_ours(effect)
    status = effect.connect.find_status(effect.name, effect.deadline)
    if status is None:
        raise _missing()
    if effect.task is None or effect.task not in {task.id for task in status.tasks}:
        raise NotFound("The connector has no task with this number.")


def delete(effect: Effect) -> None:
    """Delete the connector if it is there and ours. One of the same name that is not ours is left alone."""
    if effect.may_exist:
        remove_ours(effect)


def remove_ours(effect: Effect) -> None:
    """Delete the connector if it carries our marker."""
    held = effect.connect.find_config(effect.name, effect.deadline)
    if held is not None and ours(effect.name, held):
        effect.connect.delete(effect.name, effect.deadline)


def find_ours(effect: Effect) -> Config | None:
    """The config that Connect holds, or None. Raises CONNECTOR_NAME_CONFLICT when the connector is not ours."""
    held = effect.connect.find_config(effect.name, effect.deadline)
    if held is not None and not ours(effect.name, held):
        raise Conflict(
            "A connector of this name exists in Kafka Connect and was not made by Headgate. Nothing was changed.",
            code="CONNECTOR_NAME_CONFLICT",
        )
    return held


def ours(name: str, held: Config) -> bool:
    """Whether the config that Connect holds carries the marker of the very resource that the name speaks of."""
    parsed = parse_connector_name(name)
    return parsed is not None and held.get(OWNER_KEY) == owner_marker(*parsed)


def same(held: Config, wanted: Config) -> bool:
    """Whether Connect holds this config; Connect adds the name."""
    return {**held, "name": ""} == {**wanted, "name": ""}


def _order(effect: Effect, act: Callable[[str, Deadline], None]) -> None:
    _require_ours(effect)
    try:
        act(effect.name, effect.deadline)
    except NotFound:
        raise _missing() from None


def _require_ours(effect: Effect) -> Config:
    held = find_ours(effect)
    if held is None:
        raise _missing()
    return held


def _missing() -> Conflict:
    return Conflict(
        "The connector is missing in Kafka Connect. Headgate makes it again within a minute or two; repeat this then."
    )


EFFECTS: Mapping[OperationKind, Callable[[Effect], None]] = {
    OperationKind.DEPLOY: deploy,
    OperationKind.PAUSE: pause,
    OperationKind.RESUME: resume,
    OperationKind.RESTART: restart,
    OperationKind.RESTART_TASK: restart_task,
    OperationKind.UPDATE_CONFIG: update,
    OperationKind.UPDATE_MAPPINGS: update,
    OperationKind.DELETE: delete,
}

REQUIRED_BEFORE: Mapping[OperationKind, Callable[[Effect], None]] = {OperationKind.RESTART_TASK: require_task}
"""What is asked of Connect before an operation is begun at all: a typing error should leave nothing behind."""
