"""The fields of deliveries in responses, for several files of tests."""

from tests.support.apps.sandbox import Json

FIELDS = {
    "id", "destination_id", "pipeline_id", "name", "connector_name", "connect_cluster_id", "mappings", "configuration",
    "topics", "desired_state", "observed_state", "observed_at", "reasons", "tasks", "open_operation", "last_error",
    "metrics", "notice", "version", "created_at", "updated_at",
}  # fmt: skip
STATUS = {
    "id", "delivery_id", "name", "connector_name", "desired_state", "observed_state", "observed_at", "connector",
    "tasks", "reasons", "progress", "progress_notice",
}  # fmt: skip


def both_states(delivery: Json) -> tuple[str, str]:
    """Desired and observed state."""
    return delivery["desired_state"], delivery["observed_state"]
