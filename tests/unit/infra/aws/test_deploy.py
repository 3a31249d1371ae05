"""`infra/deploy` brings a package to AWS, and goes back to a former one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import boto3
import pytest
from moto import mock_aws

from infra.aws.deploy import main
from infra.aws.package import DATA_TEMPLATE, TEMPLATE, ZIP

# Moto makes no serverless functions. What else the stack has shows that it was deployed.
pytestmark = pytest.mark.filterwarnings("ignore:Tried to parse AWS..Serverless..Function")

BUCKET, REGION = "packages", "eu-north-1"
DATA = {
    "Parameters": {"Prefix": {"Type": "String", "Default": "headgate-"}},
    "Resources": {"Jobs": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Fn::Sub": "${Prefix}jobs"}}}},
}
FUNCTIONS = {
    "Transform": "AWS::Serverless-2016-10-31",
    "Parameters": {
        "Prefix": {"Type": "String", "Default": "headgate-"},
        "PublicUrl": {"Type": "String", "Default": ""},
    },
    "Resources": {
        "RunJob": {"Type": "AWS::Serverless::Function", "Properties": {"CodeUri": "./deployment.zip"}},
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Fn::Sub": "${Prefix}alarms"}}},
    },
}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        yield


@pytest.fixture
def said() -> list[str]:
    return []


def package(folder: Path, code: str = "first", **resources: Any) -> str:
    folder.mkdir(exist_ok=True)
    with ZipFile(folder / ZIP, "w") as archive:
        archive.writestr("app.py", code)
    functions = {**FUNCTIONS, "Resources": {**FUNCTIONS["Resources"], **resources}}  # type: ignore[dict-item]
    (folder / TEMPLATE).write_text(json.dumps(functions))
    (folder / DATA_TEMPLATE).write_text(json.dumps(DATA))
    return str(folder)


def deployed_code() -> str:
    """Where the template of the deployed stack has its code."""
    body = boto3.client("cloudformation").get_template(StackName="headgate")["TemplateBody"]
    template = json.loads(body) if isinstance(body, str) else body
    return str(template["Resources"]["RunJob"]["Properties"]["CodeUri"])


def topics() -> list[str]:
    return [topic["TopicArn"].rpartition(":")[2] for topic in boto3.client("sns").list_topics()["Topics"]]


def test_a_package_is_deployed_with_its_data_and_its_code_in_the_bucket(
    aws: None, tmp_path: Path, said: list[str]
) -> None:
    assert main(["--bucket", BUCKET, "--folder", package(tmp_path / "one"), "Prefix=cdc-"], said.append) == 0, said
    assert topics() == ["cdc-alarms"]
    assert [url.rpartition("/")[2] for url in boto3.client("sqs").list_queues()["QueueUrls"]] == ["cdc-jobs"]
    place = deployed_code().removeprefix(f"s3://{BUCKET}/")
    assert boto3.client("s3").head_object(Bucket=BUCKET, Key=place)["ContentLength"] > 0


def test_parameters_that_are_not_given_keep_their_values(aws: None, tmp_path: Path, said: list[str]) -> None:
    main(["--bucket", BUCKET, "--folder", package(tmp_path / "one"), "Prefix=cdc-"], said.append)
    assert main(["--bucket", BUCKET, "--folder", package(tmp_path / "two", "second")], said.append) == 0, said
    assert topics() == ["cdc-alarms"]


def test_a_former_release_is_deployed_again(aws: None, tmp_path: Path, said: list[str]) -> None:
    main(["--bucket", BUCKET, "--folder", package(tmp_path / "one")], said.append)
    former = deployed_code()
    main(["--bucket", BUCKET, "--folder", package(tmp_path / "two", "second")], said.append)
    assert deployed_code() != former
    assert main(["--bucket", BUCKET, "--release", former.split("/")[-2]], said.append) == 0, said
    assert deployed_code() == former


def test_the_releases_of_the_bucket_are_listed(aws: None, tmp_path: Path, said: list[str]) -> None:
    main(["--bucket", BUCKET, "--folder", package(tmp_path / "one")], said.append)
    release = deployed_code().split("/")[-2]
    said.clear()
    assert main(["--bucket", BUCKET, "--list"], said.append) == 0
    assert said == [release]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--folder", "/nowhere"], "make one with: infra/package"),
        (["--release", "0000"], "has no release 0000"),
        (["PublicUrl"], "given as NAME=VALUE"),
    ],
)
def test_what_cannot_be_deployed_changes_nothing(aws: None, said: list[str], arguments: list[str], reason: str) -> None:
    assert main(["--bucket", BUCKET, *arguments], said.append) == 2
    assert reason in said[-1]
    assert boto3.client("cloudformation").list_stacks()["StackSummaries"] == []


def test_a_parameter_that_no_stack_has_is_refused_with_those_that_they_have(
    aws: None, tmp_path: Path, said: list[str]
) -> None:
    assert main(["--bucket", BUCKET, "--folder", package(tmp_path / "one"), "PublicURL=x"], said.append) == 2
    assert "PublicURL" in said[-1]
    assert "PublicUrl" in said[-1]
