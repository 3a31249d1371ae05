"""Deliveries."""

from collections.abc import Mapping

from chalicelib.domain.delivery import Delivery
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

DeliveryRows = document_table("deliveries", groups=("connect_cluster_id", "destination_id", "pipeline_id"))


class Deliveries(Documents[Delivery]):
    """Deliveries by id, by Connect cluster, by destination and by pipeline."""

    def __init__(self) -> None:
        super().__init__(DeliveryRows, Delivery, "delivery")

    def groups(self, entity: Delivery) -> Mapping[str, str | None]:
        return {
            "connect_cluster_id": entity.connect_cluster_id,
            "destination_id": entity.destination_id,
            "pipeline_id": entity.pipeline_id,
        }
