"""Actions on connectors: idempotent, and only on connectors that carry our marker."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from chalicelib.clients.connect.client import ConnectRoot, OutcomeUnknown
from chalicelib.domain.connector_config import INSTALLATION_KEY
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, connector_name, owner_marker
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import Conflict, Invalid, NotFound, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.connectors.actions import (
    ACTIONS,
    ConnectorAction,
    adopt,
    delete,
    deploy,
    recreate,
    restart_task,
    same_config,
    update,
)
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import connector_writes
from tests.support.apps.in_process_app import InProcessApp

Act = Callable[[ConnectorAction], None]
pause = ACTIONS[OperationKind.PAUSE]
RESOURCE_ID = "7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10"
NAME = connector_name(ConnectorKind.SOURCE, RESOURCE_ID)
MARKER = {OWNER_KEY: owner_marker(ConnectorKind.SOURCE, RESOURCE_ID)}


@pytest.fixture
def action(app: InProcessApp) -> ConnectorAction:
    """An action on the connector of a draft, which does not exist yet."""
    pipeline, owner = app.pipeline(), app.services.pipeline_connector
    built, clients = owner.config(pipeline, owner.load_dependencies(pipeline)), app.services.clients
    config = clients.for_connect(app.cluster, built)
    app.connect.calls.clear()
    return ConnectorAction(
        connect=clients.connect(app.cluster),
        name=pipeline.connector_name,
        is_ours=clients.is_ours,
        config=lambda: config,
        deadline=Deadline.after(20),
    )


def preload(app: InProcessApp, action: ConnectorAction, **changes: str) -> None:
    """Let the action's connector exist, with these changes of its config; two underscores in a key mean a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    preload_config(app, action, {**action.config(), **changed})


def preload_config(app: InProcessApp, action: ConnectorAction, config: Mapping[str, str]) -> None:
    app.connect.preload([action.name], config=dict(config))
    app.connect.calls.clear()


def refuse() -> None:
    raise Invalid("The source is not ready.")


def unavailable_config() -> Mapping[str, str]:
    raise Invalid("The config cannot be built any more.")


def test_every_kind_of_operation_has_an_action() -> None:
    assert ACTIONS.keys() == set(OperationKind)


def test_a_deploy_creates_the_connector_without_starting_it(app: InProcessApp, action: ConnectorAction) -> None:
    deploy(action)
    assert app.connect.names() == [action.name]
    assert app.connect.starts(action.name) == 0


def test_a_second_deploy_of_the_same_config_writes_nothing(app: InProcessApp, action: ConnectorAction) -> None:
    preload(app, action)
    deploy(action)
    assert connector_writes(app) == []


def test_a_deploy_gives_an_adopted_connector_its_present_config(app: InProcessApp, action: ConnectorAction) -> None:
    preload(app, action, poll__interval__ms="1")
    deploy(action)
    assert connector_writes(app) == [("PUT", f"/connectors/{action.name}/config")]
    assert same_config(app.connect.config_of(action.name), action.config())


def test_a_deploy_that_is_refused_by_the_check_creates_nothing(app: InProcessApp, action: ConnectorAction) -> None:
    with pytest.raises(Invalid):
        deploy(replace(action, check=refuse))
    assert connector_writes(app) == []


def test_an_adopted_connector_is_not_checked_again(app: InProcessApp, action: ConnectorAction) -> None:
    preload(app, action)
    deploy(replace(action, check=refuse))


def test_a_create_without_an_answer_is_confirmed_by_reading_the_connector(
    app: InProcessApp, action: ConnectorAction
) -> None:
    app.connect.plant(FaultEffect.LOSE_REPLY, "POST", "/connectors$")
    deploy(action)
    assert app.connect.names() == [action.name]


def test_a_create_without_an_answer_and_without_a_connector_has_an_unknown_outcome(
    app: InProcessApp, action: ConnectorAction
) -> None:
    app.connect.plant(FaultEffect.TIMED_OUT, "POST", "/connectors$")
    with pytest.raises(OutcomeUnknown):
        deploy(action)


@pytest.mark.parametrize("act", [deploy, update, pause], ids=["deploy", "update", "pause"])
@pytest.mark.parametrize("config", [{}, {OWNER_KEY: "source/another"}], ids=["no marker", "another marker"])
def test_a_foreign_connector_is_a_name_conflict(
    app: InProcessApp, action: ConnectorAction, act: Act, config: dict[str, str]
) -> None:
    preload_config(app, action, config)
    with pytest.raises(Conflict) as refused:
        act(action)
    assert refused.value.code == "CONNECTOR_NAME_CONFLICT"
    assert connector_writes(app) == []


def test_nothing_is_adopted_when_there_is_no_connector(action: ConnectorAction) -> None:
    assert adopt(action, action.config()) is False


def test_an_update_with_the_same_config_is_neither_checked_nor_written(
    app: InProcessApp, action: ConnectorAction
) -> None:
    preload(app, action)
    update(replace(action, check=refuse))
    assert connector_writes(app) == []


def test_an_update_that_is_refused_by_the_check_is_not_written(app: InProcessApp, action: ConnectorAction) -> None:
    preload(app, action, poll__interval__ms="1")
    with pytest.raises(Invalid):
        update(replace(action, check=refuse))
    assert connector_writes(app) == []


@pytest.mark.parametrize("act", [pause, restart_task], ids=["pause", "restart of a task"])
def test_a_missing_connector_cannot_be_changed(action: ConnectorAction, act: Act) -> None:
    with pytest.raises(Conflict):
        act(action)


def test_an_update_creates_a_missing_connector_when_the_check_allows_it(
    app: InProcessApp, action: ConnectorAction
) -> None:
    with pytest.raises(Invalid):
        update(replace(action, check=refuse))
    assert app.connect.names() == []
    update(action)
    assert app.connect.names() == [action.name]


