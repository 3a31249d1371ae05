"""How many characters the policies of each role take: python -m infra.aws.policy_sizes [PREFIX]

IAM refuses a stack with a role whose inline policies have more than 10,240 characters, white space left out ("IAM and
AWS STS quotas"). Their size depends on the names of the region, the partition and the prefix. Ends with 1 when a role
has more than LIMIT.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from infra.aws.functions import FUNCTIONS, Function
from infra.aws.parameters import HAS_ANCHOR_BUCKET, IN_VPC, OWN_KEYS
from infra.aws.policies import inline_document, network_policy

IAM_LIMIT, LIMIT = 10_240, 9_500
PREFIX = "headgate-prod-eu-west-"

REGIONS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1", "af-south-1"),
            *("eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1", "eu-central-2", "eu-north-1", "eu-south-1"),
            *("ap-south-1", "ap-northeast-1", "ap-northeast-3", "ap-southeast-1", "ap-southeast-4", "me-central-1"),
        ),
        "aws",
    ),
    **dict.fromkeys(("us-gov-east-1", "us-gov-west-1"), "aws-us-gov"),
    **dict.fromkeys(("cn-north-1", "cn-northwest-1"), "aws-cn"),
}
"""The partition of each region."""

_CONDITIONS = {IN_VPC, OWN_KEYS, HAS_ANCHOR_BUCKET}
"""True in the largest stack: it is in a VPC, its key is being exchanged, and a bucket has the copy of the last anchor.
"""


def role_size(function: Function, region: str, prefix: str) -> int:
    """Characters of all policies inside of a function's role in the largest stack."""
    values = {
        "Prefix": prefix,
        "AWS::Region": region,
        "AWS::Partition": REGIONS[region],
        "AWS::AccountId": "1" * 12,
        "AuditAnchorBucket": "b" * 63,
    }
    documents = [inline_document(function)]
    if function.in_vpc:
        documents.append(network_policy()["Properties"]["PolicyDocument"])
    return sum(len(json.dumps(_resolved(document, values), separators=(",", ":"))) for document in documents)


def sizes(prefix: str) -> dict[str, dict[str, int]]:
    """The size of each role by region."""
    return {
        function.name: {region: role_size(function, region, prefix) for region in REGIONS} for function in FUNCTIONS
    }


def main(arguments: list[str], say: Callable[[str], None]) -> int:
    """Prints the size of each role by region; returns the exit code."""
    prefix = arguments[0] if arguments else PREFIX
    table = sizes(prefix)
    say(f"characters of the policies of each role, with the prefix {prefix} (limit {LIMIT}; IAM takes {IAM_LIMIT})")
    say(" ".join([f"{'':16}", *(f"{name[:12]:>12}" for name in table)]))
    for region in REGIONS:
        say(" ".join([f"{region:16}", *(f"{of_role[region]:>12}" for of_role in table.values())]))
    return int(max(max(of_role.values()) for of_role in table.values()) > LIMIT)


def _resolved(value: Any, values: Mapping[str, str]) -> Any:
    """The value as CloudFormation hands it to IAM."""
    resolved = value
    match value:
        case {"Fn::Sub": str(text)}:
            resolved = re.sub(r"\$\{([\w:]+)\}", lambda name: values[name[1]], text)
        case {"Fn::If": [str(condition), value_then, value_else]}:
            resolved = _resolved(value_then if condition in _CONDITIONS else value_else, values)
        case {"Ref": "KmsKeyArns"}:
            resolved = [_key_arn(values), _key_arn(values)]
        case {"Fn::ImportValue": _}:
            resolved = _key_arn(values)
        case dict():
            resolved = {name: _resolved(item, values) for name, item in value.items()}
        case list():
            resolved = [_resolved(item, values) for item in value]
    return resolved


def _key_arn(values: Mapping[str, str]) -> str:
    """Of a multi-Region key, whose id is the longest."""
    key = "mrk-" + "1" * 32
    return f"arn:{values['AWS::Partition']}:kms:{values['AWS::Region']}:{values['AWS::AccountId']}:key/{key}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], print))
