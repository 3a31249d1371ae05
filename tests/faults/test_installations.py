"""Two installations of Headgate on the same workers: a copy of the tables leaves the original's connectors alone."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from chalicelib.domain.connector_config import INSTALLATION_KEY
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict
from chalicelib.services.installation import Installation
from tests.faults.inspection import change_by_hand, connector_writes, incidents, observation_of, running_pipeline
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import SETTINGS, InProcessApp

COPY = replace(SETTINGS, installation_id="the-copy-of-the-tables")
CONFLICT = ("CONNECTOR_NAME_CONFLICT", IncidentStatus.OPEN)


@pytest.fixture(autouse=True)
def settings_as_before(app: InProcessApp) -> Iterator[None]:
    yield
    app.settings = SETTINGS


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A pipeline whose connector the original runs; then the app is a copy."""
    pipeline = running_pipeline(app)
    become(app, copy=True)
    return pipeline


def become(app: InProcessApp, *, copy: bool) -> None:
    app.settings = COPY if copy else SETTINGS
    app.restart()


def compare_configs(app: InProcessApp) -> None:
    app.ticks(601, 10, 10)


def test_every_process_has_the_same_id_and_connectors_carry_it(app: InProcessApp) -> None:
    pipeline, made = running_pipeline(app), app.services.clients.installation.id
    app.restart()
    assert app.services.clients.installation.id == made
    assert app.connect.config_of(pipeline.connector_name)[INSTALLATION_KEY] == made


def test_two_processes_that_make_the_id_at_the_same_time_have_the_same_one(app: InProcessApp) -> None:
    claims = app.services.stores.resources.claims
    made: list[str] = []

    def faster(point: Point, call: InterceptedCall) -> object:
        if point.writes and not made:
            with app.interceptor.unrecorded():
                made.append(Installation(claims).id)
        return call()

    app.interceptor.watch(faster)
    assert Installation(claims).id == made[0]
    app.interceptor.unwatch()


def test_the_ticks_of_a_copy_change_nothing_and_open_an_incident(app: InProcessApp, pipeline: Pipeline) -> None:
    compare_configs(app)
    assert incidents(app) == [CONFLICT]
    assert any("not made by this installation" in reason for reason in observation_of(app, pipeline).reasons)
    change_by_hand(app, pipeline, "pause")
    app.ticks(10, 10, 10, 60, 60)
    assert (connector_writes(app), incidents(app)) == ([], [CONFLICT])


@pytest.mark.parametrize("change", ["pause", "stop"])
def test_a_copy_changes_nothing_before_it_has_compared_configs(
    app: InProcessApp, pipeline: Pipeline, change: str
) -> None:
    change_by_hand(app, pipeline, change)
    app.ticks(10, 10, 10)
    assert connector_writes(app) == []


@pytest.mark.parametrize("action", ["deploy", "pause", "restart"])
def test_what_people_ask_of_a_copy_is_a_name_conflict(app: InProcessApp, pipeline: Pipeline, action: str) -> None:
    compare_configs(app)
    with pytest.raises(Conflict) as refused:
        getattr(app.services.pipelines, action)(app.context(), pipeline.id)
    assert refused.value.code == "CONNECTOR_NAME_CONFLICT"
    assert connector_writes(app) == []


def test_a_deletion_in_the_copy_leaves_the_connector(app: InProcessApp, pipeline: Pipeline) -> None:
    app.services.pipelines.delete(app.context(), pipeline.id)
    app.ticks(10, 100, 700, 10, 10)
    assert (app.connect.names(), connector_writes(app)) == ([pipeline.connector_name], [])


def test_tables_that_are_restored_for_the_same_installation_control_its_connectors(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    compare_configs(app)
    become(app, copy=False)
    compare_configs(app)
    assert incidents(app) == [("CONNECTOR_NAME_CONFLICT", IncidentStatus.RESOLVED)]
    paused = app.services.pipelines.pause(app.context(), pipeline.id)
    assert paused.desired_state is DesiredState.PAUSED
