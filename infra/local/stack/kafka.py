"""A Kafka broker of one node (KRaft: it is its own controller)."""

import base64
import subprocess
import uuid
from pathlib import Path

from chalicelib.kit.clock import Deadline
from infra.local.app.errors import ServerFailed
from infra.local.process.processes import ServerPlan
from infra.local.stack import java, properties, readiness_probes
from infra.local.stack.folders import Folders
from infra.local.stack.layout import POMS

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Bytes. A text of 900 KB takes 12 bytes per emoji once Connect has written it as JSON: about 11 MB at the worst."""

LOGGING = f"-Dlog4j2.configurationFile={POMS.parent / 'log4j2.properties'}"


def plan(libraries: Path, folders: Folders, *, port: int, controller_port: int) -> ServerPlan:
    """The broker at 127.0.0.1:`port`, its data folder formatted if it is new. Raises ServerFailed if that fails."""
    config = properties.write(folders.of("kafka") / "broker.properties", _settings(folders, port, controller_port))
    _format(libraries, config, folders.of("kafka") / "data")
    return ServerPlan(
        name="Kafka",
        command=java.command("kafka.Kafka", str(config), classpath=libraries, heap="512m", options=(LOGGING,)),
        folder=folders.of("kafka"),
        log=folders.log("kafka"),
        pid_file=folders.pid_file("kafka"),
        ready=lambda: _answers(port),
    )


def _answers(port: int) -> bool:
    from chalicelib.clients.kafka.client import Kafka
    from chalicelib.domain.addresses import KafkaAddress
    from chalicelib.domain.endpoint import OpenedEndpoint
    from chalicelib.errors import Unavailable

    readiness_probes.listens(port)
    broker = OpenedEndpoint(KafkaAddress(bootstrap_servers=f"127.0.0.1:{port}"))
    try:
        return bool(Kafka(broker, check_host=lambda host: (host,)).cluster_id(Deadline.after(2)))
    except Unavailable:
        return False


def _settings(folders: Folders, port: int, controller_port: int) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(folders.of("kafka") / "data"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "message.max.bytes": str(MAX_MESSAGE_BYTES),
        "replica.fetch.max.bytes": str(MAX_MESSAGE_BYTES),
        # Left-over index files of the usual 10 MB each, times every topic of every pipeline, would fill a laptop.
        "log.index.size.max.bytes": "1048576",
    }


def _format(libraries: Path, config: Path, data: Path) -> None:
    if (data / "meta.properties").exists():
        return
    # A cluster id is a UUID in URL-safe base64 that does not start like an option (org.apache.kafka.common.Uuid).
    cluster = next(text for text in iter(_random_cluster_id, None) if not text.startswith("-"))
    command = java.command(
        "kafka.tools.StorageTool",
        *("format", "--cluster-id", cluster, "--config", str(config)),
        classpath=libraries,
        heap="256m",
    )
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if result.returncode != 0:
        raise ServerFailed(
            f"Kafka could not format its data folder: {(result.stderr or result.stdout).strip()[-2000:]}"
        )


def _random_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
