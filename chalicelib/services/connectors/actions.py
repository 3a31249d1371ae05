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
class ConnectorAction:
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


def deploy(action: ConnectorAction) -> None:
    """Create the connector STOPPED, or take over the one that an earlier attempt of ours has left."""
    config = action.config()
    if adopt(action, config):
        return
    action.check(config)
    try:
        action.connect.create_stopped(action.name, config, action.deadline)
    except (AlreadyExists, OutcomeUnknown) as unclear:
        _see_what_came_of_it(action, config, unclear)


def _see_what_came_of_it(action: ConnectorAction, config: Config, unclear: HeadgateError) -> None:
    try:
        if adopt(action, config):
            return
    except (Unavailable, TimedOut) as silence:
        unclear = silence
    raise OutcomeUnknown("Kafka Connect did not say whether it created the connector.") from unclear


def adopt(action: ConnectorAction, config: Config) -> bool:
    """Whether a connector of this name is ours and now has the config. Raises CONNECTOR_NAME_CONFLICT if not ours."""
    held = find_ours(action)
    if held is None:
        return False
    if not same(held, config):
        action.connect.put_config(action.name, config, action.deadline)
    return True


def update(action: ConnectorAction) -> None:
    """Give the connector another config, if it has not got it yet: each write of a config restarts a connector."""
    held, config = _require_ours(action), action.config()
    if not same(held, config):
        action.check(config)
        action.connect.put_config(action.name, config, action.deadline)


def pause(action: ConnectorAction) -> None:
    """Pause the connector."""
    _order(action, action.connect.pause)


def resume(action: ConnectorAction) -> None:
    """Resume the connector."""
    _order(action, action.connect.resume)


def restart(action: ConnectorAction) -> None:
    """Restart the connector with all of its tasks."""
    _order(action, action.connect.restart)


def restart_task(action: ConnectorAction) -> None:
    """Restart one task."""
    require_task(action)
    if action.task is not None:
        action.connect.restart_task(action.name, action.task, action.deadline)


def require_task(action: ConnectorAction) -> None:
    """Raise NotFound when the connector has no such task."""
    _require_ours(action)
    status = action.connect.find_status(action.name, action.deadline)
    if status is None:
        raise _missing()
    if action.task is None or action.task not in {task.id for task in status.tasks}:
        raise NotFound("The connector has no task with this number.")


def delete(action: ConnectorAction) -> None:
    """Delete the connector if it is there and ours. One of the same name that is not ours is left alone."""
    if action.may_exist:
        remove_ours(action)


def remove_ours(action: ConnectorAction) -> None:
    """Delete the connector if it carries our marker."""
    held = action.connect.find_config(action.name, action.deadline)
    if held is not None and ours(action.name, held):
        action.connect.delete(action.name, action.deadline)


def find_ours(action: ConnectorAction) -> Config | None:
    """The config that Connect holds, or None. Raises CONNECTOR_NAME_CONFLICT when the connector is not ours."""
    held = action.connect.find_config(action.name, action.deadline)
    if held is not None and not ours(action.name, held):
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


def _order(action: ConnectorAction, act: Callable[[str, Deadline], None]) -> None:
    _require_ours(action)
    try:
        act(action.name, action.deadline)
    except NotFound:
        raise _missing() from None


def _require_ours(action: ConnectorAction) -> Config:
    held = find_ours(action)
    if held is None:
        raise _missing()
    return held


def _missing() -> Conflict:
    return Conflict(
        "The connector is missing in Kafka Connect. Headgate makes it again within a minute or two; repeat this then."
    )


ACTIONS: Mapping[OperationKind, Callable[[ConnectorAction], None]] = {
    OperationKind.DEPLOY: deploy,
    OperationKind.PAUSE: pause,
    OperationKind.RESUME: resume,
    OperationKind.RESTART: restart,
    OperationKind.RESTART_TASK: restart_task,
    OperationKind.UPDATE_CONFIG: update,
    OperationKind.UPDATE_MAPPINGS: update,
    OperationKind.DELETE: delete,
}

REQUIRED_BEFORE: Mapping[OperationKind, Callable[[ConnectorAction], None]] = {OperationKind.RESTART_TASK: require_task}
"""What is asked of Connect before an operation is begun at all: a typing error should leave nothing behind."""
