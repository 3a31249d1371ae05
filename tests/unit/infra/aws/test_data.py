"""`infra/data.yaml` is what the stores and the functions expect."""

from typing import Any

import boto3
import pytest
import yaml  # type: ignore[import-untyped]
from moto import mock_aws
from pynamodb.attributes import TTLAttribute
from pynamodb.models import Model

from chalicelib.clients.queue import DESTINATION_CHECKS, JOBS, NOTIFICATIONS, SOURCE_CHECKS, TICKS
from chalicelib.stores.all_tables import ALL_TABLES
from infra.aws.template_checks import FUNCTIONS
from infra.local.stack.layout import ROOT

TEXT = (ROOT / "infra" / "data.yaml").read_text()
RESOURCES: dict[str, Any] = yaml.safe_load(TEXT)["Resources"]
PREFIX = "headgate-"
KEEPS_RECEIVING = 6
REGION = "us-west-2"
"""A region of this file's own: within one process, other tests keep tables on the same double."""


def of_type(kind: str) -> list[dict[str, Any]]:
    return [resource for resource in RESOURCES.values() if resource["Type"] == kind]


def properties(table: type[Model]) -> dict[str, Any]:
    name = table.Meta.table_name.removeprefix(PREFIX)
    found = [one["Properties"] for one in of_type("AWS::DynamoDB::Table") if named(one, "TableName") == name]
    assert len(found) == 1, f"{name} is declared {len(found)} times"
    return dict(found[0])


def named(resource: dict[str, Any], key: str) -> str:
    return str(resource["Properties"][key]["Fn::Sub"]).removeprefix("${Prefix}")


def keys(attributes: dict[str, Any]) -> list[tuple[str, str]]:
    found = [
        (one.attr_name, "HASH" if one.is_hash_key else "RANGE")
        for one in attributes.values()
        if one.is_hash_key or one.is_range_key
    ]
    return sorted(found, key=lambda key: key[1])


def declared(schema: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(key["AttributeName"], key["KeyType"]) for key in schema]


def indexes(table: type[Model]) -> dict[str, list[tuple[str, str]]]:
    return {index.Meta.index_name: keys(index.Meta.attributes) for index in table._indexes.values()}


def projections(table: type[Model]) -> dict[str, dict[str, Any]]:
    found = {}
    for index in table._indexes.values():
        kind, columns = index.Meta.projection.projection_type, index.Meta.projection.non_key_attributes
        found[index.Meta.index_name] = {"ProjectionType": kind} | ({"NonKeyAttributes": columns} if columns else {})
    return found


def name_of(table: type[Model]) -> str:
    return str(table.Meta.table_name)


def test_it_declares_the_tables_of_the_stores_and_no_others() -> None:
    expected = {table.Meta.table_name.removeprefix(PREFIX) for table in ALL_TABLES}
    assert {named(one, "TableName") for one in of_type("AWS::DynamoDB::Table")} == expected


@pytest.mark.parametrize("table", ALL_TABLES, ids=name_of)
def test_a_table_has_the_keys_that_its_store_uses(table: type[Model]) -> None:
    assert declared(properties(table)["KeySchema"]) == keys(table.get_attributes())


@pytest.mark.parametrize("table", ALL_TABLES, ids=name_of)
def test_a_table_has_the_indexes_that_its_store_asks_with_the_columns_that_it_reads(table: type[Model]) -> None:
    found = properties(table).get("GlobalSecondaryIndexes", [])
    assert {index["IndexName"]: declared(index["KeySchema"]) for index in found} == indexes(table)
    assert {index["IndexName"]: index["Projection"] for index in found} == projections(table)


@pytest.mark.parametrize("table", ALL_TABLES, ids=name_of)
def test_a_table_defines_the_attributes_of_its_keys_and_no_others(table: type[Model]) -> None:
    used = {name for name, _ in keys(table.get_attributes())}
    used |= {name for index in indexes(table).values() for name, _ in index}
    types = {one["AttributeName"]: one["AttributeType"] for one in properties(table)["AttributeDefinitions"]}
    assert types == dict.fromkeys(used, "S")


