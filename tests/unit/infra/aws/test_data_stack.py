"""The data stack has what the stores and the functions expect."""

import json
from typing import Any

import boto3
import pytest
from moto import mock_aws
from pynamodb.attributes import TTLAttribute
from pynamodb.models import Model

from chalicelib.clients.queue import DESTINATION_CHECKS, JOBS, NOTIFICATIONS, SOURCE_CHECKS, TICKS
from chalicelib.stores.all_tables import ALL_TABLES
from infra.aws.data_stack import data_template, table_name
from infra.aws.functions import QUEUE_FUNCTIONS, Function, Queue
from infra.aws.template_checks import DATA_TEMPLATE_BYTES, data_faults

TEXT = json.dumps(data_template())
RESOURCES: dict[str, Any] = data_template()["Resources"]
PREFIX = "headgate-prod-eu-west-"
REGION = "us-west-2"
"""A region of this file's own: within one process, other tests keep tables on the same double."""


@pytest.fixture(scope="module")
def created() -> dict[str, Any]:
    """What the stack has created under a prefix: tables by their names, and the names of the rest."""
    with mock_aws():
        stack = boto3.client("cloudformation", region_name=REGION)
        parameters = [{"ParameterKey": "Prefix", "ParameterValue": PREFIX}]
        stack.create_stack(StackName="data", TemplateBody=TEXT, Parameters=parameters)
        tables = boto3.client("dynamodb", region_name=REGION)
        return {
            "tables": {
                name.removeprefix(PREFIX): tables.describe_table(TableName=name)["Table"]
                for page in tables.get_paginator("list_tables").paginate()
                for name in page["TableNames"]
            },
            "queues": boto3.client("sqs", region_name=REGION).list_queues()["QueueUrls"],
            "exports": stack.list_exports()["Exports"],
            "aliases": boto3.client("kms", region_name=REGION).list_aliases()["Aliases"],
        }


def keys(attributes: dict[str, Any]) -> list[tuple[str, str]]:
    found = [
        (attribute.attr_name, "HASH" if attribute.is_hash_key else "RANGE")
        for attribute in attributes.values()
        if attribute.is_hash_key or attribute.is_range_key
    ]
    return sorted(found, key=lambda key: key[1])


def declared(schema: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(key["AttributeName"], key["KeyType"]) for key in schema]


def properties(table: type[Model]) -> dict[str, Any]:
    name = {"Fn::Sub": "${Prefix}" + table_name(table)}
    tables = [one["Properties"] for one in RESOURCES.values() if one["Properties"].get("TableName") == name]
    assert len(tables) == 1
    return dict(tables[0])


def test_it_creates_the_tables_of_the_stores_and_no_others(created: dict[str, Any]) -> None:
    assert sorted(created["tables"]) == sorted(map(table_name, ALL_TABLES))


@pytest.mark.parametrize("table", ALL_TABLES, ids=table_name)
def test_a_table_has_the_keys_and_indexes_that_its_store_uses(table: type[Model], created: dict[str, Any]) -> None:
    made = created["tables"][table_name(table)]
    indexes = {index.Meta.index_name: index.Meta for index in table._indexes.values()}
    assert declared(made["KeySchema"]) == keys(table.get_attributes())
    assert {index["IndexName"]: declared(index["KeySchema"]) for index in made.get("GlobalSecondaryIndexes", [])} == {
        name: keys(meta.attributes) for name, meta in indexes.items()
    }
    assert {index["IndexName"]: index["Projection"] for index in made.get("GlobalSecondaryIndexes", [])} == {
        name: {"ProjectionType": meta.projection.projection_type}
        | ({"NonKeyAttributes": meta.projection.non_key_attributes} if meta.projection.non_key_attributes else {})
        for name, meta in indexes.items()
    }


@pytest.mark.parametrize("table", ALL_TABLES, ids=table_name)
def test_rows_that_expire_are_removed_by_the_table(table: type[Model]) -> None:
    expiring = [one.attr_name for one in table.get_attributes().values() if isinstance(one, TTLAttribute)]
    expected = {"AttributeName": expiring[0], "Enabled": True} if expiring else None
    assert properties(table).get("TimeToLiveSpecification") == expected


@pytest.mark.parametrize("table", ALL_TABLES, ids=table_name)
def test_a_table_can_be_restored_and_is_not_deleted_by_mistake(table: type[Model]) -> None:
    found = properties(table)
    assert found["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert (found["BillingMode"], found["DeletionProtectionEnabled"]) == ("PAY_PER_REQUEST", True)


@pytest.mark.parametrize("name", [name for name in RESOURCES if name.endswith(("Table", "Key"))])
def test_tables_and_keys_outlive_their_stack(name: str) -> None:
    assert (RESOURCES[name]["DeletionPolicy"], RESOURCES[name]["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_there_is_a_queue_with_a_dead_letter_queue_for_each_that_the_code_sends_to(created: dict[str, Any]) -> None:
    names = (JOBS, TICKS, SOURCE_CHECKS, DESTINATION_CHECKS, NOTIFICATIONS)
    made = {url.rpartition("/")[2] for url in created["queues"]}
    assert made == {PREFIX + name + end for name in names for end in ("", "-dead")}


@pytest.mark.parametrize(("function", "queue"), QUEUE_FUNCTIONS, ids=lambda row: row.name)
def test_a_message_is_hidden_for_six_runs_of_its_function_and_lives_until_its_last_receive(
    function: Function, queue: Queue
) -> None:
    named = {"Fn::Sub": "${Prefix}" + queue.name}
    (found,) = (one["Properties"] for one in RESOURCES.values() if one["Properties"].get("QueueName") == named)
    assert found["VisibilityTimeout"] == 6 * function.seconds
    assert found["MessageRetentionPeriod"] >= found["RedrivePolicy"]["maxReceiveCount"] * found["VisibilityTimeout"]
    dead, _ = found["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"]
    assert RESOURCES[dead]["Properties"]["QueueName"] == {"Fn::Sub": f"${{Prefix}}{queue.name}-dead"}


def test_the_key_of_credentials_rotates() -> None:
    assert RESOURCES["CredentialsKey"]["Properties"]["EnableKeyRotation"] is True


def test_the_keys_are_exported_for_the_functions(created: dict[str, Any]) -> None:
    ids = {alias["AliasName"]: alias.get("TargetKeyId") for alias in created["aliases"]}
    exported = {one["Name"].removeprefix(PREFIX): one["Value"].rpartition("/")[2] for one in created["exports"]}
    assert exported == {
        "credentials-key-arn": ids[f"alias/{PREFIX}credentials"],
        "audit-key-arn": ids[f"alias/{PREFIX}audit"],
    }


def test_it_is_deployed_without_a_bucket_and_a_template_that_cannot_be_is_a_fault() -> None:
    assert data_faults(TEXT) == []
    assert "without a bucket" in data_faults(TEXT.ljust(DATA_TEMPLATE_BYTES + 1))[0]
