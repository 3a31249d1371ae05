"""What operations do to a connector in Kafka Connect. Each can be repeated, and first checks the owner marker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from chalicelib.clients.connect.client import AlreadyExists, Connect, ConnectRoot, OutcomeUnknown
from chalicelib.domain.observation import ReportedState
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, HeadgateError, NotFound, TimedOut, Unavailable
from chalicelib.kit.clock import Deadline

Config = Mapping[str, str]

_OFFSETS_SECONDS = 4.0


def at_once(act: Callable[[], object]) -> bool:
    """Starts tasks without a wait."""
    act()
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorAction:
    """Everything that an action on the connector `name` needs.

    `is_ours` says whether a connector with this name and config is ours. `config` builds the connector's config and is
    called only where one is needed: a config that can no longer be built does not prevent a pause or a deletion.
    `check_workers` raises when no connector may be created on the workers that have answered so, `check` when a
    connector may not get that config, and `check_start` when one that was created again may not start. `prepare` makes
    what a connector needs before it is created. `may_exist` is false for the draft of a pipeline that was never
    deployed, `first_attempt` when an earlier worker may have done it.
    `go_on` lets a connector go on after lost changes that a person has accepted, and returns whether it had to be
    stopped; afterwards it is `paused` or running. With `begins_anew` it loses its offset for that and gets `config`.
    With `keeps_config` a connector that exists gets no other config. `start` does what lets tasks start; false when
    they have to wait for connectors beside them, and nothing was done.
    """

    connect: Connect
    name: str
    is_ours: Callable[[str, Config], bool]
    config: Callable[[], Config]
    deadline: Deadline
    check_workers: Callable[[ConnectRoot], None] = lambda _root: None
    check: Callable[[], None] = lambda: None
    prepare: Callable[[], None] = lambda: None
    check_start: Callable[[], None] = lambda: None
    start: Callable[[Callable[[], object]], bool] = at_once
    may_exist: bool = True
    first_attempt: bool = True
    keeps_config: bool = False
    task: int | None = None
    go_on: Callable[[], bool] | None = None
    begins_anew: bool = False
    paused: bool = False


def deploy(action: ConnectorAction) -> None:
    """Create the connector, or adopt the one that an earlier attempt of ours has created."""
    config = action.config()
    if not adopt(action, config):
        _create(action, config)


def recreate(action: ConnectorAction) -> bool:
    """Create a connector that has vanished, without the checks of a deploy: it ran with this config before. One that
    exists all the same keeps the config that it has: somebody may have changed it, and nobody has asked for another.
    Returns whether it has the config.

    A worker that takes the operation over only looks: each creation logs in to the database, and the next attempt has
    to wait for its time.
    """
    current, config = find_ours(action), action.config()
    if current is None:
        if not action.first_attempt:
            message = "Kafka Connect did not confirm that it created the connector, and later it did not exist."
            raise Conflict(message, code=TimedOut.default_code)
        _create(replace(action, check=lambda: None, keeps_config=True), config)
    action.check_start()
    _go_on(action)
    return current is None or same_config(current, config)


def _create(action: ConnectorAction, config: Config) -> None:
    root = action.connect.root(action.deadline)
    action.check_workers(root)
    action.check()
    action.prepare()
    try:
        # STOPPED, so that it copies no row before its deploy is stored.
        action.connect.create_stopped(action.name, config, action.deadline, version=root.version)
    except (AlreadyExists, OutcomeUnknown) as unclear:
        _adopt_or_unknown(action, config, unclear)


def _adopt_or_unknown(action: ConnectorAction, config: Config, unclear: HeadgateError) -> None:
    try:
        if adopt(action, config):
            return
    except (Unavailable, TimedOut) as no_answer:
        unclear = no_answer
    raise OutcomeUnknown("Kafka Connect did not say whether it created the connector.") from unclear


def adopt(action: ConnectorAction, config: Config) -> bool:
    """Whether a connector of this name exists and is ours; it gets the config. Raises CONNECTOR_NAME_CONFLICT."""
    current = find_ours(action)
    if current is None:
        return False
    if not action.keeps_config and not same_config(current, config):
        action.connect.put_config(action.name, config, action.deadline)
    return True


def update(action: ConnectorAction) -> None:
    """Write the connector's config if it is another one; create a connector that is missing."""
    current, config = find_ours(action), action.config()
    if current is None:
        deploy(action)
    elif not same_config(current, config):  # each write restarts the connector
        action.check()
        _begin(action, lambda: action.connect.put_config(action.name, config, action.deadline))


def resume(action: ConnectorAction) -> None:
    _require_ours(action)
    if _go_on(action):
        _start(action)
    else:
        _begin(action, lambda: _control(action, action.connect.resume))


def restart(action: ConnectorAction) -> None:
    _require_ours(action)
    if _go_on(action):
        _start(action)
    else:
        _begin(action, lambda: _control(action, action.connect.restart))


def update_config(action: ConnectorAction) -> None:
    if not action.begins_anew:
        update(action)
    elif find_ours(action) is None:
        create(action)
        return
    if _go_on(action):
        _start(action)


def create(action: ConnectorAction) -> None:
    """Deploy a connector, also after changes that were lost. It is started once the operation is settled."""
    if action.begins_anew:
        action.prepare()  # the checks look for what it needs
    deploy(action)
    if action.begins_anew and action.go_on:
        action.go_on()  # it has its config, and has not run with it yet
    else:
        _go_on(action)


