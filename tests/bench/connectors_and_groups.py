"""What lists of connectors and consumer groups cost the servers: python -m tests.bench.connectors_and_groups

Prints how many requests a list sends, on a real Connect worker with 1,000 stopped connectors and on its broker with 500
groups, and returns 1 when one of them sends more than its budget.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from chalicelib.clients.connect.client import Connect
from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.http.guarded import GuardedHttp
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import ConnectAddress, KafkaAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from infra.local.process.ports import kept_ports
from infra.local.stack import connect, kafka
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from tests.support.kafka_requests import by_name, counted_requests
from tests.support.servers import running_server

CONNECTORS, GROUPS, SECONDS = 1_000, 500, 60
LOOPBACK = AddressPolicy(allow_loopback=True)
# Kafka's own sink: stopped it has no task, and its config asks no other server.
CONFIG = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
    "topics": "orders",
    "file": "/dev/null",
}
BUDGETS: Mapping[str, Mapping[str, int]] = {
    "connectors": {"GET": 1},
    "one connector": {"GET": 2},
    "groups": {"Metadata": 3, "ListGroups": 1, "DescribeGroups": 1, "OffsetFetch": 1, "ListOffsets": 1},
}
"""Requests at most, without the handshakes of connections. Those of groups are the same for each broker."""


def main() -> int:
    with TemporaryDirectory(prefix="headgate-bench-") as folder, _servers(Path(folder)) as (worker, broker):
        workers = Connect(OpenedEndpoint(ConnectAddress(base_url=worker), {}), check_host=LOOPBACK)
        brokers = Kafka(OpenedEndpoint(KafkaAddress(bootstrap_servers=broker), {}), check_host=LOOPBACK)
        with closing(workers):
            version = workers.root(Deadline.after(SECONDS)).version
            for number in range(CONNECTORS):
                workers.create_stopped(f"theirs-{number:04}", CONFIG, Deadline.after(SECONDS), version=version)
            _commit(broker)
            calls: Mapping[str, Callable[[], object]] = {
                "connectors": lambda: workers.connectors(Deadline.after(SECONDS)),
                "one connector": lambda: workers.find_connector("theirs-0007", Deadline.after(SECONDS)),
                "groups": lambda: brokers.groups(limit=GROUPS, after=None, deadline=Deadline.after(SECONDS)).groups,
            }
            return max([_measure(what, call) for what, call in calls.items()])


@contextmanager
def _servers(state: Path) -> Iterator[tuple[str, str]]:
    """The URL of a worker, and its broker."""
    folders, programs = Folders(state), fetch_all()
    ports = kept_ports(folders.ports, ["kafka", "controller", "connect"])
    broker = kafka.plan(programs.kafka, folders, port=ports["kafka"], controller_port=ports["controller"])
    with ExitStack() as ends:
        ends.enter_context(running_server(broker))
        worker = connect.plan(
            programs.connect,
            programs.plugins,
            folders,
            port=ports["connect"],
            kafka_port=ports["kafka"],
            headgate_url="http://127.0.0.1:1",
            service_credential="bench",
        )
        ends.callback(ends.enter_context(running_server(worker)).kill)
        yield f"http://127.0.0.1:{ports['connect']}", f"127.0.0.1:{ports['kafka']}"


def _commit(broker: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker, "log_level": 0})
    admin.create_topics([NewTopic("orders", 10, 1)])["orders"].result(SECONDS)
    for number in range(GROUPS):
        name = f"group-{number:03}"
        request = ConsumerGroupTopicPartitions(name, [TopicPartition("orders", number % 10, 0)])
        admin.alter_consumer_group_offsets([request])[name].result(SECONDS)


def _measure(what: str, call: Callable[[], object]) -> int:
    """Print the requests of a call; 1 when they are more than its budget."""
    began, gets, send = time.process_time(), list[str](), GuardedHttp.send

    def counted(self: GuardedHttp, method: str, *arguments: object, **more: object) -> object:
        gets.append(method)
        return send(self, method, *arguments, **more)  # type: ignore[arg-type]

    with counted_requests() as requests, patch.object(GuardedHttp, "send", counted):
        found = call()
    names = {**by_name(requests), **({"GET": len(gets)} if gets else {})}
    over = {name: count for name, count in names.items() if count > BUDGETS[what].get(name, 0)}
    shown = ", ".join(f"{count} {name}" for name, count in names.items())
    size = len(found) if isinstance(found, dict | tuple) else 1
    seconds = time.process_time() - began
    print(f"{what:<14} {size:>5}  {shown:<75} {seconds:.2f} s of processor{'  OVER' if over else ''}", flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
