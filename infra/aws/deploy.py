"""Deploys a package to AWS, or goes back to one that was deployed before.

usage: infra/deploy --bucket BUCKET [--folder FOLDER | --release RELEASE] [--name NAME] [PARAMETER=VALUE ...]
       infra/deploy --bucket BUCKET --list

Deploys the package in FOLDER (.headgate/package, where infra/package leaves it): first the stack of data, NAME-data,
then that of the functions, NAME (headgate). BUCKET keeps each package under its release, the beginning of its hash.
--release deploys one of them again, --list prints them, the newest first. Parameters that are not given keep their
values; one that both stacks have (Prefix) is given to both. Takes the credentials and the Region of the AWS SDK.
Deploying the same again changes nothing.

Ends with 0 when it is deployed, 1 when AWS has refused or gone back by itself, 2 when nothing was tried.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from infra.aws.alarms import STAGE
from infra.aws.package import DATA_TEMPLATE, TEMPLATE, ZIP
from infra.local.stack.layout import HOME

Say = Callable[[str], None]
Json = dict[str, Any]

_RELEASES = "headgate-releases"
_RELEASE_DIGITS = 16
_CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")
_LIMITS = Config(connect_timeout=5, read_timeout=60, retries={"total_max_attempts": 5, "mode": "standard"})
_WAIT = {"Delay": 10, "MaxAttempts": 180}
_UNCHANGED = ("didn't contain changes", "No updates are to be performed")


class CannotDeploy(Exception):
    """Nothing was tried, for the reason that the message gives."""


class NotDeployed(Exception):
    """AWS has refused, or has gone back to what was there. The message says which stack, and where to look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to deploy: the clients of AWS, the bucket, and the names of the stacks."""

    cloudformation: Any
    s3: Any
    gateway: Any
    bucket: str
    name: str
    wait: Mapping[str, int]

    @property
    def data_stack(self) -> str:
        return f"{self.name}-data"


def main(arguments: Sequence[str], say: Say) -> int:
    """Deploys or lists; returns the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        given = _parameters(asked.parameters)
        target = _target(asked.bucket, asked.name)
        if asked.list:
            for release in releases(target):
                say(release)
            return 0
        release = asked.release or upload(target, Path(asked.folder), say)
        deploy(target, release, given, say)
    except CannotDeploy as reason:
        say(f"headgate: {reason}")
        return 2
    except NotDeployed as reason:
        say(f"headgate: {reason}")
        return 1
    except (BotoCoreError, ClientError) as error:
        say(f"headgate: AWS refuses: {error}")
        return 1
    return 0


