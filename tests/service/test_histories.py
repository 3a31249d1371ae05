"""Histories: what the monitors add, once a minute, and what is shown of it."""

from datetime import timedelta
from itertools import pairwise

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.history import NOTHING, Sample
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Invalid, NotFound
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.services.histories import History
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.measured_brokers import measured_pipeline
from tests.support.apps.source_looks import GB, keep, look


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A running pipeline whose brokers are measured."""
    pipeline = measured_pipeline(app)
    app.kafka.state.create_topic(str(pipeline.capture.heartbeat_topic))
    return pipeline


@pytest.fixture
def delivery(app: InProcessApp, pipeline: Pipeline) -> Delivery:
    return app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))


def minutes(app: InProcessApp, pipeline: Pipeline, count: int, *, records: int = 0) -> None:
    """So many minutes of ticks, in each of which the pipeline writes so many records."""
    for _ in range(count):
        app.kafka.state.advance(pipeline.capture.topics[0], records)
        app.kafka.state.advance(str(pipeline.capture.heartbeat_topic), 1)
        app.ticks(30, 30)


def shown(history: History) -> list[Sample]:
    """Its points without those at which nothing was measured."""
    return [sample for sample in history.samples if sample != NOTHING]


def measure(app: InProcessApp, after: float) -> list[str]:
    """The writes of one measurement."""
    app.clock.advance(after)
    deadline, cluster = Deadline.after(20), app.cluster
    view = app.services.stores.connectors.observations.read([cluster.id])[cluster.id]
    app.interceptor.watch()
    app.services.progress_reader.measure(cluster, view.memory.desired, None, deadline, app.clock())
    return [point.operation for point in app.interceptor.unwatch() if point.writes and point.side is Side.STORE]


def test_a_pipeline_has_a_throughput_and_no_lag(app: InProcessApp, pipeline: Pipeline) -> None:
    minutes(app, pipeline, 4, records=120)
    history = app.services.histories.of_pipeline(pipeline.id, app.clock() - timedelta(minutes=10), None)
    assert len(history.times) == len(history.samples) == 10
    found = shown(history)
    assert {lag for lag, _ in found} == {None}
    assert max(throughput or 0 for _, throughput in found) > 0


def test_a_delivery_shows_what_waits(app: InProcessApp, pipeline: Pipeline, delivery: Delivery) -> None:
    minutes(app, pipeline, 3, records=60)
    history = app.services.histories.of_delivery(delivery.id, app.clock() - timedelta(minutes=5), None)
    lags = [lag for lag, _ in shown(history) if lag is not None]
    assert lags == sorted(lags)
    assert lags[-1] >= 120


def test_only_the_first_measurement_of_a_minute_adds_a_write_for_all_connectors(
    app: InProcessApp, pipeline: Pipeline, delivery: Delivery
) -> None:
    minutes(app, pipeline, 2)
    app.clock.now = app.clock.now.replace(second=0)
    first, second = measure(app, 60), measure(app, 30)
    assert (first.count("UpdateItem"), second.count("UpdateItem")) == (1, 0)


def test_a_gap_is_null(app: InProcessApp, pipeline: Pipeline) -> None:
    minutes(app, pipeline, 2)
    app.clock.advance(300)
    minutes(app, pipeline, 2)
    history = app.services.histories.of_pipeline(pipeline.id, app.clock() - timedelta(minutes=10), None)
    measured = [number for number, sample in enumerate(history.samples) if sample != NOTHING]
    assert any(later - earlier >= 5 for earlier, later in pairwise(measured))


def test_a_history_that_cannot_be_stored_stops_no_tick(app: InProcessApp, pipeline: Pipeline) -> None:
    def refuse(point: Point, call: InterceptedCall) -> object:
        if point.operation == "UpdateItem":
            raise EndpointConnectionError(endpoint_url="https://dynamodb.example.com")
        return call()

    app.tick(times=6)
    view = app.services.stores.connectors.observations.read([app.cluster.id])[app.cluster.id]
    app.clock.advance(60)
    app.interceptor.watch(refuse)
    measured = app.services.progress_reader.measure(
        app.cluster, view.memory.desired, None, Deadline.after(20), app.clock()
    )
    app.interceptor.unwatch()
    assert list(measured or ()) == [pipeline.connector_name]


def test_an_hour_is_summed_up_while_the_next_one_passes(app: InProcessApp, pipeline: Pipeline) -> None:
    minutes(app, pipeline, 125, records=60)
    now = app.clock()
    history = app.services.histories.of_pipeline(pipeline.id, now - timedelta(days=3), None)
    assert (len(history.times), history.times[1] - history.times[0]) == (73, timedelta(hours=1))
    assert len(shown(history)) >= 1


def test_a_source_shows_the_log_that_it_keeps(app: InProcessApp, pipeline: Pipeline) -> None:
    for retained in (2 * GB, 5 * GB):
        keep(app, pipeline, retained_bytes=retained, safe_bytes=9 * GB)
        look(app, pipeline)
        look(app, pipeline, after=5)
    history = app.services.histories.of_source(pipeline.source_id, app.clock() - timedelta(minutes=5), None)
    assert shown(history) == [(2 * GB, 9 * GB), (5 * GB, 9 * GB)]


@pytest.mark.parametrize(
    ("since", "until", "field", "says"),
    [
        (timedelta(hours=1), timedelta(hours=2), "to", "later than from"),
        (timedelta(hours=-1), None, "from", "in the past"),
        (timedelta(days=401), None, "from", "400 days"),
    ],
)
def test_a_span_that_cannot_be_shown_is_refused_with_what_is_right(
    app: InProcessApp, pipeline: Pipeline, since: timedelta, until: timedelta | None, field: str, says: str
) -> None:
    now = app.clock()
    with pytest.raises(Invalid, match=says) as refused:
        app.services.histories.of_pipeline(pipeline.id, now - since, now - until if until else None)
    assert refused.value.details[0]["location"] == ["query", field]


def test_a_span_in_the_future_ends_now(app: InProcessApp, pipeline: Pipeline) -> None:
    now = app.clock()
    history = app.services.histories.of_pipeline(pipeline.id, None, now + timedelta(days=1))
    assert history.times[-1] < now <= history.times[-1] + timedelta(minutes=3)


def test_what_does_not_exist_has_no_history(app: InProcessApp) -> None:
    histories = app.services.histories
    for read in (histories.of_pipeline, histories.of_delivery, histories.of_source):
        with pytest.raises(NotFound):
            read(new_id(), None, None)
