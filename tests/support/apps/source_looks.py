"""Looks at the source of one pipeline, and what people see then."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.running_capture import PostgreSQLCaptureFacts
from chalicelib.kit.clock import Deadline
from tests.support.apps.fakes import healthy_captures
from tests.support.apps.in_process_app import InProcessApp
from tests.support.row_lists import check_rows


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A pipeline that runs and was looked at once."""
    pipeline = app.deployed_pipeline()
    app.tick()
    look(app, pipeline)
    return pipeline


def look(app: InProcessApp, pipeline: Pipeline, *, after: float = 60) -> None:
    """A minute passes, with a tick and a look at the pipeline's source."""
    app.tick(after=after)
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))


def seen(app: InProcessApp, pipeline: Pipeline) -> tuple[str, tuple[str, ...]]:
    """State and reasons as the pipeline's detail shows them. Its row says the same."""
    check_rows(app)
    observation = app.services.pipelines.detail(pipeline.id).pipeline.observation
    assert observation
    return observation.state.value, observation.reasons


def facts_of(pipeline: Pipeline) -> PostgreSQLCaptureFacts:
    return healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])


def incidents(app: InProcessApp) -> list[tuple[str, str, str | None]]:
    """Code, status and pipeline of all incidents, the oldest first."""
    found = reversed(app.services.incidents.list(limit=500).items)
    return [(one.condition.code, one.status.value, one.associations.pipeline_id) for one in found]


GB = 1024**3


def keep(app: InProcessApp, pipeline: Pipeline, **changes: Any) -> None:
    """The server now keeps this for the pipeline's slot."""
    facts = facts_of(pipeline)
    (slot,) = facts.slots.values()
    app.database.captures = replace(facts, slots={slot.name: replace(slot, **changes)})
