"""Whether the workers that answer at the address of a Connect cluster may get connectors: they are asked by `GET /`."""

from collections.abc import Callable

from chalicelib.clients.connect.client import ConnectRoot
from chalicelib.clients.connect.version import is_supported
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.connectors.workers import TOO_OLD, WorkersFault, other_kafka
from chalicelib.errors import Conflict


def fault_of_workers(cluster: ConnectCluster, root: ConnectRoot) -> WorkersFault | None:
    """Why no connector may be created on the workers that have answered so; None where nothing is wrong."""
    return other_kafka(cluster, root.kafka_cluster_id) or fault_of_version(root.version)


def fault_of_version(version: str | None) -> WorkersFault | None:
    """The same by their version alone, None: it is not known."""
    return None if version is None or is_supported(version) else TOO_OLD


def workers_check(cluster: ConnectCluster) -> Callable[[ConnectRoot], None]:
    """A check of workers that raises Conflict where no connector may be created."""

    def check(root: ConnectRoot) -> None:
        if fault := fault_of_workers(cluster, root):
            raise Conflict(fault.message)

    return check
