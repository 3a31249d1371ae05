"""Thousands of rows, written into moto's tables without its API, which would take minutes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from chalicelib.domain.names import ConnectorKind, connector_name, parse_connector_name
from chalicelib.domain.observation import ConnectorStatus, DesiredState, Observation, ObservedState, TaskStatus
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, DesiredConnector
from chalicelib.domain.table import TableName
from chalicelib.kit.ids import id_from

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def put_rows(rows: Iterable[Any]) -> None:
    """Store PynamoDB rows."""
    tables = dynamodb_backends[DEFAULT_ACCOUNT_ID]["eu-central-1"].tables
    for row in rows:
        tables[row.Meta.table_name].put_item(row.to_dynamodb_dict())


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


def pipeline_rows(
    store: Any, connect_cluster_id: str, config_hashes: Mapping[str, str], *, source_id: str = "s"
) -> Iterable[Any]:
    """Rows of deployed pipelines with these connectors (name -> hash of its config), each with a few tables."""
    tables = tuple(TableName("public", f"a_table_with_a_name_{number}") for number in range(5))
    for number, (name, config_hash) in enumerate(config_hashes.items()):
        pipeline = Pipeline(
            id=resource_id(name), name=f"deployed {number}", source_id=source_id, stream_cluster_id="k",
            connect_cluster_id=connect_cluster_id, capture=Capture(topic_prefix="p", tables=tables),
            desired_state=DesiredState.RUNNING, config_hash=config_hash, created_at=BEGIN, updated_at=BEGIN,
        )  # fmt: skip
        yield store._row(pipeline, "seed")


def resource_id(connector: str) -> str:
    """The id inside a connector's name."""
    parsed = parse_connector_name(connector)
    assert parsed
    return parsed[1]


def snapshot(config_hashes: Mapping[str, str], worker: str, *, epoch: int = 0) -> ClusterSnapshot:
    """The snapshot of a quiet cluster on which every connector (name -> hash of its config) runs as desired."""
    desired, observed = {}, {}
    task = TaskStatus(id=0, state="RUNNING", worker_id=worker)
    for name, config_hash in config_hashes.items():
        desired[name] = DesiredConnector(
            resource_type="pipeline", resource_id=resource_id(name), desired_state=DesiredState.RUNNING,
            config_hash=config_hash,
        )  # fmt: skip
        observed[name] = Observation(
            state=ObservedState.RUNNING,
            observed_at=BEGIN,
            connector=ConnectorStatus(
                name=name,
                state="RUNNING",
                worker_id=worker,
                tasks=(task,),
            ),
        )
    return ClusterSnapshot(epoch=epoch, desired=desired, observed=observed)
