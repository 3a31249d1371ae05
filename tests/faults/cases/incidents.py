"""What opens, moves and resolves incidents: ticks, looks at sources, people, and deletions."""

from collections.abc import Callable
from dataclasses import replace

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from tests.faults.cases.connectors import deployed_delivery, stored
from tests.faults.cases.operation_case import PreparedOperation, named_cases
from tests.faults.cases.registered import api_operation
from tests.faults.cases.ticks import look, source_look, tick_of
from tests.faults.inspection import Json, bodies, change_by_hand, running_pipeline
from tests.support.apps.fakes import healthy_captures
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.lost_snapshot import lose_snapshot

NO_ANSWER = [FailureCode.TIMEOUT] * 1_000
"""More tests than a run makes, with the reason that faults have: another reason counts as another beginning."""

UNKNOWN_FAILURE = "java.lang.IllegalStateException: something that nobody has seen before"


def incidents(app: InProcessApp) -> list[Json]:
    """All incidents as they are stored."""
    return bodies(app, "incidents")


def has_one(
    app: InProcessApp, status: str, *, of: str = "pipeline", code: str | None = None, most: int = 1
) -> Callable[[], bool]:
    """Whether the last incident (with this `code`, or any) of the pipeline, or of the delivery, has this status, no
    other one is active, and each condition began once, or `most` times at the most.

    A worker of Kafka Connect that answers with an older state ends an incident, and the next answer opens another one.
    """

    def seen() -> bool:
        about = [(one, one["condition"]) for one in incidents(app)]
        found = [one for one, of_it in about if of_it["resource_type"] == of and code in (None, of_it["code"])]
        *earlier, last = sorted(found, key=lambda one: str(one["created_at"])) or [None]
        once = all(one["occurrences"] <= most for one in found)
        ended = all(one["status"] == "RESOLVED" for one in earlier)
        return last is not None and last["status"] == status and once and ended

    return seen


def fail(app: InProcessApp, pipeline: Pipeline) -> None:
    """The pipeline's task fails, and restarts do not help."""
    app.connect.fail_task(pipeline.connector_name, UNKNOWN_FAILURE, failing_restarts=1_000)


def opening_tick(app: InProcessApp) -> PreparedOperation:
    """A task has failed."""
    pipeline = running_pipeline(app)
    return tick_of(app, has_one(app, "OPEN"), warm_up=lambda: fail(app, pipeline))


def resolving_tick(app: InProcessApp) -> PreparedOperation:
    """A task has failed, that was published, and it runs again."""
    pipeline = running_pipeline(app)

    def fail_and_recover() -> None:
        fail(app, pipeline)
        app.tick()
        app.connect.connector(pipeline.connector_name).planned_failures.clear()
        change_by_hand(app, pipeline, "stop")
        change_by_hand(app, pipeline, "resume")

    return tick_of(app, has_one(app, "RESOLVED"), warm_up=fail_and_recover)


def tick_that_has_forgotten(app: InProcessApp) -> PreparedOperation:
    """A task has failed, that was published, and the snapshot was lost. That is no recovery.

    It begins again when Kafka Connect shows the past to that tick, and the index has not the incident yet.
    """
    pipeline = running_pipeline(app)
    fail(app, pipeline)
    app.tick()
    return tick_of(app, has_one(app, "OPEN", most=2), warm_up=lambda: lose_snapshot(app, app.cluster.id))


def resolving_tick_that_has_forgotten(app: InProcessApp) -> PreparedOperation:
    """The snapshot was lost, and the task runs again."""
    resolving = resolving_tick(app)

    def recover_and_lose() -> None:
        resolving.warm_up()
        lose_snapshot(app, app.cluster.id)

    return replace(resolving, warm_up=recover_and_lose)


def opening_look(app: InProcessApp) -> PreparedOperation:
    """A slot was missing at the last look, too."""
    pipeline = _pipeline_without_slot(app)
    return source_look(app, pipeline, has_one(app, "OPEN"))


def resolving_look(app: InProcessApp) -> PreparedOperation:
    """Everything is well again."""
    pipeline = _pipeline_without_slot(app)
    app.clock.advance(60)
    source_look(app, pipeline).request()
    assert has_one(app, "OPEN")()
    app.database.captures = healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])
    return source_look(app, pipeline, has_one(app, "RESOLVED"))


def _pipeline_without_slot(app: InProcessApp) -> Pipeline:
    """A running pipeline whose slot was missing once."""
    pipeline = running_pipeline(app)
    facts = healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])
    app.database.captures = replace(facts, slots={})
    source_look(app, pipeline).request()
    return pipeline


def opening_look_at_a_destination(app: InProcessApp) -> PreparedOperation:
    """It does not answer any more."""
    message = {"destination_id": deployed_delivery(app).destination_id}
    app.database.test_failures[:] = NO_ANSWER
    return look(app, "destination-checks", message, has_one(app, "OPEN", of="destination"))


def resolving_look_at_a_destination(app: InProcessApp) -> PreparedOperation:
    """It answers again."""
    opened = opening_look_at_a_destination(app)
    opened.request()
    assert opened.is_done()
    app.database.test_failures.clear()
    return replace(opened, is_done=has_one(app, "RESOLVED", of="destination"))


def moving(*statuses: str) -> Callable[[InProcessApp], PreparedOperation]:
    """A person sets the last of these statuses, after the others."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        pipeline = running_pipeline(app)
        fail(app, pipeline)
        app.tick()
        (opened,) = incidents(app)
        path = f"/operations/errors/{opened['id']}?status="
        for status in statuses[:-1]:
            api_operation(app, "PATCH", path + status, is_done=lambda: True).request()
            app.clock.advance(1)
        return api_operation(app, "PATCH", path + statuses[-1], is_done=has_one(app, statuses[-1]))

    return prepare


def deletion(app: InProcessApp) -> PreparedOperation:
    """A pipeline that has an open incident is deleted. The incident ends at once, or with the next tick."""
    pipeline = running_pipeline(app)
    fail(app, pipeline)
    app.tick()
    assert has_one(app, "OPEN")()
    return PreparedOperation(
        warm_up=lambda: app.services.pipelines.get(pipeline.id),
        request=lambda: app.services.pipelines.delete(app.context(), pipeline.id),
        is_done=lambda: stored(app, pipeline.id) is None,
        ticks_before=0,
    )


INCIDENT_CASES = named_cases(
    ("incident opened by a tick", opening_tick),
    ("incident resolved by a tick", resolving_tick),
    ("incident kept by a tick whose snapshot was lost", tick_that_has_forgotten),
    ("incident resolved by a tick whose snapshot was lost", resolving_tick_that_has_forgotten),
    ("incident opened by a look", opening_look),
    ("incident resolved by a look", resolving_look),
    ("incident opened by a look at a destination", opening_look_at_a_destination),
    ("incident resolved by a look at a destination", resolving_look_at_a_destination),
    ("incident acknowledged", moving("ACKNOWLEDGED")),
    ("incident resolved", moving("ACKNOWLEDGED", "RESOLVED")),
    ("incident opened again", moving("RESOLVED", "OPEN")),
    ("incident of a deleted pipeline", deletion),
)
