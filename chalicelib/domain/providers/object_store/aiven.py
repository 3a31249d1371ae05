"""The config of Aiven's S3 sink (its documentation and code, release 3.4).

It writes one file for each partition whenever the workers commit offsets, and the same file again after a failure.
"""

from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.object_store import Compression, FileWriting, ObjectStoreAddress
from chalicelib.domain.providers.object_store.plugins import AIVEN
from chalicelib.domain.providers.object_store.sink_config import (
    PART_BYTES,
    common_lines,
    key_lines,
    max_records,
    record_lines,
)

_EXTENSIONS = {Compression.GZIP: ".jsonl.gz", Compression.NONE: ".jsonl"}


def build_config(delivery: Delivery, writing: FileWriting, endpoint: Endpoint[ObjectStoreAddress]) -> ConnectorConfig:
    """The whole config; secrets as references.

    `aws.s3.prefix` is not among them: with it the sink ignores the template of file names.
    """
    address = endpoint.address
    return {
        **common_lines(delivery, writing, AIVEN.class_name),
        **key_lines(endpoint, "aws.access.key.id", "aws.secret.access.key"),
        "aws.s3.bucket.name": address.bucket,
        "aws.s3.region": address.region,
        # With an endpoint the sink uses path style.
        **({"aws.s3.endpoint": address.endpoint_url} if address.endpoint_url else {}),
        "aws.s3.part.size.bytes": str(PART_BYTES),
        "file.name.template": f"{address.keys_begin}{writing.file_name_template}{_EXTENSIONS[writing.compression]}",
        "file.compression.type": str(writing.compression),
        "file.max.records": str(max_records(writing)),
        "format.output.type": "jsonl",
        "format.output.fields": "value",
        # Without it each line would be an object around the value.
        "format.output.envelope": "false",
        **record_lines(writing),
    }
