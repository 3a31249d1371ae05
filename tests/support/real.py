"""The real stack as a fixture, for tests marked `real`: started once for all of them, its state in a temporary folder.

Headgate's own address is part of Connect's configuration, so a port is reserved for it: `RealStackInUse.headgate_port`.
Downloaded programs are shared with other runs through the cache.
"""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.local.process.ports import kept_ports
from infra.local.stack import real_stack
from infra.local.stack.real_stack import RealStack


@dataclass(frozen=True, kw_only=True)
class RealStackInUse:
    """The running stack, and what Headgate has to be started with so that Connect can ask it for secrets."""

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
