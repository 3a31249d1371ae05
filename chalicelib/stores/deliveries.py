from chalicelib.domain.delivery import Delivery
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import CONNECTOR_FIELDS, document_table

DeliveryRows = document_table(
    "deliveries",
    groups=("connect_cluster_id", "destination_id", "pipeline_id"),
    copied=(*CONNECTOR_FIELDS, "expected_tasks"),
    searched=SEARCHED,
)


class Deliveries(SearchedDocuments[Delivery]):
    """Deliveries by id, by Connect cluster, by destination and by pipeline."""

    table, entity, noun = DeliveryRows, Delivery, "delivery"
