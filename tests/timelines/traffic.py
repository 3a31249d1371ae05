"""The traffic while time passes: rows and heartbeats into Kafka, and rows out of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.pipeline import Pipeline
from infra.local.doubles.kafka_state import BrokerState


@dataclass(kw_only=True)
class Traffic:
    """The real work of a capture and its delivery, which Kafka Connect may report differently.

    `captures` is false while Debezium tries again and again below a task that is RUNNING, `heartbeats` while it takes
    a snapshot. `delivers` is false while the sink's writes are refused below such a task; `in_group` while it is not
    in its consumer group. `delivery_rate` is how many rows a second it can write, None for all that there are, and
    `delivery_stops_before` how many rows it always leaves.
    """

    rows_per_second: float = 1
    captures: bool = True
    heartbeats: bool = True
    delivers: bool = True
    in_group: bool = True
    delivery_rate: float | None = None
    delivery_stops_before: int = 0

    def capture(self, broker: BrokerState, pipeline: Pipeline, seconds: float) -> None:
        if not self.captures:
            return
        topic = pipeline.capture.heartbeat_topic
        if topic and self.heartbeats:
            broker.create_topic(topic)
            _advance(broker, topic, seconds / 10)
        _advance(broker, pipeline.capture.topics[0], self.rows_per_second * seconds)

    def deliver(self, broker: BrokerState, delivery: Delivery, seconds: float) -> None:
        group = group_of(delivery)
        if not self.in_group:
            broker.leave_group(group)
            return
        broker.join_group(group, _topics(delivery))
        if not self.delivers:
            return
        for topic in _topics(delivery):
            delivered = broker.groups[group].offsets.get((topic, 0), 0)
            most = broker.end_offset(topic) - self.delivery_stops_before
            reached = most if self.delivery_rate is None else min(most, delivered + round(self.delivery_rate * seconds))
            broker.commit(group, topic, 0, max(delivered, reached))


def group_of(delivery: Delivery) -> str:
    return f"connect-{delivery.connector_name}"


def _topics(delivery: Delivery) -> Iterable[str]:
    return [mapping.topic for mapping in delivery.mappings]


def _advance(broker: BrokerState, topic: str, records: float) -> None:
    if round(records):
        broker.advance(topic, round(records))
