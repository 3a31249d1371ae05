from chalicelib.domain.connector_row import PipelineRow
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.stores.connector_documents import ConnectorDocuments
from chalicelib.stores.searched import SEARCHED
from chalicelib.stores.tables import CONNECTOR_FIELDS, ROW, document_table

PipelineRows = document_table(
    "pipelines",
    groups=("connect_cluster_id", "source_id", "stream_cluster_id"),
    copied=(*CONNECTOR_FIELDS, "snapshot_mode"),
    searched=(*SEARCHED, ROW),
)


class Pipelines(ConnectorDocuments[Pipeline]):
    """Pipelines by id, by Connect cluster, by source and by stream cluster. References are their deliveries."""

    table, entity, noun = PipelineRows, Pipeline, "pipeline"
    row = PipelineRow

    def closing(self, entity: Pipeline) -> bool:
        return entity.open_operation is not None and entity.open_operation.kind is OperationKind.DELETE
