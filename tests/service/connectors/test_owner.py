"""Which resources need another config, and what is required of a resource before an operation."""

from dataclasses import replace

import pytest

from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory
from chalicelib.domain.database import SslMode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict, NotFound
from chalicelib.kit.masking import Secret
from chalicelib.services.connectors.dependencies import PipelineDependencies
from chalicelib.services.connectors.owner import (
    Notices,
    needs_config,
    outdated,
    require_deployed,
    require_found,
    with_notice,
)
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input

NOTICES = Notices(config="Deploy it again.", secrets="Deploy it again for the new secrets.")


def loaded(app: InProcessApp, pipeline: Pipeline) -> tuple[Pipeline, PipelineDependencies]:
    """The pipeline as it is stored, and its dependencies."""
    stored = app.services.stores.resources.pipelines.get(pipeline.id)
    return stored, app.services.pipeline_connector.load_dependencies(stored)


def change_source(app: InProcessApp, pipeline: Pipeline) -> None:
    """Change the source in a way that changes the connector's config."""
    source = app.services.sources.get(pipeline.source_id)
    data = changed_input(source, address=replace(source.address, ssl_mode=SslMode.DISABLE))
    app.services.sources.update(app.context(), source.id, data)


def with_drift(deps: PipelineDependencies, name: str, *, confirmed: bool) -> PipelineDependencies:
    """The dependencies, with drift of the connector in the view of its cluster."""
    known = ConnectorMemory(drift=Drift(expected="hash", confirmed=confirmed))
    return replace(deps, view=replace(deps.view, memory=ClusterMemory(connectors={name: known})))


def test_a_deployed_config_is_not_outdated_until_the_source_changes(app: InProcessApp) -> None:
    pipeline, owner = app.deployed_pipeline(), app.services.pipeline_connector
    assert not outdated(owner, *loaded(app, pipeline))
    change_source(app, pipeline)
    assert outdated(owner, *loaded(app, pipeline))


def test_a_draft_has_no_config_that_can_be_outdated(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    change_source(app, pipeline)
    assert not outdated(app.services.pipeline_connector, *loaded(app, pipeline))


@pytest.mark.parametrize("confirmed", [True, False])
def test_only_confirmed_drift_needs_the_config_again(app: InProcessApp, confirmed: bool) -> None:
    pipeline, deps = loaded(app, app.deployed_pipeline())
    deps = with_drift(deps, pipeline.connector_name, confirmed=confirmed)
    assert needs_config(app.services.pipeline_connector, pipeline, deps) is confirmed


def test_drift_of_another_connector_needs_no_config(app: InProcessApp) -> None:
    pipeline, deps = loaded(app, app.deployed_pipeline())
    deps = with_drift(deps, "another", confirmed=True)
    assert not needs_config(app.services.pipeline_connector, pipeline, deps)


def test_the_notice_is_added_to_the_reasons_of_an_outdated_resource_only(app: InProcessApp) -> None:
    created, owner = app.deployed_pipeline(), app.services.pipeline_connector
    pipeline, deps = loaded(app, created)
    assert with_notice(owner, pipeline, deps, NOTICES) == pipeline
    change_source(app, created)
    _, deps = loaded(app, created)
    noticed = with_notice(owner, pipeline, deps, NOTICES)
    assert noticed.observation.reasons == (*pipeline.observation.reasons, *NOTICES)
    assert with_notice(owner, replace(pipeline, observation=None), deps, NOTICES).observation is None


def rotate(app: InProcessApp, pipeline: Pipeline) -> None:
    """Give the source another password."""
    source = app.services.sources.get(pipeline.source_id)
    data = changed_input(source, secrets={"password": Secret("another password")})
    app.services.sources.update(app.context(), source.id, data)


def test_a_rotated_secret_makes_the_config_outdated_until_a_deploy(app: InProcessApp) -> None:
    created, owner = app.deployed_pipeline(), app.services.pipeline_connector
    rotate(app, created)
    pipeline, deps = loaded(app, created)
    assert outdated(owner, pipeline, deps)
    noticed = with_notice(owner, pipeline, deps, NOTICES)
    assert noticed.observation.reasons[-1] == NOTICES.secrets
    assert NOTICES.config not in noticed.observation.reasons
    app.services.pipelines.deploy(app.context(), created.id)
    assert not outdated(owner, *loaded(app, created))


def test_a_connector_that_a_tick_made_again_has_the_present_secrets(app: InProcessApp) -> None:
    created, owner = app.deployed_pipeline(), app.services.pipeline_connector
    app.tick()
    rotate(app, created)
    app.connect.reset()
    app.tick(times=4)
    assert created.connector_name in app.connect.names()
    assert not outdated(owner, *loaded(app, created))


def test_a_draft_cannot_be_controlled_unless_its_deploy_is_open(app: InProcessApp) -> None:
    draft = app.pipeline()
    with pytest.raises(Conflict) as refused:
        require_deployed(draft)
    assert refused.value.code == "STATE_CONFLICT"
    require_deployed(replace(draft, desired_state=DesiredState.PAUSED))


def test_a_reference_that_was_deleted_meanwhile_is_not_found() -> None:
    with pytest.raises(NotFound):
        require_found(None)
    assert require_found("found") == "found"
