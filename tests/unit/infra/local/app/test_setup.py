"""The queues of a local run are those that AWS makes from the data stack."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infra.aws.data_stack import data_template
from infra.local.app.setup import create_queues

PREFIX = "stage-"
HERE, THERE = "us-west-1", "ca-central-1"
"""Regions of this file only: other tests of the same process use moto's other regions."""


@pytest.fixture(autouse=True)
def _aws() -> Iterator[None]:
    with mock_aws():
        yield


def _queues(region: str) -> dict[str, dict[str, Any]]:
    """Every queue's attributes by its name, as far as a program sees them."""
    sqs = boto3.client("sqs", region_name=region)
    urls = sqs.list_queues(QueueNamePrefix=PREFIX).get("QueueUrls", [])
    return {url.rpartition("/")[2]: _visible(sqs, url) for url in urls}


def _visible(sqs: Any, url: str) -> dict[str, Any]:
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    policy = json.loads(attributes.get("RedrivePolicy", "{}"))
    return {
        "hidden": attributes["VisibilityTimeout"],
        "kept": attributes["MessageRetentionPeriod"],
        "dead": policy and (policy["deadLetterTargetArn"].rpartition(":")[2], int(policy["maxReceiveCount"])),
    }


def _made_by_aws() -> dict[str, dict[str, Any]]:
    parameters = [{"ParameterKey": "Prefix", "ParameterValue": PREFIX}]
    text = json.dumps(data_template())
    boto3.client("cloudformation", region_name=THERE).create_stack(
        StackName="data", TemplateBody=text, Parameters=parameters
    )
    return _queues(THERE)


def test_they_have_the_names_and_attributes_that_aws_gives_them() -> None:
    create_queues(boto3.client("sqs", region_name=HERE), PREFIX)
    assert _queues(HERE) == _made_by_aws()
    assert _queues(HERE)["stage-jobs"]["dead"] == ("stage-jobs-dead", 6)


def test_queues_of_an_older_run_get_what_has_changed_and_keep_their_messages() -> None:
    sqs = boto3.client("sqs", region_name=HERE)
    url = sqs.create_queue(QueueName="stage-jobs", Attributes={"VisibilityTimeout": "90"})["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="kept")
    create_queues(sqs, PREFIX)
    create_queues(sqs, PREFIX)
    assert _queues(HERE) == _made_by_aws()
    assert [message["Body"] for message in sqs.receive_message(QueueUrl=url)["Messages"]] == ["kept"]
