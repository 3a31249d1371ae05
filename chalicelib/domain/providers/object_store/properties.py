"""Which field sets what people know as a property of a sink to files."""

from collections.abc import Mapping

PROPERTY_OPTIONS: Mapping[str, str] = {
    "aws.access.key.id": "destination_id",
    "aws.s3.bucket.name": "destination_id",
    "aws.s3.prefix": "destination_id",
    "aws.s3.region": "destination_id",
    "aws.secret.access.key": "destination_id",
    "s3.bucket.name": "destination_id",
    "s3.region": "destination_id",
}
"""The destination has the address and the credentials. Names: Aiven's and Confluent's sinks."""
