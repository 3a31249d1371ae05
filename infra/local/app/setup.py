"""Creates the tables and queues of Headgate at the endpoints that the environment names.

Tables are made as the stores describe them, queues as the rows of `infra.aws.functions` declare them for AWS.
"""

import json
from collections.abc import Mapping
from typing import Any

from infra.aws.functions import QUEUE_FUNCTIONS
from infra.aws.queues import MAX_RECEIVES, dead_letter_attributes, dead_letters, queue_attributes


def create_all(_environment: Mapping[str, str]) -> None:
    """Create what is missing. Existing tables are not changed. The environment is already set."""
    import boto3
    from botocore.config import Config

    from chalicelib.settings import settings
    from chalicelib.stores.all_tables import ALL_TABLES
    from chalicelib.wiring import services

    limits = Config(connect_timeout=2, read_timeout=10)
    for table in ALL_TABLES:
        if not table.exists():
            table.create_table(wait=True)
    create_queues(boto3.client("sqs", config=limits), settings().queue_prefix)
    services()


def create_queues(sqs: Any, prefix: str) -> None:
    """Create the queues that are missing, and set the attributes of their rows on all of them."""
    for function, queue in QUEUE_FUNCTIONS:
        dead = _create(sqs, prefix + dead_letters(queue.name), dead_letter_attributes())
        redrive = json.dumps({"deadLetterTargetArn": dead, "maxReceiveCount": MAX_RECEIVES})
        _create(sqs, prefix + queue.name, {**queue_attributes(function), "RedrivePolicy": redrive})


def _create(sqs: Any, name: str, attributes: Mapping[str, int | str]) -> str:
    """The ARN of the queue. It is not encrypted at rest: the local servers cannot."""
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={key: str(value) for key, value in attributes.items()})
    return str(sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"])
