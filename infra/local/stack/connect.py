"""A Kafka Connect worker (distributed mode) with Debezium and our secret provider installed."""

import json
from collections.abc import Sequence
from pathlib import Path

from infra.local.process.processes import ServerPlan
from infra.local.stack import java, properties, readiness_probes
from infra.local.stack.folders import Folders
from infra.local.stack.kafka import LOGGING, MAX_MESSAGE_BYTES
from infra.local.stack.kept_secrets import write_private

PROVIDER = "org.headgate.connect.HeadgateConfigProvider"

# What a connector may override in its own Kafka clients: sizes and rates, never addresses or credentials.
OVERRIDES = (
    "max.request.size",
    "buffer.memory",
    "batch.size",
    "linger.ms",
    "compression.type",
    "max.poll.records",
    "max.partition.fetch.bytes",
    "fetch.max.bytes",
    "auto.offset.reset",
)


def plan(
    libraries: Path,
    plugins: Sequence[Path],
    folders: Folders,
    *,
    port: int,
    kafka_port: int,
    headgate_url: str,
    service_credential: str,
) -> ServerPlan:
    """The worker at http://127.0.0.1:`port`. It asks `headgate_url` for secrets, with the service credential."""
    home = folders.of("connect")
    token = home / "service-credential"
    write_private(token, service_credential + "\n")
    settings = _settings(port, kafka_port, plugins) | _provider(headgate_url, token)
    config = properties.write(home / "worker.properties", settings)
    main = "org.apache.kafka.connect.cli.ConnectDistributed"
    return ServerPlan(
        name="Kafka Connect",
        command=java.command(main, str(config), classpath=libraries, heap="1g", options=(LOGGING,)),
        folder=home,
        log=folders.log("connect"),
        pid_file=folders.pid_file("connect"),
        ready=lambda: is_healthy(port),
        ready_within=90.0,
    )


def is_healthy(port: int) -> bool:
    """Whether the worker reports `healthy`. Until it is ready, Connect answers 404 with an HTML page, or 503."""
    text = readiness_probes.http_text(port, "/health")
    return bool(text) and json.loads(text).get("status") == "healthy"


def _settings(port: int, kafka_port: int, plugins: Sequence[Path]) -> dict[str, str]:
    json_converter = "org.apache.kafka.connect.json.JsonConverter"
    return {
        "bootstrap.servers": f"127.0.0.1:{kafka_port}",
        "group.id": "headgate-local",
        "listeners": f"http://127.0.0.1:{port}",
        "rest.advertised.host.name": "127.0.0.1",
        "rest.advertised.port": str(port),
        "plugin.path": ",".join(map(str, plugins)),
        # Every plug-in here has service manifests (see camel.py), so the slow scan of all classes can be left out.
        "plugin.discovery": "SERVICE_LOAD",
        "key.converter": json_converter,
        "value.converter": json_converter,
        "config.storage.topic": "connect-configs",
        "config.storage.replication.factor": "1",
        "offset.storage.topic": "connect-offsets",
        "offset.storage.replication.factor": "1",
        "offset.storage.partitions": "5",
        "status.storage.topic": "connect-status",
        "status.storage.replication.factor": "1",
        "status.storage.partitions": "1",
        "offset.flush.interval.ms": "2000",
        "scheduled.rebalance.max.delay.ms": "5000",
        "connector.client.config.override.policy": "Allowlist",
        "connector.client.config.override.allowlist": ",".join(OVERRIDES),
        "consumer.max.partition.fetch.bytes": str(MAX_MESSAGE_BYTES),
        "consumer.fetch.max.bytes": str(4 * MAX_MESSAGE_BYTES),
    }


def _provider(headgate_url: str, token: Path) -> dict[str, str]:
    return {
        "config.providers": "headgate",
        "config.providers.headgate.class": PROVIDER,
        "config.providers.headgate.param.url": headgate_url,
        "config.providers.headgate.param.token.file": str(token),
    }
