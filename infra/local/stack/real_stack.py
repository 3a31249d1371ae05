"""The real stack: Kafka, Kafka Connect with Debezium, PostgreSQL, DynamoDB Local and ElasticMQ on 127.0.0.1.

    python -m infra.local.stack.real_stack --state DIR [--headgate-url URL] [--mysql] [--minio]

starts it, prints the addresses, and ends it on Ctrl-C.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from infra.local.app.addresses import StackAddresses
from infra.local.app.errors import ServerFailed, SetupMissing
from infra.local.app.progress import say
from infra.local.process import interrupts
from infra.local.process.locks import locked
from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerPlan, ServerProcess, report_ended, stop_leftover
from infra.local.process.reaper import Reaper
from infra.local.stack import camel, connect, dynamodb, elasticmq, kafka, mysql, postgres, s3
from infra.local.stack.fetch import Programs, fetch_all
from infra.local.stack.folders import Folders
from infra.local.stack.kept_secrets import kept_secret
from infra.local.stack.layout import display_path

PORTS = ("kafka", "kafka_controller", "connect", "postgres", "dynamodb", "sqs")
LEFTOVERS = {
    "connect": signal.SIGTERM,
    "kafka": signal.SIGTERM,
    "dynamodb": signal.SIGTERM,
    "sqs": signal.SIGTERM,
    "postgres": signal.SIGINT,
    "mysql": signal.SIGTERM,
    "s3": signal.SIGTERM,
}
"""Servers that a killed run may have left behind, with their stop signals."""


@dataclass(frozen=True, kw_only=True)
class RealStack:
    """A running stack. Each server can be stopped, killed and started again separately."""

    addresses: StackAddresses
    kafka: ServerProcess
    connect: ServerProcess
    postgres: ServerProcess
    dynamodb: ServerProcess
    sqs: ServerProcess
    mysql: ServerProcess | None = None
    s3: ServerProcess | None = None

    @property
    def servers(self) -> list[ServerProcess]:
        extras = [server for server in (self.mysql, self.s3) if server]
        return [self.kafka, self.connect, self.postgres, self.dynamodb, self.sqs, *extras]

    def stop(self) -> None:
        """Ends all servers, Connect before the broker, so that it can still commit its offsets."""
        self.connect.stop()
        in_parallel([server.stop for server in self.servers if server is not self.connect])


@contextmanager
def start(
    state: Path,
    *,
    headgate_url: str,
    service_credential: str,
    connect_later: bool = False,
    with_mysql: bool = False,
    with_minio: bool = False,
) -> Iterator[RealStack]:
    """A running stack with its state in `state`, fetched first where needed; ended with the block.

    With `connect_later` the caller calls `stack.connect.start()`: connectors that Connect has stored ask Headgate for
    their secrets at once, so Headgate should serve first. With `with_minio` Connect has Camel's S3 sink as well.
    Raises SetupMissing or ServerFailed.
    """
    state = state.absolute()
    folders = Folders(state)
    busy = f"another run uses the stack in {display_path(state)}; end it first."
    with locked(state / "lock", busy=busy, wait=False), ExitStack() as exit_stack:
        programs = fetch_all()
        if with_minio:
            programs = replace(programs, plugins=(*programs.plugins, camel.plugins()))
        in_parallel(
            [partial(stop_leftover, folders.pid_file(name), stop_signal) for name, stop_signal in LEFTOVERS.items()]
        )
        extras = [*(["mysql"] if with_mysql else []), *(["s3"] if with_minio else [])]
        ports = kept_ports(folders.ports, [*PORTS, *extras])
        reaper = Reaper()
        exit_stack.callback(reaper.close)
        stack = _stack(programs, folders, ports, reaper, headgate_url, service_credential)
        exit_stack.callback(stack.stop)
        others = [server.start for server in stack.servers if server not in (stack.kafka, stack.connect)]
        in_parallel([*others, _brokers(stack, connect_later)])
        yield stack


def in_parallel(steps: Sequence[Callable[[], object]]) -> None:
    """Runs all steps at the same time; when all have ended, raises the first error among them."""
    with ThreadPoolExecutor(max_workers=len(steps)) as pool:
        for outcome in [pool.submit(step) for step in steps]:
            outcome.result()


def _brokers(stack: RealStack, connect_later: bool) -> Callable[[], None]:
    def start_both() -> None:
        stack.kafka.start()
        if not connect_later:
            stack.connect.start()

    return start_both


def _stack(
    programs: Programs, folders: Folders, ports: dict[str, int], reaper: Reaper, headgate_url: str, credential: str
) -> RealStack:
    def server(plan: ServerPlan) -> ServerProcess:
        return ServerProcess(plan, reaper)

    worker = connect.plan(
        programs.connect,
        programs.plugins,
        folders,
        port=ports["connect"],
        kafka_port=ports["kafka"],
        headgate_url=headgate_url,
        service_credential=credential,
    )
    broker = kafka.plan(programs.kafka, folders, port=ports["kafka"], controller_port=ports["kafka_controller"])
    return RealStack(
        addresses=_addresses(folders, ports),
        kafka=server(broker),
        connect=server(worker),
        postgres=server(postgres.plan(folders, port=ports["postgres"])),
        dynamodb=server(dynamodb.plan(programs.dynamodb, folders, port=ports["dynamodb"])),
        sqs=server(elasticmq.plan(programs.elasticmq, folders, port=ports["sqs"])),
        mysql=server(mysql.plan(folders, port=ports["mysql"])) if "mysql" in ports else None,
        s3=server(s3.plan(folders, port=ports["s3"])) if "s3" in ports else None,
    )


def _addresses(folders: Folders, ports: dict[str, int]) -> StackAddresses:
    return StackAddresses(
        kafka=f"127.0.0.1:{ports['kafka']}",
        connect=f"http://127.0.0.1:{ports['connect']}",
        postgres=postgres.url(folders, ports["postgres"]),
        mysql=mysql.url(folders, ports["mysql"]) if "mysql" in ports else None,
        s3=s3.url(folders, ports["s3"]) if "s3" in ports else None,
        dynamodb=f"http://127.0.0.1:{ports['dynamodb']}",
        sqs=f"http://127.0.0.1:{ports['sqs']}",
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.local.stack.real_stack", description="Run the real stack.")
    parser.add_argument("--state", type=Path, required=True, help="the folder that keeps the stack's state")
    parser.add_argument("--headgate-url", default="http://127.0.0.1:8000", help="where Connect asks for secrets")
    parser.add_argument("--mysql", action="store_true", help="with a MySQL")
    parser.add_argument("--minio", action="store_true", help="with an S3, and Camel's sink for it")
    options = parser.parse_args()
    credential = kept_secret(options.state / "service-credential")
    try:
        with (
            interrupts.stop_on_signals() as interrupted,
            start(
                options.state,
                headgate_url=options.headgate_url,
                service_credential=credential,
                with_mysql=options.mysql,
                with_minio=options.minio,
            ) as stack,
        ):
            for name, value in vars(stack.addresses).items():
                print(f"{name}={value}")
            print(f"service_credential={credential}", flush=True)
            report_ended(stack.servers, interrupted)
    except (SetupMissing, ServerFailed) as error:
        say(str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
