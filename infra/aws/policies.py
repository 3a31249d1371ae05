"""The policies of the functions' roles, as small as they get: IAM takes 10,240 characters inside of a role.

All resources with the same actions are in one statement, because resources take most of the room. The queries of the
API, whose names of indexes take most of its room, are in a policy of their own beside its role, which IAM counts apart.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from infra.aws.cloudformation import Json, arn, exported, ref, sub, when
from infra.aws.functions import FUNCTIONS, Function, Rights, function_named
from infra.aws.given_secrets import secret_arns
from infra.aws.parameters import ANCHOR_NAME, CREDENTIALS_KEY, HAS_ANCHOR_BUCKET, IN_VPC, OWN_KEYS, audit_key

NETWORK_POLICY = "NetworkInterfaces"
"""The policy without which AWS Lambda cannot connect a function to a VPC."""

QUERY_POLICY = "ApiQueries"
"""The policy of the API's queries."""

_CONSUME = "ReceiveMessage DeleteMessage ChangeMessageVisibility GetQueueAttributes"
_NETWORK_ACTIONS = (
    "AssignPrivateIpAddresses CreateNetworkInterface DeleteNetworkInterface DescribeNetworkInterfaces "
    "DescribeSubnets UnassignPrivateIpAddresses"
)


def inline_document(function: Function) -> Json:
    """What is inside of the function's role."""
    return _document(
        [statement for statement in policy_document(function)["Statement"] if not _is_apart(function, statement)]
    )


def query_policy() -> Json:
    """The queries of the API: a policy beside its role."""
    api = function_named("api_handler")
    statements = [statement for statement in policy_document(api)["Statement"] if _is_apart(api, statement)]
    properties = {"PolicyDocument": _document(statements), "Roles": [ref(f"{api.stem}Role")]}
    return {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}


def _is_apart(function: Function, statement: Json) -> bool:
    return function.name == "api_handler" and statement.get("Action") == ["dynamodb:Query"]


def policy_document(function: Function) -> Json:
    """Everything that the function may do."""
    consumed = {_CONSUME: function.queue.name} if function.queue else {}
    log = arn("logs", f"log-group:/aws/lambda/${{Prefix}}{function.deployed_name}:log-stream:*")
    statements = [
        _allow("logs", "CreateLogStream PutLogEvents", [log]),
        *_by_actions("dynamodb", "table/", function.tables),
        *_by_actions("sqs", "", (consumed, function.queues)),
        *_keys(function),
        *([_allow("secretsmanager", "GetSecretValue", secret_arns())] if function.reads_secrets else []),
        *_anchor_copy(function),
    ]
    return _document(statements)


def network_policy() -> Json:
    """Lets AWS Lambda connect functions to the subnets, with the functions' roles.

    These actions take no narrower resource, so the code of the functions is refused them (AWS Lambda, "Required IAM
    permissions").
    """
    ours = arn("lambda", "function:${Prefix}*")
    denied = {
        **_allow("ec2", _NETWORK_ACTIONS, "*"),
        "Effect": "Deny",
        "Condition": {"ArnLike": {"lambda:SourceFunctionArn": ours}},
    }
    return {
        "Type": "AWS::IAM::Policy",
        "Properties": {
            "PolicyName": "network-interfaces",
            "Roles": [ref(f"{function.stem}Role") for function in FUNCTIONS if function.in_vpc],
            "PolicyDocument": _document([denied, when(IN_VPC, _allow("ec2", _NETWORK_ACTIONS, "*"))]),
        },
    }


def _document(statements: list[Json]) -> Json:
    return {"Version": "2012-10-17", "Statement": statements}


def _allow(service: str, actions: str, resources: Any) -> Json:
    return {
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in sorted(actions.split())],
        "Resource": resources,
    }


def _by_actions(service: str, kind: str, rights: Iterable[Rights]) -> Iterator[Json]:
    """A statement for each set of actions, with all resources that have exactly these."""
    actions_of: dict[str, set[str]] = {}
    for group_rights in rights:
        for actions, names in group_rights.items():
            for name in names.split():
                actions_of.setdefault(name, set()).update(actions.split())
    grouped: dict[str, list[str]] = {}
    for name, allowed in sorted(actions_of.items()):
        grouped.setdefault(" ".join(sorted(allowed)), []).append(name)
    for actions, group in sorted(grouped.items()):
        yield _allow(service, actions, [arn(service, kind + _in_arn(name)) for name in group])


def _in_arn(name: str) -> str:
    """`jobs` as `${Prefix}jobs`, and the index `jobs/by_listing` as `${Prefix}jobs/index/by_listing`."""
    return "${Prefix}" + name.replace("/", "/index/")


def _keys(function: Function) -> Iterator[Json]:
    if function.audit_key:
        yield _allow("kms", function.audit_key, [audit_key()])
    for actions, classes in (("Decrypt", function.opens), ("Decrypt GenerateDataKey", function.seals)):
        if classes:
            key = when(OWN_KEYS, ref("KmsKeyArns"), exported(CREDENTIALS_KEY))
            context = {"kms:EncryptionContext:headgate": [secret_class.value for secret_class in classes]}
            yield {**_allow("kms", actions, key), "Condition": {"StringEquals": context}}


def _anchor_copy(function: Function) -> Iterator[Json]:
    """What it may do with the copy of the last anchor: an object of a bucket, or a parameter."""
    if not function.anchor_copy:
        return
    parameter = _allow(
        "ssm",
        " ".join(f"{verb}Parameter" for verb in function.anchor_copy),
        [arn("ssm", f"parameter/{ANCHOR_NAME}")],
    )
    bucket = "arn:${AWS::Partition}:s3:::${AuditAnchorBucket}"
    verbs = " ".join(f"{verb}Object" for verb in function.anchor_copy)
    yield when(HAS_ANCHOR_BUCKET, _allow("s3", verbs, [sub(f"{bucket}/{ANCHOR_NAME}")]), parameter)
    # Without it S3 answers that access is denied, where there is no object yet.
    yield when(HAS_ANCHOR_BUCKET, _allow("s3", "ListBucket", [sub(bucket)]))
