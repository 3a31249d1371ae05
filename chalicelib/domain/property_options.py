"""Which field of a body sets what people know as a property of the connector.

Property names: the references of Debezium 3.6 and of Kafka Connect. Each kind of database has a table of its own for
what it alone has.
"""

from collections.abc import Mapping

CAPTURE_OPTIONS: Mapping[str, str] = {
    "column.exclude.list": "options.exclude_columns",
    "column.include.list": "options.exclude_columns",
    "database.dbname": "source_id",
    "database.hostname": "source_id",
    "database.password": "source_id",
    "database.port": "source_id",
    "database.sslmode": "source_id",
    "database.ssl.mode": "source_id",
    "database.user": "source_id",
    "decimal.handling.mode": "representation",
    "event.converting.failure.handling.mode": "options.on_conversion_error",
    "event.processing.failure.handling.mode": "options.on_conversion_error",
    "heartbeat.action.query": "options.heartbeat_table",
    "heartbeat.interval.ms": "options.heartbeat_interval_ms",
    "key.converter": "converter",
    "max.batch.size": "options.max_batch_size",
    "max.queue.size": "options.max_queue_size",
    "poll.interval.ms": "options.poll_interval_ms",
    "producer.override.max.request.size": "options.max_message_bytes",
    "schema.include.list": "tables",
    "snapshot.mode": "snapshot_mode",
    "table.exclude.list": "tables",
    "table.include.list": "tables",
    "tombstones.on.delete": "options.tombstones_on_delete",
    "topic.creation.default.max.message.bytes": "options.max_message_bytes",
    "topic.prefix": "topic_prefix",
    "value.converter": "converter",
}
"""Of every capture. `source_id`: the source has the address and the credentials."""
TARGET_OPTIONS: Mapping[str, str] = {
    "auto.create": "auto_create",
    "auto.evolve": "auto_evolve",
    "batch.size": "batch_size",
    "collection.name.format": "mappings",
    "connection.password": "destination_id",
    "connection.url": "destination_id",
    "connection.user": "destination_id",
    "connection.username": "destination_id",
    "delete.enabled": "delete_enabled",
    "file.compression.type": "compression",
    "file.name.template": "file_name_template",
    "flush.size": "max_records_per_file",
    "format.class": "format",
    "insert.mode": "write_mode",
    "schema.evolution": "auto_evolve",
    "table.name.format": "mappings",
    "tasks.max": "tasks_max",
    "topics": "mappings",
}
"""Of deliveries. `destination_id`: the destination has the address and the credentials."""
_REGISTERED = {"source_id": "the source", "destination_id": "the destination"}


def option_sentence(key: str, option: str) -> str:
    """What to do instead of setting the property `key`, for people."""
    if option in _REGISTERED:
        return f"{key} is not set here: {_REGISTERED[option]} has the address and the credentials."
    return f"{key} is not set as a property. Set {option} instead."
