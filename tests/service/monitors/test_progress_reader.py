"""Progress is measured with one look at Kafka, stored, and shown beside what Connect says."""

from collections.abc import Mapping
from dataclasses import replace

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.health import HealthRecord, HealthStatus
from chalicelib.domain.monitoring.metrics import NOT_KNOWN, Metrics
from chalicelib.domain.monitoring.progress import Progress, ProgressLook
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.kit.clock import Deadline
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.measured_brokers import delivery, metrics, pipeline, register_measured_brokers

__all__ = ["delivery", "pipeline"]
ALL_OF_A_LOOK = {"metadata": 1, "list_offsets": 2, "find_coordinator": 1, "offset_fetch": 1, "describe_groups": 1}


def measure(app: InProcessApp, *, after: float = 30, readable: bool = True) -> Mapping[str, Progress] | None:
    """What a tick does when it is due, with what it has read."""
    app.clock.advance(after)
    deadline, cluster = Deadline.after(20), app.cluster
    view = app.services.stores.connectors.observations.read([cluster.id])[cluster.id]
    statuses = app.services.clients.connect(cluster).statuses(deadline) if readable else None
    return app.services.progress_reader.measure(cluster, view.memory.desired, statuses, deadline, app.clock())


def beat(app: InProcessApp, pipeline: Pipeline) -> None:
    app.kafka.state.advance(str(pipeline.capture.heartbeat_topic), 1)


def test_a_pipeline_shows_the_records_that_it_writes_each_second(app: InProcessApp, pipeline: Pipeline) -> None:
    measure(app)
    app.kafka.state.advance(pipeline.capture.topics[0], 60)
    beat(app, pipeline)
    measure(app)
    for found in (
        metrics(app.services.pipelines, pipeline.id),
        app.services.pipelines.get(pipeline.id).metrics or Metrics(),
        app.services.pipelines.detail(pipeline.id).pipeline.metrics or Metrics(),
        app.services.pipelines.status(app.context(), pipeline.id).metrics or Metrics(),
    ):
        assert (found.throughput, found.lag, found.moved_at) == (2.0, None, app.clock())


def test_a_delivery_shows_what_it_has_not_delivered(app: InProcessApp, delivery: Delivery) -> None:
    state, group = app.kafka.state, f"connect-{delivery.connector_name}"
    state.advance(delivery.topics[0], 100)
    state.commit(group, delivery.topics[0], 0, 40)
    measure(app)
    state.commit(group, delivery.topics[0], 0, 70)
    measure(app)
    services = app.services
    for found in (
        metrics(services.deliveries, delivery.id),
        services.deliveries.get(delivery.id).metrics,
        services.deliveries.list_of(delivery.destination_id).items[0].metrics,
        services.deliveries.status_of(app.context(), delivery.destination_id).items[0].metrics,
        services.pipelines.detail(delivery.pipeline_id).deliveries.items[0].metrics,
        services.pipelines.destinations(delivery.pipeline_id, limit=10, after=None).items[0].metrics,
    ):
        assert (found.throughput, found.lag, found.seconds_behind, found.notice) == (1.0, 30, None, None)


def test_a_delivery_shows_how_old_the_record_is_that_it_delivers_next(app: InProcessApp, delivery: Delivery) -> None:
    """Ten records come before each look. The sink delivers all of them, then none, then some, then all but the last."""
    state, group = app.kafka.state, f"connect-{delivery.connector_name}"
    behind: list[int | None] = []
    for committed in (0, 10, 20, 20, 20, 20, 20, 35, 70):
        if committed:
            state.advance(delivery.topics[0], 10)
        state.commit(group, delivery.topics[0], 0, committed)
        measure(app)
        behind.append(metrics(app.services.deliveries, delivery.id).seconds_behind)
    assert behind == [0, 0, 0, 30, 60, 90, 120, 105, 30]


