"""The policy of a function allows what it is for, and no more."""

from typing import Any

import pytest

from chalicelib.domain.credentials import SecretClass
from chalicelib.stores.all_tables import ALL_TABLES
from infra.aws.functions import function_named
from infra.aws.permissions import allows, permissions, policy_of, wildcard_resources
from infra.aws.policies import policy_document
from tests.unit.infra.aws.taken_actions import FUNCTIONS


def statements(function: str) -> list[dict[str, Any]]:
    return list(policy_document(function_named(function))["Statement"])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_policy_reaches_further_than_it_names(function: str) -> None:
    assert wildcard_resources(policy_document(function_named(function))) == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_adds_to_its_own_log_and_to_no_other(function: str) -> None:
    name = "api" if function == "api_handler" else function.replace("_", "-")
    logs = {
        (one.action, one.resource.partition("log-group:")[2])
        for one in policy_of(function)
        if one.action.startswith("logs:")
    }
    stream = f"/aws/lambda/${{Prefix}}{name}:log-stream:*"
    assert logs == {("logs:CreateLogStream", stream), ("logs:PutLogEvents", stream)}


@pytest.mark.parametrize("resource", ["*", "arn:aws:dynamodb:eu:1:table/*", "arn:aws:sqs:eu:1:headgate-?"])
def test_a_resource_that_is_not_named_whole_is_found(resource: str) -> None:
    document = {"Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": resource}]}
    assert wildcard_resources(document) == [f"dynamodb:GetItem on {resource}"]


def test_a_group_of_actions_is_found() -> None:
    document = {"Statement": [{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "arn:aws:dynamodb:eu:1:table/a"}]}
    assert len(wildcard_resources(document)) == 1


def test_a_statement_that_names_what_it_leaves_out_is_refused() -> None:
    document = {"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "arn:aws:iam::1:role/a"}]}
    with pytest.raises(ValueError, match="no plain permission"):
        list(permissions(document))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_tables_and_indexes_of_a_policy_exist(function: str) -> None:
    known = {f"table/${{Prefix}}{table.Meta.table_name.removeprefix('headgate-')}" for table in ALL_TABLES}
    known |= {
        f"table/${{Prefix}}{table.Meta.table_name.removeprefix('headgate-')}/index/{index.Meta.index_name}"
        for table in ALL_TABLES
        for index in table._indexes.values()
    }
    named = {one.resource.rpartition(":")[2] for one in policy_of(function) if one.action.startswith("dynamodb:")}
    assert named <= known


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("action", ["UpdateItem", "DeleteItem", "BatchWriteItem"])
@pytest.mark.parametrize("table", ["audit", "audit-chain"])
def test_nobody_can_rewrite_the_audit_trail(function: str, action: str, table: str) -> None:
    assert not allows(policy_of(function), f"dynamodb:{action}", f"table/${{Prefix}}{table}")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_who_writes_records_cannot_sign_them_and_who_signs_cannot_write_them(function: str) -> None:
    policy = policy_of(function)
    signs = {
        allows(policy, "kms:GenerateMac", "${Prefix}audit-key-arn"),
        allows(policy, "dynamodb:PutItem", "table/${Prefix}audit-chain"),
    }
    assert signs == {function == "dispatch"}
    assert not (signs == {True} and allows(policy, "dynamodb:PutItem", "table/${Prefix}audit"))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("service", "kind", "resource"),
    [
        ("ssm", "Parameter", "parameter/${Prefix}audit-anchor"),
        ("s3", "Object", "arn:${AWS::Partition}:s3:::${AuditAnchorBucket}/${Prefix}audit-anchor"),
    ],
)
def test_only_who_signs_writes_the_copy_of_the_last_anchor_and_who_verifies_reads_it(
    function: str, service: str, kind: str, resource: str
) -> None:
    policy = policy_of(function)
    allowed = [allows(policy, f"{service}:{verb}{kind}", resource) for verb in ("Put", "Get")]
    assert allowed == [function == "dispatch", function in ("dispatch", "api_handler")]


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if one != "api_handler"])
def test_only_the_api_seals_credentials_and_keeps_sessions(function: str) -> None:
    """But a chat that has moved gets another id, and that is a secret of its channel; one function seals all again."""
    policy = policy_of(function)
    for key in ("${Prefix}credentials-key-arn", "${KmsKeyArns}"):
        seals = allows(policy, "kms:GenerateDataKey", key)
        assert seals == (function in ("deliver_notifications", "reseal_secrets"))
    tables = {one.resource.rpartition("/")[2] for one in policy}
    assert tables & {"${Prefix}sessions", "${Prefix}users", "${Prefix}idempotency"} == set()


OPENS = {
    "api_handler": set(SecretClass) - {SecretClass.AUDIT},
    "deliver_notifications": {SecretClass.CHANNEL},
    "reseal_secrets": set(SecretClass) - {SecretClass.ANSWER, SecretClass.AUDIT},
    "run_destination_check": {SecretClass.DESTINATION, SecretClass.CONNECTION, SecretClass.CLUSTER},
    "run_job": {SecretClass.SOURCE, SecretClass.CONNECTION},
    "run_source_check": {SecretClass.SOURCE, SecretClass.CONNECTION},
    "run_tick": {SecretClass.SOURCE, SecretClass.DESTINATION, SecretClass.CONNECTION, SecretClass.CLUSTER},
}
"""The classes of secrets that each function needs. The audit trail's key is one of the key service."""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_opens_only_the_classes_of_secrets_that_it_needs(function: str) -> None:
    allowed: set[str] = set()
    for statement in statements(function):
        if "kms:Decrypt" in statement.get("Action", ()):
            allowed |= set(statement["Condition"]["StringEquals"]["kms:EncryptionContext:headgate"])
    assert allowed == OPENS.get(function, set())
