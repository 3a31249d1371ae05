"""What somebody sets up in the bucket before a delivery: the rights of the role, and a rule for unfinished uploads."""

import json
from collections.abc import Sequence
from typing import Any

from chalicelib.domain.delivery import SetupDocument
from chalicelib.domain.object_store import FileWriting, ObjectStoreAddress
from chalicelib.domain.providers.object_store.plugins import CAMEL, CONFLUENT, sink_of

DAYS_OF_UNFINISHED_UPLOADS = 7


def setup_documents(writing: FileWriting, address: ObjectStoreAddress) -> Sequence[SetupDocument]:
    """An IAM policy and a lifecycle configuration, as JSON for the tools of Amazon S3 and MinIO."""
    return [
        SetupDocument(name="iam_policy", document=_json(_policy(writing, address))),
        SetupDocument(name="lifecycle_configuration", document=_json(_lifecycle(address))),
    ]


def _policy(writing: FileWriting, address: ObjectStoreAddress) -> dict[str, Any]:
    partition = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    aws = next((name for start, name in partition.items() if address.region.startswith(start)), "aws")
    bucket = f"arn:{aws}:s3:::{address.bucket}"
    objects = f"{bucket}/{address.keys_begin}*"
    writes = ["s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]
    sink = sink_of(writing.plugin) if writing.plugin else None
    if sink is CONFLUENT:
        writes.append("s3:GetObject")
    below = {"Condition": {"StringLike": {"s3:prefix": f"{address.keys_begin}*"}}} if address.prefix else {}
    # Camel's sink asks for the bucket itself before each file.
    condition = {} if sink is CAMEL else below
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": writes, "Resource": objects},
            {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": bucket, **condition},
            {
                "Effect": "Allow",
                "Action": ["s3:GetBucketLocation", "s3:ListBucketMultipartUploads"],
                "Resource": bucket,
            },
        ],
    }


def _lifecycle(address: ObjectStoreAddress) -> dict[str, Any]:
    rule = {
        "ID": "unfinished-uploads",
        "Status": "Enabled",
        "Filter": {"Prefix": address.keys_begin},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": DAYS_OF_UNFINISHED_UPLOADS},
    }
    return {"Rules": [rule]}


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2)
