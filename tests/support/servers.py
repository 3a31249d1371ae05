"""Servers that tests start, each in a process of its own that ends with its block."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerPlan, ServerProcess
from infra.local.process.reaper import Reaper
from infra.local.stack import dynamodb
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders


@contextmanager
def running_server(plan: ServerPlan) -> Iterator[ServerProcess]:
    """The server, ready. It also ends when the test run is killed."""
    with ExitStack() as ends:
        reaper = Reaper()
        ends.callback(reaper.close)
        server = ServerProcess(plan, reaper)
        # Before the start: a server that never gets ready has to end, too.
        ends.callback(server.stop)
        server.start()
        yield server


@contextmanager
def dynamodb_local() -> Iterator[str]:
    """The URL of an empty DynamoDB Local, for tests marked `real`: it needs Java and a download."""
    with TemporaryDirectory(prefix="headgate-dynamodb-") as state:
        folders = Folders(Path(state))
        port = kept_ports(folders.ports, ["dynamodb"])["dynamodb"]
        with running_server(dynamodb.plan(fetch_all().dynamodb, folders, port=port)):
            yield f"http://127.0.0.1:{port}"