def test_a_mark_of_a_transaction_is_no_record_that_waits(app: InProcessApp, delivery: Delivery) -> None:
    state, group = app.kafka.state, f"connect-{delivery.connector_name}"
    measure(app)
    state.advance(delivery.topics[0], 11)
    measure(app)
    state.commit(group, delivery.topics[0], 0, 10)
    for _ in range(3):
        measure(app)
    found = metrics(app.services.deliveries, delivery.id)
    assert (found.lag, found.seconds_behind) == (1, 0)


def test_a_pipeline_that_stands_still_behind_running_is_degraded_until_it_moves(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    services = app.services
    for _ in range(5):
        measure(app)
    app.tick()
    listed = services.pipelines.list(limit=1, after=None).items[0]
    for seen in (listed, services.pipelines.status(app.context(), pipeline.id)):
        assert seen.observation.state is ObservedState.DEGRADED
        assert "written nothing to Kafka" in seen.observation.reasons[0]
    beat(app, pipeline)
    measure(app)
    app.tick()
    again = services.pipelines.get(pipeline.id).observation
    assert (again.state, again.reasons) == (ObservedState.RUNNING, ())


def test_a_sink_out_of_its_group_is_degraded(app: InProcessApp, delivery: Delivery) -> None:
    app.kafka.state.commit(f"connect-{delivery.connector_name}", delivery.topics[0], 0, 0)
    app.kafka.state.leave_group(f"connect-{delivery.connector_name}")
    for _ in range(4):
        measure(app)
    seen = app.services.deliveries.status(app.context(), delivery.id).observation
    assert seen.state is ObservedState.DEGRADED
    assert "no member" in seen.reasons[0]


def test_a_standstill_is_shown_as_long_as_its_incident_is_open_also_when_kafka_cannot_be_read(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    services = app.services
    for _ in range(5):
        app.tick(after=30)
    app.kafka.refuse()
    try:
        for _ in range(12):
            app.tick(after=30)
    finally:
        app.kafka.accept()
    assert [one.condition.code for one in services.incidents.list(limit=10, active=True).items] == ["STALLED"]
    assert services.overview.read().pipelines["DEGRADED"] == 1
    listed = services.pipelines.list(limit=1, after=None).items[0]
    for seen in (listed, services.pipelines.status(app.context(), pipeline.id)):
        assert seen.observation.state is ObservedState.DEGRADED


def test_nothing_is_asked_where_no_provider_is_installed(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.kafka.calls.clear()
    assert measure(app) == {}
    assert not app.kafka.calls
    assert metrics(app.services.pipelines, pipeline.id).notice == NOT_KNOWN


def test_where_no_provider_is_installed_the_store_is_asked_once_a_minute(app: InProcessApp) -> None:
    def calls(after: float) -> int:
        app.interceptor.watch()
        measure(app, after=after)
        return len([one for one in app.interceptor.unwatch() if one.side is Side.STORE])

    app.deployed_pipeline()
    app.tick()
    app.restart()
    app.services.clients.connect(app.cluster)
    app.services.stores.connectors.observations.read([app.cluster.id])
    first = calls(10)
    assert [calls(10) - first, calls(10) - first, calls(40) - first] == [-1, -1, 0]


def test_a_connector_that_was_not_measured_yet_says_so(app: InProcessApp, pipeline: Pipeline) -> None:
    measure(app)
    other = app.deployed_pipeline()
    assert "not been measured yet" in str(metrics(app.services.pipelines, other.id).notice)


def test_brokers_that_cannot_be_read_leave_what_is_known_and_say_why_when_it_gets_old(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    measure(app)
    measure(app)
    app.kafka.refuse()
    try:
        assert measure(app) is None
        assert metrics(app.services.pipelines, pipeline.id).measured
        assert measure(app, after=300) is None
    finally:
        app.kafka.accept()
    found = metrics(app.services.pipelines, pipeline.id)
    assert not found.measured
    assert "last measured at" in str(found.notice)
    assert "The brokers did not answer" in str(found.notice)


def stream_health(app: InProcessApp) -> HealthRecord:
    return app.services.stream_clusters.get(app.cluster.stream_cluster_id).health


def test_the_health_of_the_brokers_is_what_the_last_look_has_found(app: InProcessApp, pipeline: Pipeline) -> None:
    measure(app, after=300)
    assert (stream_health(app).status, stream_health(app).checked_at) == (HealthStatus.HEALTHY, app.clock())
    app.kafka.refuse()
    try:
        measure(app)
    finally:
        app.kafka.accept()
    error = stream_health(app).last_error
    assert (stream_health(app).status, error and error.code) == (HealthStatus.UNHEALTHY, "STREAM_UNAVAILABLE")
    assert app.services.overview.read().stream_clusters["UNHEALTHY"] == 1
    measure(app)
    assert stream_health(app).status is HealthStatus.HEALTHY
    app.clock.advance(600)
    seen = app.services.pipelines.detail(pipeline.id).stream_cluster.health
    assert (seen, seen.status) == (stream_health(app), HealthStatus.UNKNOWN)
    assert app.services.overview.read().stream_clusters["UNKNOWN"] == 1


def test_brokers_are_looked_at_before_anything_runs_on_them(app: InProcessApp) -> None:
    register_measured_brokers(app)
    app.tick()
    assert stream_health(app).watched
    app.kafka.refuse()
    try:
        assert measure(app) is None
    finally:
        app.kafka.accept()
    assert stream_health(app).status is HealthStatus.UNHEALTHY
    assert measure(app) == {}
    assert stream_health(app).status is HealthStatus.HEALTHY


def test_a_look_without_time_says_nothing_about_the_brokers(app: InProcessApp, pipeline: Pipeline) -> None:
    measure(app)
    before = stream_health(app)
    app.clock.advance(30)
    app.services.progress_reader.measure(app.cluster, {}, None, Deadline.after(0), app.clock())
    assert stream_health(app) == before


def test_all_connectors_are_measured_with_one_session_at_the_brokers(app: InProcessApp, delivery: Delivery) -> None:
    app.deployed_pipeline()
    app.kafka.calls.clear()
    assert len(measure(app) or {}) == 2  # The new one is not in the snapshot of a tick yet.
    seen = dict(app.kafka.calls)
    assert {name: seen.pop(name) for name in ALL_OF_A_LOOK} == ALL_OF_A_LOOK | {"metadata": 2}
    assert seen == {"api_versions": 3}


def test_a_slow_tick_and_the_next_one_measure_once(app: InProcessApp, pipeline: Pipeline) -> None:
    measure(app)
    app.kafka.state.advance(pipeline.capture.topics[0], 60)
    app.clock.advance(-app.clock().timestamp() % 30)
    first = measure(app)
    app.kafka.calls.clear()
    assert measure(app, after=5) == first
    assert not app.kafka.calls
    assert (metrics(app.services.pipelines, pipeline.id).throughput or 0) > 0


def test_a_measurement_that_failed_is_repeated_by_the_next_tick(app: InProcessApp, pipeline: Pipeline) -> None:
    app.clock.advance(-app.clock().timestamp() % 30)
    app.kafka.refuse()
    try:
        assert measure(app) is None
    finally:
        app.kafka.accept()
    assert measure(app, after=5)


def test_a_resource_that_this_process_has_read_is_not_read_again(app: InProcessApp, delivery: Delivery) -> None:
    def reads() -> int:
        app.interceptor.watch()
        measure(app)
        return sum(one.operation == "BatchGetItem" for one in app.interceptor.unwatch())

    # Not about a minute's end, when the history reads one row more.
    app.clock.advance(-app.clock().timestamp() % 60 + 15)
    app.restart()
    app.services.clients.connect(app.cluster)
    app.services.stores.connectors.observations.read([app.cluster.id])
    assert reads() == reads() + 1


def test_a_measurement_in_which_nothing_has_changed_writes_the_row_of_the_cluster_and_once_a_minute_its_history(
    app: InProcessApp, delivery: Delivery
) -> None:
    def writes() -> int:
        app.interceptor.watch()
        measure(app)
        return sum(one.writes for one in app.interceptor.unwatch() if one.side is Side.STORE)

    app.kafka.state.advance(delivery.topics[0], 1)
    for _ in range(15):  # Rows that were written long ago say nothing by themselves.
        measure(app)
    assert sorted((writes(), writes())) == [1, 2]
    assert metrics(app.services.deliveries, delivery.id).lag == 1
    app.kafka.state.advance(delivery.topics[0], 1)
    assert writes() + writes() > 3
    assert metrics(app.services.deliveries, delivery.id).lag == 2


def test_after_a_change_of_its_mappings_a_delivery_lags_behind_its_new_topics(
    app: InProcessApp, delivery: Delivery
) -> None:
    measure(app)
    other = app.services.pipelines.get(delivery.pipeline_id).capture.topics[1]
    app.kafka.state.advance(other, 7)
    mappings = (replace(delivery.mappings[0], topic=other),)
    app.services.deliveries.update_mappings(app.context(), delivery.id, mappings)
    app.tick()
    measure(app)
    assert metrics(app.services.deliveries, delivery.id).lag == 7


def test_a_pipeline_that_was_deleted_is_not_measured_any_more(app: InProcessApp, pipeline: Pipeline) -> None:
    measure(app)
    app.services.pipelines.delete(app.context(), pipeline.id)
    app.tick()
    assert measure(app) == {}
    assert app.services.stores.monitoring.progress.read(app.cluster.id).connectors == {}


def test_while_connect_cannot_be_read_no_standstill_begins(app: InProcessApp, pipeline: Pipeline) -> None:
    for _ in range(2):
        measure(app)
    for _ in range(9):
        measure(app, readable=False)
    assert metrics(app.services.pipelines, pipeline.id).findings == ()


def test_progress_is_read_in_the_calls_that_are_made_already(app: InProcessApp, delivery: Delivery) -> None:
    measure(app)
    services, context = app.services, app.context()
    budgets = {
        lambda: services.pipelines.list(limit=10, after=None): ["Query", "BatchGetItem"],
        lambda: services.deliveries.list(limit=10, after=None): ["Query", "BatchGetItem"],
        lambda: services.deliveries.list_of(delivery.destination_id): ["Query", "BatchGetItem"],
        lambda: services.pipelines.get(delivery.pipeline_id): ["BatchGetItem"] * 2,
        lambda: services.deliveries.get(delivery.id): ["BatchGetItem"] * 2,
        lambda: services.pipelines.status(context, delivery.pipeline_id, fresh=False): ["BatchGetItem"] * 3,
        lambda: services.pipelines.detail(delivery.pipeline_id): ["BatchGetItem", "Query", "BatchGetItem"],
    }
    for call, expected in budgets.items():
        call()
        app.interceptor.watch()
        call()
        made = [one.operation for one in app.interceptor.unwatch() if one.side is Side.STORE]
        assert made == expected


def test_the_totals_of_a_cluster_are_stored_with_the_look(app: InProcessApp, delivery: Delivery) -> None:
    app.kafka.state.advance(delivery.topics[0], 10)
    measure(app)
    app.kafka.state.advance(delivery.topics[0], 30)
    measure(app)
    look = app.services.stores.monitoring.progress.looks([app.cluster.id, "other"])[app.cluster.id]
    assert (look.at, look.throughput, look.lag) == (app.clock(), 1.0, 40)


def test_a_look_counts_the_connectors_that_the_brokers_do_not_show(app: InProcessApp, delivery: Delivery) -> None:
    measure(app)
    assert look_at(app).left_out == 0
    app.kafka.state.denied.add(f"connect-{delivery.connector_name}")
    measure(app)
    assert look_at(app).left_out == 1


def look_at(app: InProcessApp) -> ProgressLook:
    return app.services.stores.monitoring.progress.looks([app.cluster.id])[app.cluster.id]
