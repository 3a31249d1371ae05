"""What reading and deleting topics costs the brokers: python -m tests.bench.topics [TOPICS]

Prints how many requests the list, a topic and a deletion send to three real brokers with 20,000 topics, and returns 1
when one of them sends more than its budget. Clients know the address of one broker.
"""

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka.admin import AdminClient, NewTopic

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline
from tests.support.kafka_requests import by_name, counted_requests
from tests.support.three_brokers import NODES, three_brokers
from tests.support.waiting import eventually

TOPICS, BATCH, PAGE = 20_000, 500, 500
SECONDS, LOOKS = 120, 8

EACH = len(NODES)
BUDGETS: Mapping[str, Mapping[str, int]] = {
    "first page": {"Metadata": 2, "DescribeLogDirs": EACH},
    "last page": {"Metadata": 2, "DescribeLogDirs": EACH},
    "topic": {"Metadata": 2, "ListOffsets": 2 * EACH, "DescribeConfigs": 1, "DescribeLogDirs": EACH},
    "look before a deletion": {"Metadata": 2, "DescribeConfigs": 1},
    "deletion": {"Metadata": 2, "DeleteTopics": 1},
}
"""Requests at most, without the handshakes of connections. The first metadata find the brokers."""


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TOPICS
    with TemporaryDirectory(prefix="headgate-topics-") as folder, three_brokers(Path(folder)) as brokers:
        endpoint = OpenedEndpoint(KafkaAddress(bootstrap_servers=brokers.bootstrap), {})
        kafka = Kafka(endpoint, check_host=AddressPolicy(allow_loopback=True))
        _create(brokers.bootstrap, count)
        eventually(lambda: all(_is_complete(kafka, count) for _ in range(LOOKS)), seconds=SECONDS)
        print(f"{count} topics on {EACH} brokers, pages of {PAGE}", flush=True)
        name, last = _name(count // 2), _name(count - PAGE - 1)
        calls: Mapping[str, Callable[[], object]] = {
            "first page": lambda: kafka.list_topics(Deadline.after(SECONDS), limit=PAGE, after=None),
            "last page": lambda: kafka.list_topics(Deadline.after(SECONDS), limit=PAGE, after=last),
            "topic": lambda: kafka.describe_topic(name, Deadline.after(SECONDS)),
            "look before a deletion": lambda: kafka.find_topic(name, Deadline.after(SECONDS)),
            "deletion": lambda: kafka.delete_topic(name, Deadline.after(SECONDS)),
        }
        return max([_measure(what, call) for what, call in calls.items()])


def _measure(what: str, call: Callable[[], object]) -> int:
    """Print the requests of a call; 1 when they are more than its budget."""
    began = time.process_time()
    with counted_requests() as counts:
        call()
    seconds, names = time.process_time() - began, by_name(counts)
    over = {name: count for name, count in names.items() if count > BUDGETS[what].get(name, 0)}
    shown = ", ".join(f"{count} {name}" for name, count in names.items())
    print(f"{what:<23} {shown:<75} {seconds:.2f} s of processor{'  OVER' if over else ''}", flush=True)
    return 1 if over else 0


def _is_complete(kafka: Kafka, count: int) -> bool:
    """Whether one of the brokers, which is another one each time, has learned of all topics."""
    try:
        return len(kafka.topics(Deadline.after(SECONDS))) == count
    except Unavailable:  # they have much to do
        time.sleep(1)
        return False


def _create(bootstrap: str, count: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for start in range(0, count, BATCH):
        topics = [NewTopic(_name(number), 1, 1) for number in range(start, min(count, start + BATCH))]
        for future in admin.create_topics(topics, request_timeout=SECONDS).values():
            future.result(SECONDS)


def _name(number: int) -> str:
    return f"shop.public.table_{number:05}"


if __name__ == "__main__":
    sys.exit(main())
