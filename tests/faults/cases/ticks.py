"""What the queues and the schedule start: ticks, looks at sources, jobs, and the dispatch of their messages."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from chalicelib.domain.cluster import ChangeKind
from chalicelib.domain.job import JobKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from tests.faults.cases.connectors import (
    DEPLOY_DELIVERY,
    DEPLOY_PIPELINE,
    OPERATION_CASES,
    REMAP_DELIVERY,
    deployed_delivery,
)
from tests.faults.cases.operation_case import OperationCase, PreparedOperation, named_cases
from tests.faults.harness.whole_app import deliver, dispatch, messages
from tests.faults.inspection import NO_SECRETS, bodies, change_by_hand, create_orphan, running_pipeline
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point, Side
from tests.support.apps.fakes import healthy_captures
from tests.support.apps.in_process_app import InProcessApp

Prepare = Callable[[InProcessApp], PreparedOperation]
PER_MINUTE = 6


def tick_of(
    app: InProcessApp,
    is_done: Callable[[], bool] = lambda: True,
    *,
    after: float = 10,
    warm_up: Callable[[], object] = lambda: None,
    **more: Any,
) -> PreparedOperation:
    """The message of a tick, so many seconds after what was prepared."""
    cluster = app.cluster

    def request() -> None:
        app.clock.advance(after)
        app.connect.settle()
        deliver("ticks", {"cluster_id": cluster.id})
        app.connect.settle()

    more = {"ticks_before": 0, "ticks_do_it_too": True, "cluster": cluster, **more}
    return PreparedOperation(warm_up=warm_up, request=request, is_done=is_done, **more)


def quiet_tick(app: InProcessApp) -> PreparedOperation:
    deployed_delivery(app)
    return tick_of(app, ticks_before=4)


def comparing_tick(app: InProcessApp) -> PreparedOperation:
    """It is time to compare configs."""
    deployed_delivery(app)
    return tick_of(app, ticks_before=4, after=700)


def first_tick(app: InProcessApp) -> PreparedOperation:
    """Nothing is known of the cluster yet."""
    app.deployed_pipeline()
    return tick_of(app)


def recreating_tick(app: InProcessApp) -> PreparedOperation:
    """A connector was missing once."""
    pipeline = running_pipeline(app)
    app.connect.drop(pipeline.connector_name)
    app.tick()
    return tick_of(app, lambda: pipeline.connector_name in app.connect.names())


def resuming_tick(app: InProcessApp) -> PreparedOperation:
    """Somebody has paused a connector."""
    return _repairing(app, running_pipeline(app), "pause", "STARTED")


def pausing_tick(app: InProcessApp) -> PreparedOperation:
    """Somebody has resumed a paused connector."""
    pipeline = running_pipeline(app)
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.tick()
    return _repairing(app, pipeline, "resume", "PAUSED")


def _repairing(app: InProcessApp, pipeline: Pipeline, change: str, target: str) -> PreparedOperation:
    change_by_hand(app, pipeline, change)
    app.tick()
    return tick_of(app, lambda: app.connect.connector(pipeline.connector_name).target == target)


def restarting_tick(app: InProcessApp) -> PreparedOperation:
    """A task has failed for a reason that may pass."""
    pipeline = running_pipeline(app)
    name = pipeline.connector_name

    def is_done() -> bool:
        return all(task.state == "RUNNING" for task in app.connect.connector(name).tasks.values())

    def fail() -> None:
        app.connect.fail_task(name, NO_SECRETS)
        app.tick()

    return tick_of(app, is_done, warm_up=fail)


def removing_tick(*seconds: float) -> Prepare:
    """An orphan that is to be stopped or deleted by the next tick, after ticks with so many seconds between them."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        running_pipeline(app)
        name = create_orphan(app)
        for after in seconds:
            app.tick(after=after)
        return tick_of(app, lambda: name not in app.connect.names(), leaves_connector=True)

    return prepare


def confirmed_deletions(app: InProcessApp) -> PreparedOperation:
    """An Admin confirms that orphans may be deleted, of which there are suspiciously many."""
    running_pipeline(app)
    for _ in range(5):
        create_orphan(app)
    for seconds in (10, 10, 10, 100, 10, 600):
        app.tick(after=seconds)
    cluster = app.cluster
    assert app.services.connect_clusters.get(cluster.id).pending_deletions
    confirmed = "connect_cluster.confirm_deletions"
    return PreparedOperation(
        warm_up=lambda: app.services.connect_clusters.get(cluster.id),
        request=lambda: app.services.connect_clusters.confirm(app.context(), cluster.id, ChangeKind.DELETIONS, 5),
        is_done=lambda: any(one["action"] == confirmed for one in bodies(app, "audit")),
        ticks_before=0,
        leaves_connector=True,
        cluster=cluster,
    )


def confirmed_creations(app: InProcessApp) -> PreparedOperation:
    """An Admin confirms that missing connectors may be created again, of which there are suspiciously many."""
    pipelines = [app.deployed_pipeline() for _ in range(4)]
    app.tick(times=4)
    for pipeline in pipelines:
        app.connect.drop(pipeline.connector_name)
    app.tick(times=3)
    cluster = app.cluster
    assert app.services.connect_clusters.get(cluster.id).pending_creations
    confirmed = "connect_cluster.confirm_creations"
    return PreparedOperation(
        warm_up=lambda: app.services.connect_clusters.get(cluster.id),
        request=lambda: app.services.connect_clusters.confirm(app.context(), cluster.id, ChangeKind.CREATIONS, 4),
        is_done=lambda: any(one["action"] == confirmed for one in bodies(app, "audit")),
        ticks_before=0,
        leaves_connector=True,
        cluster=cluster,
    )