def upload(target: Target, folder: Path, say: Say) -> str:
    """Puts a package into the bucket; returns its release. Raises CannotDeploy."""
    try:
        parts = {name: (folder / name).read_bytes() for name in (ZIP, TEMPLATE, DATA_TEMPLATE)}
    except OSError as error:
        raise CannotDeploy(
            f"there is no package in {folder} ({error.strerror}); make one with: infra/package"
        ) from None
    release = hashlib.sha256(b"".join(parts.values())).hexdigest()[:_RELEASE_DIGITS]
    uploaded = json.loads(parts[TEMPLATE])
    for resource in uploaded["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = f"s3://{target.bucket}/{_key(release, ZIP)}"
    say(f"headgate: putting release {release} into {target.bucket}")
    # The template is the last one: a release that has it is whole.
    for name, body in ((ZIP, parts[ZIP]), (DATA_TEMPLATE, parts[DATA_TEMPLATE]), (TEMPLATE, json.dumps(uploaded))):
        target.s3.put_object(Bucket=target.bucket, Key=_key(release, name), Body=body)
    return release


def releases(target: Target) -> list[str]:
    """The releases in the bucket, the newest first."""
    pages = target.s3.get_paginator("list_objects_v2").paginate(Bucket=target.bucket, Prefix=f"{_RELEASES}/")
    kept = [
        (entry["LastModified"], entry["Key"].split("/")[1])
        for page in pages
        for entry in page.get("Contents", [])
        if entry["Key"].endswith(f"/{TEMPLATE}")
    ]
    return [release for _, release in sorted(kept, reverse=True)]


def deploy(target: Target, release: str, given: Mapping[str, str], say: Say) -> None:
    """Deploys a release of the bucket. Raises CannotDeploy and NotDeployed."""
    known = releases(target)
    if release not in known:
        raise CannotDeploy(f"the bucket {target.bucket} has no release {release}; it has: {', '.join(known) or 'none'}")
    templates = {name: _template(target, release, name) for name in (DATA_TEMPLATE, TEMPLATE)}
    declared = {parameter for template in templates.values() for parameter in template["Parameters"]}
    if unknown := sorted(set(given) - declared):
        raise CannotDeploy(f"no stack has the parameters {unknown}; they have: {', '.join(sorted(declared))}")
    for stack, name in ((target.data_stack, DATA_TEMPLATE), (target.name, TEMPLATE)):
        _apply(target, stack, release, name, templates[name]["Parameters"], given, say)
    _publish(target, say)
    say(f"headgate: release {release} is deployed")


def _apply(
    target: Target, stack: str, release: str, name: str, declared: Json, given: Mapping[str, str], say: Say
) -> None:
    """Changes one stack by a change set, which AWS carries out as a whole or undoes."""
    former = _existing(target, stack)
    values = [
        {"ParameterKey": parameter, "ParameterValue": given[parameter]}
        if parameter in given
        else {"ParameterKey": parameter, "UsePreviousValue": True}
        for parameter in declared
        if parameter in given or (former is not None and parameter in former)
    ]
    ways = {"StackName": stack, "ChangeSetName": f"release-{release}"}
    say(f"headgate: {'creating' if former is None else 'changing'} the stack {stack}")
    target.cloudformation.create_change_set(
        **ways,
        ChangeSetType="CREATE" if former is None else "UPDATE",
        TemplateURL=target.s3.generate_presigned_url(
            "get_object", Params={"Bucket": target.bucket, "Key": _key(release, name)}
        ),
        Parameters=values,
        Capabilities=list(_CAPABILITIES),
    )
    if not _has_changes(target, ways):
        target.cloudformation.delete_change_set(**ways)
        say(f"headgate: the stack {stack} is as it should be")
        return
    target.cloudformation.execute_change_set(**ways)
    waiter = target.cloudformation.get_waiter(f"stack_{'create' if former is None else 'update'}_complete")
    try:
        waiter.wait(StackName=stack, WaiterConfig=dict(target.wait))
    except WaiterError:
        raise NotDeployed(
            f"the stack {stack} was not changed; see why: aws cloudformation describe-stack-events --stack-name {stack}"
        ) from None


def _has_changes(target: Target, ways: Mapping[str, str]) -> bool:
    try:
        target.cloudformation.get_waiter("change_set_create_complete").wait(**ways, WaiterConfig=dict(target.wait))
    except WaiterError as error:
        reason = str(error.last_response.get("StatusReason", ""))
        if any(text in reason for text in _UNCHANGED):
            return False
        raise NotDeployed(f"AWS takes no change of the stack {ways['StackName']}: {reason}") from None
    return True


def _existing(target: Target, stack: str) -> set[str] | None:
    """The parameters of the stack, None when there is none. A stack that was only reviewed has none either."""
    pages = target.cloudformation.get_paginator("describe_stacks").paginate()
    found = next((one for page in pages for one in page["Stacks"] if one["StackName"] == stack), None)
    if found is None or found["StackStatus"] == "REVIEW_IN_PROGRESS":
        return None
    return {parameter["ParameterKey"] for parameter in found.get("Parameters", [])}


def _publish(target: Target, say: Say) -> None:
    """Deploys the stages again: a resource policy, as of AllowedCidrs, counts from the next deployment on."""
    pages = target.cloudformation.get_paginator("list_stack_resources").paginate(StackName=target.name)
    for page in pages:
        for resource in page["StackResourceSummaries"]:
            if resource["ResourceType"] == "AWS::ApiGateway::RestApi":
                target.gateway.create_deployment(restApiId=resource["PhysicalResourceId"], stageName=STAGE)
                say(f"headgate: the API {resource['LogicalResourceId']} has its present policy")


def _template(target: Target, release: str, name: str) -> Json:
    body: Json = json.loads(target.s3.get_object(Bucket=target.bucket, Key=_key(release, name))["Body"].read())
    return body


def _key(release: str, name: str) -> str:
    return f"{_RELEASES}/{release}/{name}"


def _parameters(pairs: Sequence[str]) -> dict[str, str]:
    """The values by name. Raises CannotDeploy."""
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise CannotDeploy(
            f"a parameter is given as NAME=VALUE, such as PublicUrl=https://headgate.example.com: {wrong}"
        )
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


def _target(bucket: str, name: str) -> Target:
    try:
        return Target(
            cloudformation=boto3.client("cloudformation", config=_LIMITS),
            s3=boto3.client("s3", config=_LIMITS),
            gateway=boto3.client("apigateway", config=_LIMITS),
            bucket=bucket,
            name=name,
            wait=_WAIT,
        )
    except BotoCoreError as error:
        raise CannotDeploy(f"{error} Set it as the AWS SDK takes it, for example AWS_REGION=eu-central-1.") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infra/deploy", usage=str(__doc__))
    parser.add_argument("--bucket", required=True)
    parser.add_argument("--name", default="headgate")
    parser.add_argument("--list", action="store_true")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--folder", default=str(HOME / "package"))
    which.add_argument("--release")
    parser.add_argument("parameters", nargs="*", metavar="PARAMETER=VALUE")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], print))
