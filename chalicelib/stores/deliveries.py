from chalicelib.domain.connector_row import DeliveryRow
from chalicelib.domain.delivery import Delivery
from chalicelib.stores.connector_documents import ConnectorDocuments
from chalicelib.stores.searched import SEARCHED
from chalicelib.stores.tables import CONNECTOR_FIELDS, ROW, document_table

DeliveryRows = document_table(
    "deliveries",
    groups=("connect_cluster_id", "destination_id", "pipeline_id"),
    copied=(*CONNECTOR_FIELDS, "expected_tasks"),
    searched=(*SEARCHED, ROW),
)


class Deliveries(ConnectorDocuments[Delivery]):
    """Deliveries by id, by Connect cluster, by destination and by pipeline."""

    table, entity, noun = DeliveryRows, Delivery, "delivery"
    row = DeliveryRow