@pytest.mark.parametrize("table", ALL_TABLES, ids=name_of)
def test_rows_that_expire_are_removed_by_the_table(table: type[Model]) -> None:
    expiring = [one.attr_name for one in table.get_attributes().values() if isinstance(one, TTLAttribute)]
    expected = {"AttributeName": expiring[0], "Enabled": True} if expiring else None
    assert properties(table).get("TimeToLiveSpecification") == expected


@pytest.mark.parametrize("table", ALL_TABLES, ids=name_of)
def test_a_table_can_be_restored_and_is_not_deleted_by_mistake(table: type[Model]) -> None:
    found = properties(table)
    assert found["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert (found["BillingMode"], found["DeletionProtectionEnabled"]) == ("PAY_PER_REQUEST", True)


@pytest.mark.parametrize("name", [name for name in RESOURCES if name.endswith(("Table", "Key"))])
def test_tables_and_key_outlive_their_stack(name: str) -> None:
    assert (RESOURCES[name]["DeletionPolicy"], RESOURCES[name]["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_there_is_a_queue_with_a_dead_letter_queue_for_each_that_is_rung() -> None:
    queues = (JOBS, TICKS, SOURCE_CHECKS, DESTINATION_CHECKS, NOTIFICATIONS)
    names = {named(one, "QueueName") for one in of_type("AWS::SQS::Queue")}
    assert names == {name + end for name in queues for end in ("", "-dead")}


@pytest.mark.parametrize(
    ("queue", "function"),
    [
        ("JobsQueue", "RunJob"),
        ("TicksQueue", "RunTick"),
        ("SourceChecksQueue", "RunSourceCheck"),
        ("DestinationChecksQueue", "RunDestinationCheck"),
        ("NotificationsQueue", "DeliverNotifications"),
    ],
)
def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_run(queue: str, function: str) -> None:
    found = RESOURCES[queue]["Properties"]
    assert found["VisibilityTimeout"] == 6 * FUNCTIONS[function][1]
    dead = {"deadLetterTargetArn": {"Fn::GetAtt": [queue.replace("Queue", "DeadQueue"), "Arn"]}}
    assert found["RedrivePolicy"] == {**dead, "maxReceiveCount": KEEPS_RECEIVING}


@pytest.mark.parametrize("queue", ["JobsQueue", "TicksQueue"])
def test_a_message_lives_until_its_last_receive(queue: str) -> None:
    found = RESOURCES[queue]["Properties"]
    assert found["MessageRetentionPeriod"] >= KEEPS_RECEIVING * found["VisibilityTimeout"]


def test_the_key_rotates() -> None:
    assert RESOURCES["CredentialsKey"]["Properties"]["EnableKeyRotation"] is True


def test_it_can_be_created_under_another_prefix() -> None:
    with mock_aws():
        made = boto3.client("cloudformation", region_name=REGION)
        made.create_stack(
            StackName="data", TemplateBody=TEXT, Parameters=[{"ParameterKey": "Prefix", "ParameterValue": "stage-"}]
        )
        tables = boto3.client("dynamodb", region_name=REGION).list_tables()["TableNames"]
        queues = boto3.client("sqs", region_name=REGION).list_queues()["QueueUrls"]
        exported = made.list_exports()["Exports"]
        aliases = boto3.client("kms", region_name=REGION).list_aliases()["Aliases"]
    assert sorted(tables) == sorted("stage-" + table.Meta.table_name.removeprefix(PREFIX) for table in ALL_TABLES)
    assert len(queues) == 10
    assert sorted(one["Name"] for one in exported) == ["stage-audit-key-arn", "stage-credentials-key-arn"]
    for one in exported:
        name = one["Name"].removesuffix("-key-arn")
        key = next(alias["TargetKeyId"] for alias in aliases if alias["AliasName"] == f"alias/{name}")
        assert one["Value"].endswith(f"/{key}")
