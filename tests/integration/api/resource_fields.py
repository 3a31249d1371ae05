"""The fields of pipelines and deliveries in responses."""

from tests.support.apps.sandbox import Json

PIPELINE = {
    "id", "name", "source_id", "stream_cluster_id", "connect_cluster_id", "topic_prefix", "tables", "snapshot_mode",
    "converter", "representation", "options", "properties", "connector_name", "desired_state", "observed_state",
    "observed_at", "reasons", "notices", "tasks", "topics", "open_operation", "last_error", "metrics", "version",
    "created_at", "updated_at", "labels",
}  # fmt: skip
DELIVERY = {
    "id", "destination_id", "pipeline_id", "name", "connector_name", "connect_cluster_id", "mappings", "configuration",
    "topics", "desired_state", "observed_state", "observed_at", "reasons", "notices", "tasks", "open_operation",
    "last_error", "metrics", "notice", "plugin", "version", "created_at", "updated_at", "labels",
}  # fmt: skip


def both_states(resource: Json) -> tuple[str, str]:
    """Desired and observed state."""
    return resource["desired_state"], resource["observed_state"]
