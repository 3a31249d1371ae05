from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import CONNECTOR_FIELDS, document_table

PipelineRows = document_table(
    "pipelines",
    groups=("connect_cluster_id", "source_id", "stream_cluster_id"),
    copied=(*CONNECTOR_FIELDS, "snapshot_mode"),
    searched=SEARCHED,
)


class Pipelines(SearchedDocuments[Pipeline]):
    """Pipelines by id, by Connect cluster, by source and by stream cluster. References are their deliveries."""

    table, entity, noun = PipelineRows, Pipeline, "pipeline"

    def closing(self, entity: Pipeline) -> bool:
        return entity.open_operation is not None and entity.open_operation.kind is OperationKind.DELETE
