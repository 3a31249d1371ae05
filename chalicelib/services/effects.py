"""The effects of operations on Kafka Connect: each can be repeated, and each looks before it touches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chalicelib.clients.connect import AlreadyExists, Connect, OutcomeUnknown
from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, HeadgateError, NotFound, TimedOut, Unavailable
from chalicelib.kit.clock import Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Everything that an effect on the connector `name` needs.

    `config` is what the connector should have; `check` raises when it may not be created or changed; `may_exist` is
    false for the draft of a pipeline that was never deployed.
    """

    connect: Connect
    name: str
    config: Mapping[str, str]
    deadline: Deadline
    check: Callable[[], None] = lambda: None
    may_exist: bool = True
    task: int | None = None


def deploy(effect: Effect) -> None:
    """Create the connector STOPPED, or take over the one that an earlier attempt of ours has left."""
    if adopt(effect):
        return
    effect.check()
    try:
        effect.connect.create_stopped(effect.name, dict(effect.config), effect.deadline)
    except (AlreadyExists, OutcomeUnknown) as unclear:
        _see_what_came_of_it(effect, unclear)


def _see_what_came_of_it(effect: Effect, unclear: HeadgateError) -> None:
    try:
        if adopt(effect):
            return
    except (Unavailable, TimedOut) as silence:
        unclear = silence
    raise OutcomeUnknown("Kafka Connect did not say whether it created the connector.") from unclear


def adopt(effect: Effect) -> bool:
    """Whether a connector of this name is ours and now has the config. Raises CONNECTOR_NAME_CONFLICT if not ours."""
    held = effect.connect.find_config(effect.name, effect.deadline)
    if held is None:
        return False
    if not ours(effect, held):
        raise Conflict(
            "A connector of this name exists in Kafka Connect and was not made by Headgate. Nothing was changed.",
            code="CONNECTOR_NAME_CONFLICT",
        )
    if same(held, effect.config):
        return True
    effect.connect.put_config(effect.name, dict(effect.config), effect.deadline)
    return True


def update(effect: Effect) -> None:
    """Give the connector another config, if it has not got it yet: each write of a config restarts a connector."""
    effect.check()
    if not adopt(effect):
        raise _missing()


def pause(effect: Effect) -> None:
    """Pause the connector."""
    _there(effect, effect.connect.pause)


def resume(effect: Effect) -> None:
    """Resume the connector."""
    _there(effect, effect.connect.resume)


def restart(effect: Effect) -> None:
    """Restart the connector with all of its tasks."""
    _there(effect, effect.connect.restart)


def restart_task(effect: Effect) -> None:
    """Restart one task. Raises NotFound when there is no such task."""
    status = effect.connect.find_status(effect.name, effect.deadline)
    if status is None:
        raise _missing()
    if effect.task is None or effect.task not in {task.id for task in status.tasks}:
        raise NotFound("The connector has no task with this number.")
    effect.connect.restart_task(effect.name, effect.task, effect.deadline)


def delete(effect: Effect) -> None:
    """Delete the connector if it is there and ours. One of the same name that is not ours is left alone."""
    if effect.may_exist:
        remove_ours(effect)


def remove_ours(effect: Effect) -> None:
    """Delete the connector if it carries our marker."""
    held = effect.connect.find_config(effect.name, effect.deadline)
    if held is not None and ours(effect, held):
        effect.connect.delete(effect.name, effect.deadline)


def ours(effect: Effect, held: Mapping[str, str]) -> bool:
    """Whether the config that Connect holds carries the marker of this very resource."""
    return held.get(OWNER_KEY) == effect.config[OWNER_KEY]


def same(held: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether Connect holds this config; Connect adds the name."""
    return {**held, "name": ""} == {**wanted, "name": ""}


def _there(effect: Effect, act: Callable[[str, Deadline], None]) -> None:
    try:
        act(effect.name, effect.deadline)
    except NotFound:
        raise _missing() from None


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
    OperationKind.UPDATE_MAPPINGS: update,
    OperationKind.DELETE: delete,
}