def _go_on(action: ConnectorAction) -> bool:
    """Whether the connector is stopped, now or by an earlier attempt, because a person accepts lost changes."""
    if action.go_on is None:
        return False
    if action.begins_anew:
        _begin_anew(action, action.go_on)
        return True  # a new config makes it UNASSIGNED for a moment
    if action.go_on():
        return True
    status = action.connect.find_status(action.name, action.deadline)
    return status is not None and status.state is ReportedState.STOPPED


def _begin_anew(action: ConnectorAction, go_on: Callable[[], bool]) -> None:
    """Stop the connector, remove its offset, and write its config last: a connector that has it needs nothing more."""
    current, config = find_ours(action), action.config()
    if current is not None and same_config(current, config):
        return
    action.prepare()
    go_on()
    try:
        action.connect.put_config(action.name, config, action.deadline)
    except HeadgateError as error:
        raise OutcomeUnknown("The connector has no offset now, and perhaps not its config yet.") from error


def _start(action: ConnectorAction) -> None:
    """Start a connector that is stopped because of lost changes. A failure is no end: it must not stay so."""
    act = action.connect.pause if action.paused else action.connect.resume
    try:
        act(action.name, action.deadline)
    except HeadgateError as error:
        raise OutcomeUnknown("The connector is stopped, and perhaps not started yet.") from error


def restart_task(action: ConnectorAction) -> None:
    _require_ours(action)
    if _go_on(action):
        _start(action)  # it has no task now, and gets all of them again
        return
    require_task(action)
    if action.task is not None:
        task = action.task
        _begin(action, lambda: action.connect.restart_task(action.name, task, action.deadline))


def require_task(action: ConnectorAction) -> None:
    """Raise NotFound when the connector has no such task."""
    _require_ours(action)
    status = action.connect.find_status(action.name, action.deadline)
    if status is None:
        raise _missing()
    if action.task is None or action.task not in {task.id for task in status.tasks}:
        raise NotFound("The connector has no task with this number.")


def delete(action: ConnectorAction) -> None:
    """Delete the connector if it exists and is ours, with its offsets where Connect can do that.

    Another connector of the same name is not touched. Once its offsets may be gone the connector must not run again: it
    would take its snapshot again, or write everything twice. So a failure after that has an unknown outcome.
    """
    if not action.may_exist or not _exists(action):
        return
    without_offsets = _delete_offsets(action)
    try:
        action.connect.delete(action.name, action.deadline)
    except HeadgateError as error:
        if without_offsets:
            raise OutcomeUnknown("The connector's offsets are deleted, and the connector perhaps not yet.") from error
        raise


def _delete_offsets(action: ConnectorAction) -> bool:
    """Stop the connector and delete its offsets, for a few seconds at most; whether they may be gone."""
    deadline = action.deadline.within(_OFFSETS_SECONDS)
    try:
        action.connect.stop(action.name, deadline)
        action.connect.delete_offsets(action.name, deadline)
    except OutcomeUnknown:
        return True
    except HeadgateError:
        return False  # offsets that stay are harmless: names of connectors are never used again
    return True


def remove_ours(action: ConnectorAction) -> None:
    if _exists(action):
        action.connect.delete(action.name, action.deadline)


def _exists(action: ConnectorAction) -> bool:
    current = action.connect.find_config(action.name, action.deadline)
    return current is not None and action.is_ours(action.name, current)


def find_ours(action: ConnectorAction) -> Config | None:
    """The config in Connect, or None. Raises CONNECTOR_NAME_CONFLICT when the connector is not ours."""
    current = action.connect.find_config(action.name, action.deadline)
    if current is not None and not action.is_ours(action.name, current):
        raise Conflict(
            "A connector of this name exists in Kafka Connect and was not made by this installation of Headgate. "
            "Nothing was changed.",
            code="CONNECTOR_NAME_CONFLICT",
        )
    return current


def same_config(current: Config, config: Config) -> bool:
    """Whether two configs are equal. Connect adds the name to the one that it has."""
    return {**current, "name": ""} == {**config, "name": ""}


def _begin(action: ConnectorAction, act: Callable[[], object]) -> None:
    if not action.start(act):
        raise Conflict(
            "Sinks to another kind of database are making their tables on this Connect cluster: a table that is made "
            "now would get types of the other kind. Repeat this in half a minute."
        )


def _control(action: ConnectorAction, act: Callable[[str, Deadline], None]) -> None:
    _require_ours(action)
    try:
        act(action.name, action.deadline)
    except NotFound:
        raise _missing() from None


def _require_ours(action: ConnectorAction) -> None:
    if find_ours(action) is None:
        action.check_workers(action.connect.root(action.deadline))
        raise _missing()


def _missing() -> Conflict:
    return Conflict(
        "The connector is missing in Kafka Connect. Headgate creates it again; its status says when. To do it now, "
        "deploy the pipeline again, or send the delivery's mappings again."
    )


ACTIONS: Mapping[OperationKind, Callable[[ConnectorAction], object]] = {
    OperationKind.DEPLOY: create,
    OperationKind.RECREATE: recreate,
    OperationKind.PAUSE: lambda action: _control(action, action.connect.pause),
    OperationKind.RESUME: resume,
    OperationKind.RESTART: restart,
    OperationKind.RESTART_TASK: restart_task,
    OperationKind.UPDATE_CONFIG: update_config,
    OperationKind.UPDATE_MAPPINGS: update,
    OperationKind.DELETE: delete,
}

REQUIRED_BEFORE: Mapping[OperationKind, Callable[[ConnectorAction], None]] = {OperationKind.RESTART_TASK: require_task}
"""Checked before an operation begins: a typing error should leave no open operation behind."""
