"""The sandbox: a real PostgreSQL, a MySQL and an S3 if asked for, and our doubles of Kafka and Kafka Connect."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.app.addresses import StackAddresses
from infra.local.process.locks import locked
from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerPlan, ServerProcess, stop_leftover
from infra.local.process.reaper import Reaper
from infra.local.stack import mysql, postgres, s3
from infra.local.stack.folders import Folders
from infra.local.stack.layout import display_path

if TYPE_CHECKING:
    from infra.local.doubles import Doubles

PORTS = ("kafka", "connect", "postgres")
LEFTOVERS = {"postgres": signal.SIGINT, "mysql": signal.SIGTERM, "s3": signal.SIGTERM}
"""Servers that a killed run may have left behind, with their stop signals."""


@dataclass(frozen=True, kw_only=True)
class SandboxStack:
    """A running sandbox."""

    addresses: StackAddresses
    servers: Sequence[ServerProcess]
    """The servers that are processes of their own."""
    doubles: "Doubles"


@contextmanager
def start(
    state: Path, *, headgate_url: str, service_credential: str, with_mysql: bool = False, with_minio: bool = False
) -> Iterator[SandboxStack]:
    """A running sandbox, the data of databases and object store in `state`; ended with the block.

    Raises SetupMissing or ServerFailed.
    """
    state = state.absolute()
    folders = Folders(state)
    busy = f"another run uses the sandbox in {display_path(state)}; end it first."
    with locked(state / "lock", busy=busy, wait=False), ExitStack() as exit_stack:
        for name, stop_signal in LEFTOVERS.items():
            stop_leftover(folders.pid_file(name), stop_signal)
        extras = [*(["mysql"] if with_mysql else []), *(["s3"] if with_minio else [])]
        ports = kept_ports(folders.ports, [*PORTS, *extras])
        reaper = Reaper()
        exit_stack.callback(reaper.close)
        servers = [ServerProcess(plan, reaper) for plan in _plans(folders, ports)]
        for server in servers:
            exit_stack.callback(server.stop)
            server.start()
        from infra.local import doubles

        started = doubles.start(
            kafka_port=ports["kafka"],
            connect_port=ports["connect"],
            headgate_url=headgate_url,
            service_credential=service_credential,
        )
        exit_stack.callback(started.stop)
        addresses = StackAddresses(
            kafka=started.kafka,
            connect=started.connect,
            postgres=postgres.url(folders, ports["postgres"]),
            mysql=mysql.url(folders, ports["mysql"]) if with_mysql else None,
            s3=s3.url(folders, ports["s3"]) if with_minio else None,
        )
        yield SandboxStack(addresses=addresses, servers=servers, doubles=started)


def _plans(folders: Folders, ports: Mapping[str, int]) -> Iterator[ServerPlan]:
    yield postgres.plan(folders, port=ports["postgres"])
    if "mysql" in ports:
        yield mysql.plan(folders, port=ports["mysql"])
    if "s3" in ports:
        yield s3.plan(folders, port=ports["s3"])
