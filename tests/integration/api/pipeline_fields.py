"""The fields of a pipeline in responses."""

FIELDS = {
    "id", "name", "source_id", "stream_cluster_id", "connect_cluster_id", "topic_prefix", "tables", "snapshot_mode",
    "converter", "options", "properties", "connector_name", "desired_state", "observed_state", "observed_at", "reasons",
    "tasks", "topics", "open_operation", "last_error", "metrics", "version", "created_at", "updated_at",
}  # fmt: skip
