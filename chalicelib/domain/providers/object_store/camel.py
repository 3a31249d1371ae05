"""The config of Camel's sink with its component aws2-s3 (its documentation and code, release 0.11): for development.

Each file is one upload under a name of its own, so that none replaces another. By default it holds one record: then a
record counts as written when its file is. Records that the sink gathers count as written before, and are lost when its
task ends or the store refuses them (tests/e2e/test_camel_sink.py).
"""

from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.object_store import FileWriting, ObjectStoreAddress
from chalicelib.domain.providers.object_store.plugins import CAMEL
from chalicelib.domain.providers.object_store.sink_config import common_lines, key_lines, text_lines

MAX_GATHERED = 200
"""Records in memory: so many may be lost."""
WAIT_MS = 3_000
_S3 = "camel.component.aws2-s3"


def build_config(delivery: Delivery, writing: FileWriting, endpoint: Endpoint[ObjectStoreAddress]) -> ConnectorConfig:
    """The whole config; secrets as references. The delivery has one topic."""
    address = endpoint.address
    keys = key_lines(endpoint, f"{_S3}.accessKey", f"{_S3}.secretKey")
    elsewhere = {f"{_S3}.overrideEndpoint": "true", f"{_S3}.uriEndpointOverride": str(address.endpoint_url)}
    return {
        **common_lines(delivery, writing, CAMEL.class_name),
        "camel.sink.url": f"aws2-s3://{address.bucket}?keyName={file_name(address, writing)}&autoCreateBucket=false",
        **(keys or {f"{_S3}.useDefaultCredentialsProvider": "true"}),
        f"{_S3}.region": address.region,
        **(elsewhere if address.endpoint_url else {}),
        **(_gathering(gathered) if (gathered := records_per_file(writing)) > 1 else {}),
        **text_lines(),
    }


def file_name(address: ObjectStoreAddress, writing: FileWriting) -> str:
    """Camel fills in the time and the id of the upload."""
    return f"{address.keys_begin}{writing.targets[0]}/${{date:now:yyyyMMdd-HHmmssSSS}}-${{exchangeId}}.jsonl"


def records_per_file(writing: FileWriting) -> int:
    """More than one only where somebody asks for it."""
    asked = writing.max_records_per_file
    return 1 if asked is None else min(asked or MAX_GATHERED, MAX_GATHERED)


def _gathering(records: int) -> ConnectorConfig:
    return {
        "camel.beans.aggregate": "#class:org.apache.camel.kafkaconnector.aggregator.StringAggregator",
        "camel.aggregation.size": str(records),
        "camel.aggregation.timeout": str(WAIT_MS),
    }
