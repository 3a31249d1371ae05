"""Topics with the pipelines that use them, and how a deletion ends."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.live_reads import LIVE_COUNTS
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.topic_protection import JudgedTopic
from chalicelib.errors import Conflict, HeadgateError, NotFound, TimedOut, Unavailable
from chalicelib.kit.pages import Page
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.unreadable import make_body_unreadable

ORPHAN = "left.public.orders"


@pytest.fixture(autouse=True)
def _no_topics_of_other_tests(app: InProcessApp) -> None:
    """All tests have one broker."""
    state = app.kafka.state
    for names in (state.topics, state.denied, state.undeletable, state.leaderless):
        names.clear()


def listed(app: InProcessApp, *, limit: int = 500, after: str | None = None) -> Page[JudgedTopic]:
    context = app.context()
    return app.services.topics.list(context, app.stream.id, limit=limit, after=after, fresh=True).value


def users(app: InProcessApp) -> dict[str, list[str | None]]:
    return {judged.topic.name: [owner.name for owner in judged.owners] for judged in listed(app).items}


def delete(app: InProcessApp, name: str) -> None:
    app.services.topics.delete(app.context(), app.stream.id, name)


def outcomes(app: InProcessApp, name: str) -> Counter[Outcome]:
    """Of the records of the topic; all of them name the action and the cluster."""
    records = app.audit_records(name)
    assert {(one.action, one.resource_type, one.resource_name) for one in records} <= {("topic.delete", "topic", name)}
    assert {(one.before or {})["cluster_id"] for one in records} <= {app.stream.id}
    return Counter(one.outcome for one in records)


def test_pipelines_use_what_their_topic_prefix_owns_and_nothing_else(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    prefix = pipeline.capture.topic_prefix
    names = [f"{prefix}.any.table", f"{prefix}.headgate-heartbeat", f"{prefix}x.any.table", f"x.{prefix}.table"]
    for name in names:
        app.kafka.state.create_topic(name)
    assert users(app) == dict(zip(names, [[pipeline.name], [pipeline.name], [], []], strict=True))


def test_a_pipeline_uses_its_topics_also_in_another_registration_of_the_same_kafka(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    again = replace(app.stream_input(app.kafka.address.replace("127.0.0.1", "localhost")), name="again")
    other = app.services.stream_clusters.create(app.context(), again)
    topic = pipeline.capture.topics[0]
    found = app.services.topics.get(app.context(), other.id, topic).value
    assert [owner.id for owner in found.judged.owners] == [pipeline.id]
    with pytest.raises(Conflict) as refused:
        app.services.topics.delete(app.context(), other.id, topic)
    assert refused.value.code == "RESOURCE_IN_USE"


def test_a_deletion_asks_the_brokers_which_kafka_they_are(app: InProcessApp) -> None:
    """They were away when they were registered once more, so that their id is not stored."""
    pipeline = app.deployed_pipeline()
    again = replace(app.stream_input(app.kafka.address.replace("127.0.0.1", "localhost")), name="again")
    app.kafka.refuse()
    try:
        other = app.services.stream_clusters.create(app.context(), again)
    finally:
        app.kafka.accept()
    assert other.kafka_cluster_id is None
    with pytest.raises(Conflict) as refused:
        app.services.topics.delete(app.context(), other.id, pipeline.capture.topics[0])
    assert refused.value.code == "RESOURCE_IN_USE"


def test_a_topic_is_free_when_its_pipeline_is_deleted(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    topic = pipeline.capture.topics[0]
    with pytest.raises(Conflict):
        delete(app, topic)
    app.services.pipelines.delete(app.context(), pipeline.id)
    delete(app, topic)
    assert outcomes(app, topic) == {Outcome.REQUESTED: 1, Outcome.SUCCESS: 1}


def test_a_pipeline_that_this_release_cannot_read_keeps_its_topics(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    topic = pipeline.capture.topics[0]
    make_body_unreadable(app.services.stores.resources.pipelines, pipeline.id)
    assert users(app)[topic] == [None]
    with pytest.raises(Conflict) as refused:
        delete(app, topic)
    assert refused.value.code == "RESOURCE_IN_USE"
    assert topic in app.kafka.state.topics


@pytest.mark.parametrize(
    ("name", "code"), [("__consumer_offsets", "STATE_CONFLICT"), ("connect-offsets", "STATE_CONFLICT")]
)
def test_a_refused_deletion_changes_nothing_and_was_not_requested(app: InProcessApp, name: str, code: str) -> None:
    app.kafka.state.create_topic(name, settings={"cleanup.policy": "compact"})
    with pytest.raises(Conflict) as refused:
        delete(app, name)
    assert refused.value.code == code
    assert not outcomes(app, name)
    assert name in app.kafka.state.topics


def test_a_missing_topic_and_an_unknown_cluster_are_not_found(app: InProcessApp) -> None:
    topics, context = app.services.topics, app.context()
    with pytest.raises(NotFound):
        delete(app, "missing")
    with pytest.raises(NotFound):
        topics.get(context, app.stream.id, "missing")
    calls: list[Callable[[], object]] = [
        lambda: topics.list(context, UNKNOWN_ID, limit=1, after=None),
        lambda: topics.get(context, UNKNOWN_ID, "missing"),
        lambda: topics.delete(context, UNKNOWN_ID, "missing"),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()


def test_a_deletion_without_an_answer_is_unknown_and_never_failed(app: InProcessApp) -> None:
    app.kafka.state.create_topic(ORPHAN)
    app.kafka.break_next("delete_topics")
    with pytest.raises(TimedOut, match="did not say in time"):
        delete(app, ORPHAN)
    assert outcomes(app, ORPHAN) == {Outcome.REQUESTED: 1}
    # It was deleted: a repeated request says so.
    with pytest.raises(NotFound):
        delete(app, ORPHAN)


def test_a_refusal_of_the_brokers_is_a_failure_with_what_to_do(app: InProcessApp) -> None:
    app.kafka.state.create_topic(ORPHAN)
    app.kafka.state.undeletable.add(ORPHAN)
    with pytest.raises(Conflict, match="refuse to delete"):
        delete(app, ORPHAN)
    assert outcomes(app, ORPHAN) == {Outcome.REQUESTED: 1, Outcome.FAILED: 1}


def test_nothing_is_deleted_or_requested_while_the_brokers_are_away(app: InProcessApp) -> None:
    app.kafka.state.create_topic(ORPHAN)
    stream = app.stream
    app.kafka.refuse()
    try:
        with pytest.raises(Unavailable) as failed:
            app.services.topics.delete(app.context(), stream.id, ORPHAN)
        with pytest.raises(Unavailable):
            listed(app)
    finally:
        app.kafka.accept()
    assert failed.value.code == "STREAM_UNAVAILABLE"
    assert not outcomes(app, ORPHAN)


def test_a_deleted_topic_is_shown_no_more_although_the_list_was_read_a_moment_ago(app: InProcessApp) -> None:
    app.kafka.state.create_topic(ORPHAN)
    topics, context, stream = app.services.topics, app.context(), app.stream

    def names() -> list[str]:
        page = topics.list(context, stream.id, limit=500, after=None, fresh=False).value
        return [judged.topic.name for judged in page.items]

    assert names() == [ORPHAN]
    assert topics.get(context, stream.id, ORPHAN, fresh=False)
    app.clock.advance(LIVE_COUNTS.total_seconds() / 5)
    delete(app, ORPHAN)
    assert names() == []
    with pytest.raises(NotFound):
        topics.get(context, stream.id, ORPHAN, fresh=False)


def test_a_topic_that_was_made_a_moment_ago_is_found_although_it_was_asked_for_before(app: InProcessApp) -> None:
    topics, context, stream = app.services.topics, app.context(), app.stream
    with pytest.raises(NotFound):
        topics.get(context, stream.id, ORPHAN, fresh=False)
    app.kafka.state.create_topic(ORPHAN)
    assert topics.get(context, stream.id, ORPHAN, fresh=False).value.judged.topic.name == ORPHAN


def test_what_no_broker_says_is_null(app: InProcessApp) -> None:
    app.kafka.state.create_topic(ORPHAN)
    app.kafka.break_next("describe_log_dirs")
    (judged,) = listed(app).items
    assert (judged.topic.size, judged.topic.partitions) == (None, 1)
    app.kafka.state.leaderless.add(ORPHAN)
    detail = app.services.topics.get(app.context(), app.stream.id, ORPHAN).value.detail
    (partition,) = detail.partition_details
    assert (partition.leader, partition.beginning_offset, partition.end_offset) == (None, None, None)
    assert detail.topic.size is None


def test_a_topic_that_may_not_be_described_is_no_missing_one(app: InProcessApp) -> None:
    app.kafka.state.create_topic(ORPHAN)
    app.kafka.state.denied.add(ORPHAN)
    with pytest.raises(HeadgateError, match="Allow it") as failed:
        app.services.topics.get(app.context(), app.stream.id, ORPHAN)
    assert failed.value.code == "STREAM_UNAVAILABLE"


def test_a_page_ends_before_it_needs_too_many_claims(app: InProcessApp) -> None:
    for number in range(60):
        app.kafka.state.create_topic(".".join([f"{number:02}", *"a" * 50]))
    page, seen = listed(app), 0
    while page.more:
        seen += len(page.items)
        page = listed(app, after=page.next_key)
    assert 0 < seen < 60
    assert seen + len(page.items) == 60


@pytest.mark.parametrize("topics", [10, 500])
def test_the_store_is_asked_for_claims_a_hundred_at_a_time(app: InProcessApp, topics: int) -> None:
    pipeline: Pipeline = app.deployed_pipeline()
    for number in range(topics - len(pipeline.capture.topics)):
        app.kafka.state.create_topic(f"{pipeline.capture.topic_prefix}.shop.t{number}")
    stream = app.stream
    app.interceptor.watch()
    page = app.services.topics.list(app.context(), stream.id, limit=topics, after=None, fresh=True).value
    calls = [point.operation for point in app.interceptor.unwatch() if point.side is Side.STORE]
    assert len(page.items) == topics
    # The registration; lease, limits and the answer of the live read; claims; the pipelines.
    names = topics + 2
    assert calls.count("BatchGetItem") == 1 + -(-2 * names // 100) + 1