def taking_over(interrupted: OperationCase, *, connect_writes: int) -> Prepare:
    """Another process died in an operation, after so many of its writes to Connect: its lease has ended. It may fail,
    as it may when it is requested: then people see that, and repeat it.
    """

    def prepare(app: InProcessApp) -> PreparedOperation:
        operation = interrupted.prepare(app)
        app.tick()
        app.tick()
        operation.warm_up()
        written = 0

        def crash(point: Point, call: InterceptedCall) -> object:
            nonlocal written
            written += point.side is Side.CONNECT and point.writes
            if written > connect_writes or (connect_writes and written and point.side is Side.STORE and point.writes):
                raise Crash
            return call()

        app.interceptor.watch(crash)
        try:
            operation.request()
        except Crash:
            app.restart()
        finally:
            app.interceptor.unwatch()
        app.connect.settle()

        def is_done() -> bool:
            steps = [one["step"] for one in bodies(app, "operations")]
            return operation.is_done() or "FAILED" in steps

        return tick_of(app, is_done, after=31, leaves_connector=operation.leaves_connector)

    return prepare


def healthy_look(app: InProcessApp) -> PreparedOperation:
    return source_look(app, running_pipeline(app), lambda: bool(app.tables.rows("source-states")))


def look_that_finds_a_lost_slot(app: InProcessApp) -> PreparedOperation:
    pipeline = running_pipeline(app)
    app.database.captures = replace(healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)]), slots={})
    return source_look(
        app, pipeline, lambda: any("LOG_POSITION" in row["body"] for row in app.tables.rows("source-states"))
    )


def source_look(app: InProcessApp, pipeline: Pipeline, is_done: Callable[[], bool] = lambda: True) -> PreparedOperation:
    """The message of the next look at a pipeline's source."""
    return look(app, "source-checks", {"source_id": pipeline.source_id}, is_done)


def look(app: InProcessApp, queue: str, message: Mapping[str, str], is_done: Callable[[], bool]) -> PreparedOperation:
    """The message of the next look, a minute later."""

    def request() -> None:
        app.clock.advance(60)
        deliver(queue, message)

    return PreparedOperation(
        request=request,
        is_done=is_done,
        ticks_before=0,
        ticks_do_it_too=True,
        cluster=app.cluster,
    )


def job_worker(kind: JobKind) -> Prepare:
    """The message of a job that was requested."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        job = app.services.jobs.request(app.context(), kind, "source", app.source().id)
        app.cluster  # noqa: B018 - the recovery ticks it
        return PreparedOperation(
            request=lambda: deliver("jobs", {"job_id": "gone"}, {"job_id": job.id}),
            is_done=lambda: app.services.jobs.get(job.id).status.terminal,
            ticks_before=0,
            ticks_do_it_too=True,
            needs_ticks=False,
        )

    return prepare


def dispatched(app: InProcessApp) -> PreparedOperation:
    """The minute's messages for one cluster, one source, and one job that was lost."""
    pipeline = running_pipeline(app)
    app.services.jobs.request(app.context(), JobKind.HEALTH, "source", pipeline.source_id)
    app.clock.now += timedelta(seconds=11)
    sent: set[str] = set()

    def is_done() -> bool:
        sent.update(
            name for name, count in (("ticks", PER_MINUTE), ("source-checks", 1)) if len(messages(name)) >= count
        )
        return len(sent) == 2

    return PreparedOperation(
        warm_up=sent.clear,
        request=dispatch,
        is_done=is_done,
        ticks_before=0,
        ticks_do_it_too=True,
        cluster=app.cluster,
    )


_NAMED = {case.name: case for case in OPERATION_CASES}
TICK_CASES = named_cases(
    ("tick, quiet", quiet_tick),
    ("tick, comparing", comparing_tick),
    ("tick, the first", first_tick),
    ("tick, re-creation", recreating_tick),
    ("tick, resume", resuming_tick),
    ("tick, pause", pausing_tick),
    ("tick, restart", restarting_tick),
    ("tick, orphan stopped", removing_tick(10, 85)),
    ("tick, orphan deleted", removing_tick(10, 95, 10, 495)),
    ("tick, overdue deploy", taking_over(DEPLOY_PIPELINE, connect_writes=0)),
    ("tick, overdue deploy that has created", taking_over(DEPLOY_PIPELINE, connect_writes=1)),
    ("tick, overdue delivery", taking_over(DEPLOY_DELIVERY, connect_writes=0)),
    ("tick, overdue delivery that has created", taking_over(DEPLOY_DELIVERY, connect_writes=1)),
    ("tick, overdue mappings", taking_over(REMAP_DELIVERY, connect_writes=0)),
    ("tick, overdue pause", taking_over(_NAMED["pipeline pause"], connect_writes=0)),
    ("tick, overdue deletion", taking_over(_NAMED["pipeline delete with slot"], connect_writes=1)),
    ("deletions confirmed", confirmed_deletions),
    ("creations confirmed", confirmed_creations),
    ("look at a source", healthy_look),
    ("look at a lost slot", look_that_finds_a_lost_slot),
    ("job, discovery", job_worker(JobKind.DISCOVERY)),
    ("job, health", job_worker(JobKind.HEALTH)),
    ("dispatch", dispatched),
)