def test_a_recreation_is_not_checked_and_only_its_first_worker_creates(
    app: InProcessApp, action: ConnectorAction
) -> None:
    unchecked = replace(action, check=refuse)
    with pytest.raises(Conflict) as failed:
        recreate(replace(unchecked, first_attempt=False))
    assert failed.value.code == "UPSTREAM_TIMEOUT"
    assert connector_writes(app) == []
    recreate(unchecked)
    assert app.connect.names() == [action.name]
    recreate(replace(unchecked, first_attempt=False))
    assert len(connector_writes(app)) == 1


def test_a_recreation_leaves_a_connector_that_exists_with_the_config_that_somebody_gave_it(
    app: InProcessApp, action: ConnectorAction
) -> None:
    preload(app, action, poll__interval__ms="1")
    assert recreate(action) is False
    assert connector_writes(app) == []


def test_a_recreation_that_finds_the_connector_made_meanwhile_leaves_its_config(
    app: InProcessApp, action: ConnectorAction
) -> None:
    recreate(replace(action, check_workers=lambda _root: preload(app, action, poll__interval__ms="1")))
    assert [method for method, _ in connector_writes(app) if method == "PUT"] == []


def test_nothing_is_created_on_workers_that_are_not_the_right_ones(app: InProcessApp, action: ConnectorAction) -> None:
    def refuse_workers(_root: ConnectRoot) -> None:
        raise Conflict("Other workers answer.")

    for act in (deploy, recreate, update, pause):
        with pytest.raises(Conflict) as refused:
            act(replace(action, check_workers=refuse_workers))
        assert refused.value.message == "Other workers answer."
    assert connector_writes(app) == []


def test_a_connector_that_was_created_again_is_checked_before_it_starts(
    app: InProcessApp, action: ConnectorAction
) -> None:
    with pytest.raises(Invalid):
        recreate(replace(action, check_start=refuse))
    assert (app.connect.names(), app.connect.starts(action.name)) == ([action.name], 0)


def test_a_pause_and_a_deletion_do_not_need_a_config(app: InProcessApp, action: ConnectorAction) -> None:
    preload(app, action)
    without_config = replace(action, config=unavailable_config)
    pause(without_config)
    delete(without_config)
    assert app.connect.names() == []


def test_a_deletion_leaves_a_foreign_connector_and_succeeds(app: InProcessApp, action: ConnectorAction) -> None:
    preload_config(app, action, {})
    delete(action)
    assert app.connect.names() == [action.name]


def test_a_deletion_stops_the_connector_and_deletes_its_offsets_before(
    app: InProcessApp, action: ConnectorAction
) -> None:
    preload(app, action)
    delete(action)
    name = action.name
    # Connect may refuse to delete offsets a few times, while the tasks are ending.
    assert list(dict.fromkeys(connector_writes(app))) == [
        ("PUT", f"/connectors/{name}/stop"),
        ("DELETE", f"/connectors/{name}/offsets"),
        ("DELETE", f"/connectors/{name}"),
    ]


def test_offsets_that_cannot_be_deleted_do_not_prevent_a_deletion(app: InProcessApp, action: ConnectorAction) -> None:
    preload(app, action)
    app.connect.plant(FaultEffect.NOT_READY, "DELETE", "/offsets$", times=9)
    delete(action)
    assert app.connect.names() == []


def test_a_deletion_that_fails_once_the_offsets_may_be_gone_has_an_unknown_outcome(
    app: InProcessApp, action: ConnectorAction
) -> None:
    """A connector without its offsets would take its snapshot again, if it were resumed."""
    preload(app, action)
    app.connect.plant(FaultEffect.NOT_READY, "DELETE", f"{action.name}$", times=9)
    with pytest.raises(OutcomeUnknown):
        delete(action)


def test_a_deletion_that_fails_before_the_offsets_are_touched_is_a_definite_failure(
    app: InProcessApp, action: ConnectorAction
) -> None:
    preload(app, action)
    app.connect.plant(FaultEffect.NOT_READY, times=99)
    with pytest.raises(Unavailable):
        delete(action)


def test_the_deletion_of_a_draft_does_not_ask_connect(app: InProcessApp, action: ConnectorAction) -> None:
    preload(app, action)
    delete(replace(action, may_exist=False))
    assert app.connect.calls.count() == 0


@pytest.mark.parametrize("task", [None, 7])
def test_the_restart_of_an_unknown_task_is_refused(
    app: InProcessApp, action: ConnectorAction, task: int | None
) -> None:
    preload(app, action)
    with pytest.raises(NotFound):
        restart_task(replace(action, task=task))
    assert connector_writes(app) == []


def test_configs_are_compared_without_the_name_that_connect_adds() -> None:
    assert same_config({**MARKER, "name": NAME}, MARKER)
    assert not same_config({**MARKER, "added": "1"}, MARKER)


def test_only_the_marker_of_the_resource_in_the_name_makes_a_connector_ours(app: InProcessApp) -> None:
    is_ours, installation = app.services.clients.is_ours, {INSTALLATION_KEY: app.services.clients.installation.id}
    assert is_ours(NAME, {**MARKER, **installation})
    assert not is_ours(NAME, {OWNER_KEY: owner_marker(ConnectorKind.SINK, RESOURCE_ID), **installation})
    assert not is_ours("orders", {**MARKER, **installation})


@pytest.mark.parametrize("installation", [{}, {INSTALLATION_KEY: "another-installation"}], ids=["none", "another"])
def test_the_marker_of_another_installation_makes_no_connector_ours(
    app: InProcessApp, installation: dict[str, str]
) -> None:
    assert not app.services.clients.is_ours(NAME, {**MARKER, **installation})
