"""The sandbox: a real PostgreSQL, and our doubles of the Kafka broker and of Kafka Connect."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.app.addresses import StackAddresses
from infra.local.process.locks import locked
from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerProcess, stop_leftover
from infra.local.process.reaper import Reaper
from infra.local.stack import postgres
from infra.local.stack.folders import Folders
from infra.local.stack.layout import display_path

if TYPE_CHECKING:
    from infra.local.doubles import Doubles

PORTS = ("kafka", "connect", "postgres")


@dataclass(frozen=True, kw_only=True)
class SandboxStack:
    """A running sandbox."""

    addresses: StackAddresses
    postgres: ServerProcess
    doubles: "Doubles"

    @property
    def servers(self) -> list[ServerProcess]:
        """The servers that are processes of their own."""
        return [self.postgres]


@contextmanager
def start(state: Path, *, headgate_url: str, service_credential: str) -> Iterator[SandboxStack]:
    """A running sandbox, PostgreSQL's data in `state`; ended with the block. Raises SetupMissing or ServerFailed."""
    state = state.absolute()
    folders = Folders(state)
    busy = f"another run uses the sandbox in {display_path(state)}; end it first."
    with locked(state / "lock", busy=busy, wait=False), ExitStack() as exit_stack:
        stop_leftover(folders.pid_file("postgres"), signal.SIGINT)
        ports = kept_ports(folders.ports, PORTS)
        reaper = Reaper()
        exit_stack.callback(reaper.close)
        database = ServerProcess(postgres.plan(folders, port=ports["postgres"]), reaper)
        exit_stack.callback(database.stop)
        database.start()
        address = postgres.url(folders, ports["postgres"])
        from infra.local import doubles

        started = doubles.start(
            kafka_port=ports["kafka"],
            connect_port=ports["connect"],
            headgate_url=headgate_url,
            service_credential=service_credential,
        )
        exit_stack.callback(started.stop)
        addresses = StackAddresses(kafka=started.kafka, connect=started.connect, postgres=address)
        yield SandboxStack(addresses=addresses, postgres=database, doubles=started)
