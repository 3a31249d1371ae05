"""Operations that fail are incidents until one succeeds; what a caller did wrong is none."""

import pytest

from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import HeadgateError
from tests.support.in_process_app import InProcessApp


def incidents(app: InProcessApp) -> list[tuple[str, str]]:
    """Code and status of all incidents, the oldest first."""
    found = reversed(app.services.incidents.list(limit=500).items)
    return [(one.condition.code, one.status.value) for one in found]


@pytest.fixture
def draft(app: InProcessApp) -> Pipeline:
    return app.pipeline()


def deploy_without_connect(app: InProcessApp, pipeline: Pipeline) -> None:
    app.clock.advance(1)
    app.connect.refuse()
    try:
        with pytest.raises(HeadgateError):
            app.services.pipelines.deploy(app.context(), pipeline.id)
    finally:
        app.connect.accept()


def test_a_deploy_that_fails_is_an_incident_until_one_succeeds(app: InProcessApp, draft: Pipeline) -> None:
    deploy_without_connect(app, draft)
    deploy_without_connect(app, draft)
    assert incidents(app) == [("PIPELINE_FAILED", "OPEN")]
    (found,) = app.services.incidents.list(limit=1).items
    assert (found.occurrences, found.associations.pipeline_id, found.correlation_id) == (2, draft.id, "test")
    app.clock.advance(1)
    app.services.pipelines.deploy(app.context(), draft.id)
    assert incidents(app) == [("PIPELINE_FAILED", "RESOLVED")]


def test_a_draft_that_is_deleted_has_no_open_incident(app: InProcessApp, draft: Pipeline) -> None:
    deploy_without_connect(app, draft)
    app.services.pipelines.delete(app.context(), draft.id)
    assert incidents(app) == [("PIPELINE_FAILED", "RESOLVED")]


def test_what_a_caller_did_wrong_is_no_incident(app: InProcessApp, draft: Pipeline) -> None:
    app.database.tables = ()
    with pytest.raises(HeadgateError):
        app.services.pipelines.deploy(app.context(), draft.id)
    assert incidents(app) == []


def test_a_delivery_whose_deploy_fails_is_an_incident_of_its_destination(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    app.tick()
    app.connect.refuse()
    with pytest.raises(HeadgateError):
        app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, "orders"))
    app.connect.accept()
    (found,) = app.services.incidents.list(limit=5, destination_id=destination.id).items
    assert (found.condition.code, found.associations.delivery_id) == ("DESTINATION_CONNECTOR_FAILED", None)
    app.clock.advance(1)
    app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, "orders"))
    assert incidents(app) == [("DESTINATION_CONNECTOR_FAILED", "RESOLVED")]
