"""Connectors of Kafka Connect, of Headgate and of others."""

from typing import Any, Self

from pydantic import Field

from chalicelib.api.contract.common import Output, Timestamp, Uuid
from chalicelib.api.contract.live_reads import FreshListQuery, FreshQuery
from chalicelib.api.contract.runtime import ConnectorStateOutput, HintOutput, TaskOutput
from chalicelib.domain.connector import ClusterConnector
from chalicelib.domain.live_reads import LiveAnswer


class ConnectorsQuery(FreshListQuery):
    """Of which Connect cluster."""

    cluster_id: Uuid | None = Field(default=None, description="Of this Connect cluster; without it, of all.")


class ConnectorQuery(FreshQuery):
    """In which Connect cluster."""

    cluster_id: Uuid


class ResourceOutput(Output):
    """A pipeline or a delivery."""

    type: str
    id: str
    name: str


class ConnectorOutput(Output):
    """A connector. `managed`: it is Headgate's, which changes no others. Null means that it could not be read."""

    name: str
    cluster_id: str
    type: str | None
    connector_class: str | None
    state: str
    worker_id: str | None
    tasks: list[TaskOutput]
    managed: bool
    resource: ResourceOutput | None

    @classmethod
    def of(cls, entity: ClusterConnector) -> Self:
        status = entity.connector.status
        return cls.model_validate({**_fields(entity), "state": status.state, "worker_id": status.worker_id})


class ConnectorPartOutput(ConnectorStateOutput):
    """The connector itself. Its trace is withheld."""

    hint: HintOutput | None


class ConnectorStatusOutput(Output):
    """A connector, observed at a time. Traces are withheld: hints say what they mean."""

    name: str
    cluster_id: str
    type: str | None
    connector_class: str | None
    connector: ConnectorPartOutput
    tasks: list[TaskOutput]
    managed: bool
    resource: ResourceOutput | None
    observed_at: Timestamp

    @classmethod
    def of(cls, answer: LiveAnswer[ClusterConnector]) -> Self:
        connector = answer.value.connector
        part = {
            "state": connector.status.state,
            "worker_id": connector.status.worker_id,
            "hint": connector.hint(connector.status),
        }
        return cls.model_validate({**_fields(answer.value), "connector": part, "observed_at": answer.at})


def _fields(entity: ClusterConnector) -> dict[str, Any]:
    connector = entity.connector
    tasks = [
        {"id": task.id, "state": task.state, "worker_id": task.worker_id, "hint": connector.hint(task)}
        for task in connector.status.tasks
    ]
    return {
        "name": connector.name,
        "cluster_id": entity.cluster_id,
        "type": connector.type,
        "connector_class": connector.connector_class,
        "tasks": tasks,
        "managed": entity.managed,
        "resource": entity.resource,
    }
