"""The real stack as a fixture, for tests marked `real`: started once for all of them, its state in a temporary folder.

Headgate's own address is part of Connect's configuration, so a port is reserved for it: `RealStackInUse.headgate_port`.
Downloaded programs are shared with other runs through the cache.
"""

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerProcess
from infra.local.stack import connect, real_stack
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from infra.local.stack.real_stack import RealStack
from tests.support.servers import running_server


@dataclass(frozen=True, kw_only=True)
class RealStackInUse:
    """The running stack, with the port and the credential with which Connect asks Headgate for secrets."""

    stack: RealStack
    headgate_port: int
    service_credential: str = field(repr=False)

    @property
    def headgate_url(self) -> str:
        """Where Connect looks for Headgate."""
        return f"http://127.0.0.1:{self.headgate_port}"


@pytest.fixture(scope="session")
def real_state() -> Iterator[Path]:
    """An empty folder for the stack's state, which PostgreSQL may enter: it runs as another account than root."""
    folder = Path(tempfile.mkdtemp(prefix="headgate-real-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def real_stack_in_use(real_state: Path) -> Iterator[RealStackInUse]:
    """The real stack with the address and credential that it was started with."""
    port = kept_ports(real_state / "headgate.json", ["headgate"])["headgate"]
    credential = secrets.token_urlsafe(24)
    url = f"http://127.0.0.1:{port}"
    with real_stack.start(real_state / "state", headgate_url=url, service_credential=credential) as stack:
        yield RealStackInUse(stack=stack, headgate_port=port, service_credential=credential)


@pytest.fixture(scope="session", name="real_stack")
def _real_stack(real_stack_in_use: RealStackInUse) -> RealStack:
    """The real stack itself: addresses, and servers to stop, kill and start again."""
    return real_stack_in_use.stack


@contextlib.contextmanager
def other_worker(
    use: RealStackInUse,
    folder: Path,
    *,
    name: str,
    plugins: Sequence[Path] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, ServerProcess]]:
    """A second worker, a Connect cluster of its own on the same broker: its URL and its process.

    `name` begins the names of its group and topics. `settings` come on top of those of the stack's worker.
    """
    programs, folders = fetch_all(), Folders(folder)
    port = kept_ports(folders.ports, ["connect"])["connect"]
    plan = connect.plan(
        programs.connect,
        programs.plugins if plugins is None else plugins,
        folders,
        port=port,
        kafka_port=int(use.stack.addresses.kafka.rsplit(":", 1)[1]),
        headgate_url=use.headgate_url,
        service_credential=use.service_credential,
    )
    config = folders.of("connect") / "worker.properties"
    own = config.read_text().replace("headgate-local", f"headgate-{name}").replace("topic=connect-", f"topic={name}-")
    config.write_text("\n".join([own, *(f"{key}={value}" for key, value in (settings or {}).items()), ""]))
    with contextlib.ExitStack() as ends:
        # Its configuration has the service credential, which the search for leaks allows in the first worker's only.
        ends.callback(shutil.rmtree, folder, ignore_errors=True)
        worker = ends.enter_context(running_server(replace(plan, name=f"Kafka Connect ({name})")))
        # It would take long to leave its group, and nobody waits for what it does.
        ends.callback(worker.kill)
        yield f"http://127.0.0.1:{port}", worker
