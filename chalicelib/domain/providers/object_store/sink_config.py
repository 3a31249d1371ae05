"""The lines that the configs of all sinks to object storage have in common."""

from collections.abc import Mapping

from chalicelib.domain.connector_config import ERRORS, ConnectorConfig, converters
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker
from chalicelib.domain.object_store import FileShape, FileWriting, ObjectStoreAddress

POSITION_FIELDS: Mapping[str, str] = {"topic": "__topic", "partition": "__partition", "offset": "__offset"}
"""Fields of a line that say which record it is."""
PART_BYTES = 5 * 1024 * 1024
"""The smallest part of a multipart upload (Amazon S3 user guide, "Multipart upload limits"); a task keeps one for each
file that it writes.
"""
MAX_RECORDS = 50_000
"""In a file, where nothing else is asked for and the sink keeps them until the file is written."""
_TRANSFORMS = "org.apache.kafka.connect.transforms"
_NO_TOMBSTONES: ConnectorConfig = {
    "transforms.tombstones.type": f"{_TRANSFORMS}.Filter",
    "transforms.tombstones.predicate": "isTombstone",
    "predicates": "isTombstone",
    "predicates.isTombstone.type": f"{_TRANSFORMS}.predicates.RecordIsTombstone",
}
_ROWS: ConnectorConfig = {
    "transforms.row.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.row.delete.tombstone.handling.mode": "rewrite",
    "transforms.row.add.fields": "op,source.ts_ms",
}
_POSITION: ConnectorConfig = {
    "transforms.position.type": f"{_TRANSFORMS}.InsertField$Value",
    **{f"transforms.position.{name}.field": field for name, field in POSITION_FIELDS.items()},
}


def common_lines(delivery: Delivery, writing: FileWriting, connector_class: str) -> ConnectorConfig:
    """Which connector it is, and what it reads."""
    return {
        "connector.class": connector_class,
        "tasks.max": str(delivery.tasks_max),
        OWNER_KEY: owner_marker(ConnectorKind.SINK, delivery.id),
        "topics": ",".join(writing.targets),
        **ERRORS,
    }


def record_lines(writing: FileWriting) -> ConnectorConfig:
    """What a line becomes: without tombstones, the change or the row, with the position of its record."""
    is_row = writing.shape is FileShape.ROW
    return {
        **converters(schemas=writing.has_schemas),
        "transforms": "tombstones,row,position" if is_row else "tombstones,position",
        **_NO_TOMBSTONES,
        **(_ROWS if is_row else {}),
        **_POSITION,
    }


def max_records(writing: FileWriting) -> int:
    """Records of one file; 0 for no limit."""
    return MAX_RECORDS if writing.max_records_per_file is None else writing.max_records_per_file


def text_lines() -> ConnectorConfig:
    """For a sink that writes the text of records: the filter of tombstones sees them, other transforms no fields."""
    text = "org.apache.kafka.connect.storage.StringConverter"
    return {
        "key.converter": text,
        "value.converter": text,
        "header.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "transforms": "tombstones",
        **_NO_TOMBSTONES,
    }


def key_lines(endpoint: Endpoint[ObjectStoreAddress], key_id: str, secret: str) -> ConnectorConfig:
    """References to the key under these names; nothing where the role of the workers is used."""
    credentials = endpoint.credentials
    if not credentials.configured:
        return {}
    return {key_id: credentials.reference("access_key_id"), secret: credentials.reference("secret_access_key")}
