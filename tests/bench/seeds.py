"""Thousands of rows, stored past the SDK, which would take minutes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.connector_config import INSTALLATION_KEY
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory, DesiredConnector
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, connector_name, owner_marker, parse_connector_name
from chalicelib.domain.observation import (
    ConnectorStatus,
    DesiredState,
    Observation,
    ObservedState,
    ReportedState,
    TaskStatus,
)
from chalicelib.domain.pipeline import Capture
from chalicelib.domain.table import TableName
from chalicelib.kit.ids import id_from
from chalicelib.wiring import Services
from infra.local.doubles.connect import ConnectDouble
from tests.support.dynamodb.double import MAX_BATCH_WRITES
from tests.support.dynamodb.in_process import ask
from tests.support.dynamodb.items import in_json
from tests.support.entities import make_pipeline

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def put_rows(rows: Iterable[Any]) -> None:
    writes = [(row.Meta.table_name, {"PutRequest": {"Item": in_json(row.to_dynamodb_dict())}}) for row in rows]
    for at in range(0, len(writes), MAX_BATCH_WRITES):
        of_table: dict[str, list[Any]] = {}
        for table, write in writes[at : at + MAX_BATCH_WRITES]:
            of_table.setdefault(table, []).append(write)
        ask("BatchWriteItem", {"RequestItems": of_table})


def copies(store: Any, entity: Any, count: int, **more: Any) -> Iterable[Any]:
    """Rows of `count` copies of the entity, each one second older than the one before."""
    for number in range(count):
        one = replace(
            entity,
            id=id_from("bench", store.noun, str(number)),
            name=f"copy {number}",
            created_at=BEGIN - timedelta(seconds=number),
            **more,
        )
        yield store._row(one, "seed")


def connector_names(count: int) -> list[str]:
    """Names of connectors of pipelines that are not stored."""
    return [connector_name(ConnectorKind.SOURCE, id_from("bench", "connector", str(number))) for number in range(count)]


def preload_ours(double: ConnectDouble, names: Iterable[str], services: Services, config: Mapping[str, str]) -> None:
    """Let connectors with these names run that carry the marker of this installation."""
    for name in names:
        marker = owner_marker(ConnectorKind.SOURCE, resource_id(name))
        ours = {OWNER_KEY: marker, INSTALLATION_KEY: services.clients.installation.id}
        double.preload([name], config={**config, **ours})


def pipeline_rows(
    store: Any,
    connect_cluster_id: str,
    config_hashes: Mapping[str, str],
    *,
    source_id: str = "s",
    desired_state: DesiredState = DesiredState.RUNNING,
) -> Iterable[Any]:
    """Rows of pipelines, each with a few tables, with these connectors (name -> hash of its config)."""
    tables = tuple(TableName("public", f"a_table_with_a_name_{number}") for number in range(5))
    for number, (name, config_hash) in enumerate(config_hashes.items()):
        pipeline = make_pipeline(
            id=resource_id(name), name=f"deployed {number}", source_id=source_id,
            connect_cluster_id=connect_cluster_id, capture=Capture(topic_prefix="p", tables=tables),
            desired_state=desired_state, config_hash=config_hash, created_at=BEGIN, updated_at=BEGIN,
        )  # fmt: skip
        yield store._row(pipeline, "seed")


def resource_id(connector: str) -> str:
    """The id inside a connector's name."""
    parsed = parse_connector_name(connector)
    assert parsed
    return parsed[1]


def quiet_memory(config_hashes: Mapping[str, str], worker: str, *, epoch: int = 0) -> ClusterMemory:
    """The memory of a quiet cluster on which every connector (name -> hash of its config) runs as desired."""
    tasks = (TaskStatus(id=0, state=ReportedState.RUNNING, worker_id=worker),)
    connectors = {}
    for name, config_hash in config_hashes.items():
        status = ConnectorStatus(name=name, state=ReportedState.RUNNING, worker_id=worker, tasks=tasks)
        connectors[name] = ConnectorMemory(
            desired=DesiredConnector(
                resource_type="pipeline", resource_id=resource_id(name), desired_state=DesiredState.RUNNING,
                config_hash=config_hash,
            ),
            observation=Observation(state=ObservedState.RUNNING, observed_at=BEGIN, connector=status),
        )  # fmt: skip
    return ClusterMemory(epoch=epoch, connectors=connectors)
