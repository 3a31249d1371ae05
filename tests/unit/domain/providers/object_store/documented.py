"""The keys of two sinks that are not tried here, as their documentation and code define them: what each value may be.

Aiven's S3 sink 3.4: s3-sink-connector/README.md, S3SinkConfig. Confluent's S3 sink 10.5: S3SinkConnectorConfig and
StorageSinkConnectorConfig.
"""

from collections.abc import Mapping

_KAFKA_CONNECT: Mapping[str, str] = {
    "connector.class": r"[\w.]+",
    "tasks.max": r"[1-9]\d*",
    "topics": r"[\w.,-]+",
    "errors.tolerance": "none|all",
    "errors.log.enable": "true|false",
    "errors.log.include.messages": "true|false",
    "key.converter": r"[\w.]+",
    "key.converter.schemas.enable": "true|false",
    "value.converter": r"[\w.]+",
    "value.converter.schemas.enable": "true|false",
    "header.converter": r"[\w.]+",
    "transforms": r"\w+(,\w+)*",
    r"predicates": r"\w+",
}
_TRANSFORMS: Mapping[str, str] = {
    "transforms.tombstones.type": r"org\.apache\.kafka\.connect\.transforms\.Filter",
    "transforms.tombstones.predicate": "isTombstone",
    "predicates.isTombstone.type": r"org\.apache\.kafka\.connect\.transforms\.predicates\.RecordIsTombstone",
    "transforms.row.type": r"io\.debezium\.transforms\.ExtractNewRecordState",
    "transforms.row.delete.tombstone.handling.mode": "drop|tombstone|rewrite|rewrite-with-tombstone",
    "transforms.row.add.fields": r"[\w.]+(,[\w.]+)*",
    "transforms.position.type": r"org\.apache\.kafka\.connect\.transforms\.InsertField\$Value",
    "transforms.position.topic.field": r"\w+",
    "transforms.position.partition.field": r"\w+",
    "transforms.position.offset.field": r"\w+",
}
_REFERENCE = r"\$\{headgate:[0-9a-f-]{36}:\w+\}"
_URL = r"https?://[\w.:\[\]-]+"

AIVEN: Mapping[str, str] = {
    **_KAFKA_CONNECT,
    **_TRANSFORMS,
    "aws.access.key.id": _REFERENCE,
    "aws.secret.access.key": _REFERENCE,
    "aws.s3.bucket.name": r"[a-z0-9.-]{3,63}",
    "aws.s3.region": r"[a-z]{2,3}(-[a-z]+)+-\d",
    "aws.s3.endpoint": _URL,
    "aws.s3.part.size.bytes": r"\d+",
    "file.name.template": r"([\w./=-]|\{\{[\w:=]+\}\})+",
    "file.compression.type": "none|gzip|snappy|zstd",
    "file.max.records": r"\d+",
    "format.output.type": "avro|csv|json|jsonl|parquet",
    "format.output.fields": r"(key|value|timestamp|offset|headers)(,(key|value|timestamp|offset|headers))*",
    "format.output.envelope": "true|false",
}
CONFLUENT: Mapping[str, str] = {
    **_KAFKA_CONNECT,
    **_TRANSFORMS,
    "aws.access.key.id": _REFERENCE,
    "aws.secret.access.key": _REFERENCE,
    "storage.class": r"io\.confluent\.connect\.s3\.storage\.S3Storage",
    "format.class": r"io\.confluent\.connect\.s3\.format\.(avro\.Avro|json\.Json|parquet\.Parquet)Format",
    "partitioner.class": r"io\.confluent\.connect\.storage\.partitioner\.\w+",
    "s3.bucket.name": r"[a-z0-9.-]{3,63}",
    "s3.region": r"[a-z]{2,3}(-[a-z]+)+-\d",
    "store.url": _URL,
    "s3.path.style.access.enabled": "true|false",
    "s3.part.size": r"\d+",
    "s3.compression.type": "none|gzip",
    "topics.dir": r"[\w./=-]+",
    "flush.size": r"[1-9]\d*",
    "rotate.schedule.interval.ms": r"\d+",
    "timezone": "UTC",
    "schema.compatibility": "NONE|BACKWARD|FORWARD|FULL",
    "json.decimal.format": "BASE64|NUMERIC",
    "behavior.on.null.values": "ignore|fail|write",
    "enable.conditional.writes": "true|false",
}
SMALLEST_PART = 5 * 1024 * 1024
"""Both sinks refuse a smaller one."""
