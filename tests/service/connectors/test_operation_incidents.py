"""Operations that fail are incidents until one succeeds; what a caller did wrong is none."""

import pytest

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import HeadgateError
from tests.faults.inspection import incidents
from tests.support.apps.in_process_app import InProcessApp

NO_DRIVER = "java.sql.SQLException: No suitable driver found for jdbc:postgresql://db/shop"


@pytest.fixture
def draft(app: InProcessApp) -> Pipeline:
    return app.pipeline()


def deploy_without_connect(app: InProcessApp, pipeline: Pipeline) -> None:
    app.clock.advance(1)
    with app.connect_down(), pytest.raises(HeadgateError):
        app.services.pipelines.deploy(app.context(), pipeline.id)


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


@pytest.fixture
def failed_delivery(app: InProcessApp) -> Delivery:
    """A delivery whose connector has failed, as a tick has seen, and then an operation."""
    delivery = app.services.deliveries.deploy(
        app.context(), app.destination().id, app.delivery_input(app.deployed_pipeline())
    )
    app.tick()
    app.connect.show(delivery.connector_name, "FAILED", trace=NO_DRIVER)
    app.tick()
    with app.connect_down(), pytest.raises(HeadgateError):
        app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    return delivery


def active(app: InProcessApp) -> list[tuple[str, str | None]]:
    """Origin and connector of all active incidents."""
    found = app.services.incidents.list(limit=500, active=True).items
    return sorted((one.origin.partition("/")[0], one.condition.connector_name) for one in found)


def test_an_operation_that_succeeds_does_not_end_the_incident_of_a_failed_connector(
    app: InProcessApp, failed_delivery: Delivery
) -> None:
    name = failed_delivery.connector_name
    assert active(app) == [("connect_cluster", name), ("operations", None)]
    app.services.deliveries.control(app.context(), failed_delivery.id, OperationKind.PAUSE)
    assert active(app) == [("connect_cluster", name)]


def test_a_connector_that_runs_again_does_not_end_the_incident_of_a_failed_operation(
    app: InProcessApp, failed_delivery: Delivery
) -> None:
    app.connect.show(failed_delivery.connector_name, "RUNNING")
    app.tick()
    assert active(app) == [("operations", None)]


def test_a_delivery_whose_deploy_fails_is_an_incident_of_its_destination(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    app.tick()
    with app.connect_down(), pytest.raises(HeadgateError):
        app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, "orders"))
    (found,) = app.services.incidents.list(limit=5, destination_id=destination.id).items
    assert (found.condition.code, found.associations.delivery_id) == ("DESTINATION_CONNECTOR_FAILED", None)
    app.clock.advance(1)
    app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline, "orders"))
    assert incidents(app) == [("DESTINATION_CONNECTOR_FAILED", "RESOLVED")]
