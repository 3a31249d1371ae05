"""The order of the checks of a delivery, and the errors of Kafka and of the target."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.delivery import Delivery, TableWriting
from chalicelib.errors import Invalid, Unavailable
from chalicelib.services.connectors.dependencies import DeliveryDependencies
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import START_TIME, InProcessApp

Checked = tuple[Delivery, DeliveryDependencies]


@pytest.fixture
def checked(app: InProcessApp) -> Checked:
    """A draft of a delivery that passes all checks, and its dependencies."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    data = app.delivery_input(pipeline, "orders", "customers")
    delivery = Delivery(
        id="7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10", name=data.name, destination_id=destination.id,
        pipeline_id=pipeline.id, connect_cluster_id=pipeline.connect_cluster_id,
        writing=TableWriting(mappings=data.mappings), created_at=START_TIME, updated_at=START_TIME,
    )  # fmt: skip
    return delivery, app.services.delivery_connector.load_dependencies(delivery)


def refusal(app: InProcessApp, checked: Checked) -> str:
    """The code with which the delivery is refused."""
    with pytest.raises((Invalid, Unavailable)) as refused:
        app.services.delivery_connector.check(app.context(), *checked)
    return refused.value.code


def test_a_correct_delivery_passes(app: InProcessApp, checked: Checked) -> None:
    app.services.delivery_connector.check(app.context(), *checked)
    assert warned(app, checked) == ["TRUNCATE_NOT_DELIVERED", "SCHEMA_CHANGES", "AUTO_CREATE_AFTER_DROP"]


def warned(app: InProcessApp, checked: Checked) -> list[str]:
    """The codes of the preview's warnings."""
    return [warning.code for warning in app.services.delivery_connector.checks.look(app.context(), *checked).warnings]


def test_a_topic_that_lost_records_by_retention_is_a_warning_and_does_not_forbid_the_delivery(
    app: InProcessApp, checked: Checked
) -> None:
    delivery, _ = checked
    app.kafka.state.lose_beginning(delivery.topics[0], records=5)
    assert "TOPIC_TRUNCATED" in warned(app, checked)
    app.services.delivery_connector.check(app.context(), *checked)


def test_a_compacted_topic_has_not_lost_the_last_record_of_any_key(app: InProcessApp, checked: Checked) -> None:
    delivery, _ = checked
    app.kafka.state.delete_topic(delivery.topics[0])
    app.kafka.state.create_topic(delivery.topics[0], settings={"cleanup.policy": "compact"})
    app.kafka.state.lose_beginning(delivery.topics[0], records=5)
    assert "TOPIC_TRUNCATED" not in warned(app, checked)


def test_brokers_that_do_not_say_where_topics_begin_are_a_warning(app: InProcessApp, checked: Checked) -> None:
    app.kafka.break_next("list_offsets")
    assert "TOPICS_NOT_CHECKED" in warned(app, checked)


def test_stream_cluster_and_source_are_read_with_one_call_and_the_tables_with_another(
    app: InProcessApp, checked: Checked
) -> None:
    """The source says under which generation its tables are stored."""
    checks = app.services.delivery_connector.checks
    checks.look(app.context(), *checked)  # after which the password of the destination is cached
    app.interceptor.watch()
    checks.look(app.context(), *checked)
    calls = [point.operation for point in app.interceptor.unwatch() if point.side is Side.STORE]
    assert calls == ["BatchGetItem", "BatchGetItem"]


def test_a_topic_that_kafka_does_not_have_is_not_found(app: InProcessApp, checked: Checked) -> None:
    delivery, _ = checked
    app.kafka.state.delete_topic(delivery.topics[0])
    assert refusal(app, checked) == "TOPIC_NOT_FOUND"


def test_workers_on_another_kafka_are_refused(app: InProcessApp, checked: Checked) -> None:
    delivery, deps = checked
    assert deps.connect_cluster
    elsewhere = replace(deps.connect_cluster, kafka_cluster_id="another")
    assert refusal(app, (delivery, replace(deps, connect_cluster=elsewhere))) == "VALIDATION_FAILED"


def test_a_target_that_cannot_be_reached_is_unavailable(app: InProcessApp, checked: Checked) -> None:
    app.database.reachable = False
    assert refusal(app, checked) == "DESTINATION_UNAVAILABLE"


def test_the_target_is_not_asked_about_mappings_that_are_refused(app: InProcessApp, checked: Checked) -> None:
    delivery, deps = checked
    app.database.reachable = False
    twice = replace(delivery, writing=TableWriting(mappings=delivery.mappings[:1] * 2))
    assert refusal(app, (twice, deps)) == "VALIDATION_FAILED"


def test_records_that_an_earlier_pipeline_left_in_the_topic_are_a_warning(app: InProcessApp, checked: Checked) -> None:
    delivery, deps = checked
    assert deps.pipeline is not None
    for age, warns in ((timedelta(), False), (timedelta(days=1), True)):
        milliseconds = int((deps.pipeline.created_at - age).timestamp() * 1000)
        (log,) = app.kafka.state.topics[delivery.topics[0]].partitions
        log.batches[:], log.end = [(0, milliseconds, b"")], 1
        assert ("TOPIC_OLDER_THAN_PIPELINE" in warned(app, checked)) == warns
