"""What is in the queues of moto."""

import json
from typing import Any

import boto3


def received(queue: str) -> list[dict[str, Any]]:
    """The bodies of everything that may be received from a queue (its name without prefix) now; it is removed."""
    client, bodies = boto3.client("sqs"), list[dict[str, Any]]()
    url = client.get_queue_url(QueueName=f"headgate-{queue}")["QueueUrl"]
    while got := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        for message in got:
            bodies.append(json.loads(message["Body"]))
            client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return bodies
