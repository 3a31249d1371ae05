"""Creates the tables and queues of Headgate at the endpoints that the environment names.

Tables are made as the stores describe them, queues as `infra/data.yaml` declares them for AWS.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml  # type: ignore[import-untyped]  # PyYAML brings no types

from infra.local.stack.layout import ROOT

Declared = Mapping[str, Any]
_DATA = ROOT / "infra" / "data.yaml"


def create_all(_environment: Mapping[str, str]) -> None:
    """Create what is missing. Tables that exist are left as they are. The environment is already set."""
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
    """Create the queues that are missing, and set the declared attributes on all of them."""
    arns: dict[str, str] = {}
    for name, declared in _declared_queues():
        url = sqs.create_queue(QueueName=declared["QueueName"]["Fn::Sub"].replace("${Prefix}", prefix))["QueueUrl"]
        sqs.set_queue_attributes(QueueUrl=url, Attributes=dict(_attributes(declared, arns)))
        arns[name] = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def _declared_queues() -> list[tuple[str, Declared]]:
    """The queues by their names in the file, dead-letter queues before those that refer to them."""
    resources = yaml.safe_load(_DATA.read_text())["Resources"]
    queues = [(name, one["Properties"]) for name, one in resources.items() if one["Type"] == "AWS::SQS::Queue"]
    return sorted(queues, key=lambda queue: "RedrivePolicy" in queue[1])


def _attributes(declared: Declared, arns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """As SQS takes them. Encryption at rest is left out: the local servers have none."""
    for name in declared.keys() & {"VisibilityTimeout", "MessageRetentionPeriod"}:
        yield name, str(declared[name])
    if redrive := declared.get("RedrivePolicy"):
        dead, _ = redrive["deadLetterTargetArn"]["Fn::GetAtt"]
        yield "RedrivePolicy", json.dumps({**redrive, "deadLetterTargetArn": arns[dead]})
