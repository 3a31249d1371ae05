"""The stack of data, which all releases share: tables, queues and keys. It is deployed before the functions.

The tables are those that `chalicelib.stores.all_tables` lists, with the keys, indexes and times to live that their
stores describe: a new table takes no line here. Nothing is deleted with the stack: tables and keys are retained, and
tables refuse deletion until their protection is switched off.
"""

from collections.abc import Mapping
from typing import Any

from pynamodb.attributes import TTLAttribute
from pynamodb.models import Model

from chalicelib.settings import settings
from chalicelib.stores.all_tables import ALL_TABLES
from infra.aws.cloudformation import Json, prefixed, ref, sub
from infra.aws.parameters import AUDIT_KEY, CREDENTIALS_KEY, MULTI_REGION, PREFIX
from infra.aws.queues import queue_resources

_MULTI_REGION_KEYS = "MultiRegionKeys"
_RETAINED = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


def data_template() -> Json:
    sealing = _key(
        "Wraps the data keys that Headgate seals credentials with. Without it they are lost.", EnableKeyRotation=True
    )
    signing = _key(
        "Signs how far Headgate's audit trail has come. Only the dispatcher may sign; the API may verify.",
        KeySpec="HMAC_256",
        KeyUsage="GENERATE_VERIFY_MAC",
    )
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Headgate's data: tables, queues and keys. Deploy it before the functions.",
        "Parameters": {parameter.name: parameter.declaration() for parameter in (PREFIX, MULTI_REGION)},
        "Conditions": {_MULTI_REGION_KEYS: {"Fn::Equals": [ref(MULTI_REGION.name), "true"]}},
        "Resources": {
            **dict(sorted((_resource_name(table), _table(table)) for table in ALL_TABLES)),
            **queue_resources(),
            "CredentialsKey": sealing,
            "CredentialsKeyAlias": _alias("credentials", "CredentialsKey"),
            "AuditKey": signing,
            "AuditKeyAlias": _alias("audit", "AuditKey"),
        },
        "Outputs": {
            "CredentialsKeyArn": _output("HEADGATE_KMS_KEY_ID", "CredentialsKey", CREDENTIALS_KEY),
            "AuditKeyArn": _output("HEADGATE_AUDIT_KMS_KEY_ID", "AuditKey", AUDIT_KEY),
        },
    }


def table_names() -> list[str]:
    """Of every table, without the prefix of the installation."""
    return sorted(map(table_name, ALL_TABLES))


def table_name(table: type[Model]) -> str:
    """Without the prefix of the installation, such as `connect-clusters`."""
    return str(table.Meta.table_name).removeprefix(settings().table_prefix)


def _resource_name(table: type[Model]) -> str:
    return "".join(word.capitalize() for word in table_name(table).split("-")) + "Table"


def _table(table: type[Model]) -> Json:
    # PynamoDB has no public name for what it creates the table with.
    schema = table._get_schema()  # noqa: SLF001
    indexes = [
        {
            "IndexName": index["index_name"],
            "KeySchema": _hash_key_first(index["key_schema"]),
            "Projection": index["projection"],
        }
        for index in schema["global_secondary_indexes"]
    ]
    properties = {
        "TableName": prefixed(table_name(table)),
        "BillingMode": "PAY_PER_REQUEST",
        "DeletionProtectionEnabled": True,
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "AttributeDefinitions": sorted(schema["attribute_definitions"], key=lambda key: key["AttributeName"]),
        "KeySchema": _hash_key_first(schema["key_schema"]),
        **({"GlobalSecondaryIndexes": sorted(indexes, key=lambda index: str(index["IndexName"]))} if indexes else {}),
        **_time_to_live(table),
    }
    return {"Type": "AWS::DynamoDB::Table", **_RETAINED, "Properties": properties}


def _hash_key_first(schema: list[Any]) -> list[Mapping[str, str]]:
    return sorted(schema, key=lambda key: str(key["KeyType"]))


def _time_to_live(table: type[Model]) -> Json:
    for attribute in table.get_attributes().values():
        if isinstance(attribute, TTLAttribute):
            return {"TimeToLiveSpecification": {"AttributeName": attribute.attr_name, "Enabled": True}}
    return {}


def _key(description: str, **properties: Any) -> Json:
    account = {"AWS": sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:root")}
    statement = {
        "Sid": "TheAccountDecidesThroughIam",
        "Effect": "Allow",
        "Principal": account,
        "Action": "kms:*",
        "Resource": "*",
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    # AWS KMS never changes it for a key that exists.
    in_regions = {"MultiRegion": {"Fn::If": [_MULTI_REGION_KEYS, True, False]}}
    shared = {"Description": description, "PendingWindowInDays": 30, "KeyPolicy": policy, **in_regions}
    return {"Type": "AWS::KMS::Key", **_RETAINED, "Properties": {**properties, **shared}}


def _alias(name: str, key: str) -> Json:
    properties = {"AliasName": sub(f"alias/${{Prefix}}{name}"), "TargetKeyId": ref(key)}
    return {"Type": "AWS::KMS::Alias", "Properties": properties}


def _output(setting: str, key: str, export: str) -> Json:
    return {
        "Description": f"{setting} of the functions, which import it.",
        "Value": {"Fn::GetAtt": [key, "Arn"]},
        "Export": {"Name": prefixed(export)},
    }
