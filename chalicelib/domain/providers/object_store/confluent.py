"""The config of Confluent's S3 sink (its documentation and code, release 10.5)."""

from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.object_store import Compression, FileWriting, ObjectStoreAddress
from chalicelib.domain.providers.object_store.plugins import CONFLUENT
from chalicelib.domain.providers.object_store.sink_config import (
    PART_BYTES,
    common_lines,
    key_lines,
    max_records,
    record_lines,
)

ROTATE_MS = 60_000
"""A file is complete after so long, however few records it has: a quiet topic's last records would wait for ever."""
DEFAULT_FOLDER = "topics"
"""The sink needs a folder; this is its own default."""
NO_LIMIT = 2**31 - 1
_COMPRESSION = {Compression.GZIP: "gzip", Compression.NONE: "none"}


def build_config(delivery: Delivery, writing: FileWriting, endpoint: Endpoint[ObjectStoreAddress]) -> ConnectorConfig:
    """The whole config; secrets as references."""
    address = endpoint.address
    return {
        **common_lines(delivery, writing, CONFLUENT.class_name),
        **key_lines(endpoint, "aws.access.key.id", "aws.secret.access.key"),
        "storage.class": "io.confluent.connect.s3.storage.S3Storage",
        "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
        "partitioner.class": "io.confluent.connect.storage.partitioner.DefaultPartitioner",
        "s3.bucket.name": address.bucket,
        # Its default is a region, too.
        "s3.region": address.region,
        **({"store.url": address.endpoint_url} if address.endpoint_url else {}),
        "s3.path.style.access.enabled": "true" if address.path_style else "false",
        "s3.part.size": str(PART_BYTES),
        "s3.compression.type": _COMPRESSION[writing.compression],
        "topics.dir": address.prefix or DEFAULT_FOLDER,
        "flush.size": str(max_records(writing) or NO_LIMIT),
        "rotate.schedule.interval.ms": str(ROTATE_MS),
        "timezone": "UTC",
        "schema.compatibility": "NONE",
        "json.decimal.format": "NUMERIC",
        # Its default stops at the first tombstone.
        "behavior.on.null.values": "ignore",
        # Stores that only speak S3's protocol answer conditional writes in different ways.
        "enable.conditional.writes": "false",
        **record_lines(writing),
    }
