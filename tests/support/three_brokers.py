"""Three real brokers of one Kafka cluster, of which clients know one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.local.process.ports import free_port
from infra.local.process.processes import ServerProcess
from infra.local.stack import kafka
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from tests.support.servers import running_server

NODES = (1, 7, 12)
"""The node ids. The first one is the controller, too, and the only bootstrap server."""


@dataclass(frozen=True, kw_only=True)
class ThreeBrokers:
    """The address of the first broker, and all of them by node id."""

    bootstrap: str
    servers: dict[int, ServerProcess]


@contextmanager
def three_brokers(folder: Path) -> Iterator[ThreeBrokers]:
    """The brokers, as the real stack starts its only one."""
    libraries, controller = fetch_all().kafka, free_port()
    ports: dict[int, int] = {}
    with ExitStack() as ends:
        servers = {}
        for node in NODES:
            ports[node] = free_port([controller, *ports.values()])
            folders = Folders(folder / str(node))
            plan = kafka.plan(libraries, folders, port=ports[node], controller_port=controller)
            if node != NODES[0]:
                _join(folder / str(node) / "kafka", folder / str(NODES[0]) / "kafka", node, ports[node])
            servers[node] = ends.enter_context(running_server(plan))
        yield ThreeBrokers(bootstrap=f"127.0.0.1:{ports[NODES[0]]}", servers=servers)


def _join(own: Path, first: Path, node: int, port: int) -> None:
    """Make a formatted broker a member of the first one's cluster, without a controller of its own."""
    with (own / "broker.properties").open("a") as file:
        file.write(f"process.roles=broker\nnode.id={node}\nlisteners=PLAINTEXT://127.0.0.1:{port}\n")
    cluster_id = next(line for line in _meta(first).read_text().splitlines() if line.startswith("cluster.id="))
    changed = {"node.id": f"node.id={node}", "cluster.id": cluster_id}
    lines = (changed.get(line.partition("=")[0], line) for line in _meta(own).read_text().splitlines())
    _meta(own).write_text("\n".join([*lines, ""]))


def _meta(folder: Path) -> Path:
    return folder / "data" / "meta.properties"
