"""What Headgate relies on in DynamoDB, and what its double has to do as DynamoDB Local does."""

import itertools
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.tables import in_memory, on_dynamodb_local
from tests.support.servers import dynamodb_local

Json = dict[str, Any]
_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module", params=["double", pytest.param("real", marks=pytest.mark.real)])
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The SDK's client of the double, or of a DynamoDB Local."""
    with ExitStack() as ends:
        if request.param == "double":
            ends.enter_context(in_memory(CallInterceptor()))
        else:
            ends.enter_context(on_dynamodb_local(CallInterceptor(), ends.enter_context(dynamodb_local())))
        yield boto3.client("dynamodb")


@dataclass(frozen=True)
class Shop:
    """A table of orders by shop and number, with an index of those that are open by their age."""

    client: Any
    name: str

    def put(self, number: int, **more: Any) -> None:
        self.client.put_item(TableName=self.name, Item={**_key(number), **more})

    def get(self, number: int) -> Json | None:
        found: Json | None = self.client.get_item(TableName=self.name, Key=_key(number)).get("Item")
        return found

    def update(self, number: int, expression: str, values: Json | None = None, **more: Any) -> Json:
        given = {"ExpressionAttributeValues": values} if values else {}
        answer: Json = self.client.update_item(
            TableName=self.name, Key=_key(number), UpdateExpression=expression, ReturnValues="ALL_NEW", **given, **more
        )
        return dict(answer["Attributes"])

    def query(self, condition: str = "shop = :s", values: Json | None = None, **more: Any) -> Json:
        given = {":s": {"S": "x"}, **(values or {})}
        answer: Json = self.client.query(
            TableName=self.name, KeyConditionExpression=condition, ExpressionAttributeValues=given, **more
        )
        return answer

    def numbers(self, *arguments: Any, **named: Any) -> list[str]:
        """The numbers of the orders that a query finds."""
        return [item["number"]["N"] for item in self.query(*arguments, **named)["Items"]]

    def transact(self, *parts: Json) -> None:
        items = [{kind: {"TableName": self.name, **fields} for kind, fields in part.items()} for part in parts]
        self.client.transact_write_items(TransactItems=items)


@pytest.fixture
def shop(client: Any) -> Shop:
    name = f"contract-{next(_NUMBERS)}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "shop", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
            {"AttributeName": "open", "AttributeType": "S"},
            {"AttributeName": "age", "AttributeType": "N"},
        ],
        KeySchema=_keys("shop", "number"),
        GlobalSecondaryIndexes=[
            {"IndexName": "by_age", "KeySchema": _keys("open", "age"), "Projection": {"ProjectionType": "ALL"}}
        ],
    )
    return Shop(client, name)


def _keys(hashed: str, ranged: str) -> list[Json]:
    return [{"AttributeName": hashed, "KeyType": "HASH"}, {"AttributeName": ranged, "KeyType": "RANGE"}]


def _key(number: int) -> Json:
    return {"shop": {"S": "x"}, "number": {"N": str(number)}}


def refusal(act: Any, *arguments: Any, **named: Any) -> Json:
    """The answer to a request that must be refused."""
    with pytest.raises(ClientError) as refused:
        act(*arguments, **named)
    return dict(refused.value.response)


def code(answer: Json) -> str:
    return str(answer["Error"]["Code"])


# tables and keys


def test_a_table_that_is_not_there_is_a_refusal(client: Any) -> None:
    assert code(refusal(client.describe_table, TableName="nowhere")) == "ResourceNotFoundException"


def test_a_table_is_described_with_its_keys_and_its_indexes(shop: Shop) -> None:
    described = shop.client.describe_table(TableName=shop.name)["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["KeySchema"] == _keys("shop", "number")
    assert [index["IndexName"] for index in described["GlobalSecondaryIndexes"]] == ["by_age"]


@pytest.mark.parametrize(
    "item",
    [
        {"shop": {"S": "x"}},
        {"shop": {"S": ""}, "number": {"N": "1"}},
        {"shop": {"S": "x"}, "number": {"S": "1"}},
        {"shop": {"S": "x"}, "number": {"N": "1"}, "open": {"S": ""}},
        {"shop": {"S": "x"}, "number": {"N": "1"}, "age": {"S": "1"}},
        {"shop": {"S": "x"}, "number": {"N": "1"}, "text": {"S": "x" * 400 * 1024}},
    ],
    ids=["no range key", "empty key", "wrong type", "empty index key", "wrong type of an index key", "too large"],
)
def test_an_item_that_does_not_fit_is_refused(shop: Shop, item: Json) -> None:
    assert code(refusal(shop.client.put_item, TableName=shop.name, Item=item)) == "ValidationException"


def test_numbers_are_the_same_key_however_they_are_written(shop: Shop) -> None:
    shop.put(1, note={"S": "first"})
    shop.client.put_item(TableName=shop.name, Item={"shop": {"S": "x"}, "number": {"N": "1.0"}})
    assert len(shop.query()["Items"]) == 1


# conditions


def test_a_condition_that_does_not_hold_changes_nothing_and_shows_the_item(shop: Shop) -> None:
    shop.put(1, phase={"S": "new"})
    refused = refusal(
        shop.client.put_item, TableName=shop.name, Item=_key(1), ConditionExpression="attribute_not_exists (shop)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )  # fmt: skip
    assert code(refused) == "ConditionalCheckFailedException"
    assert refused["Item"] == {**_key(1), "phase": {"S": "new"}} == shop.get(1)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("phase = :new", True),
        ("phase <> :new", False),
        ("absent = :new", False),
        ("absent <> :new", True),
        ("absent < :new", False),
        ("tries < :ten", True),
        ("tries > :ten", False),
        ("tries < :new", False),
        ("tries BETWEEN :one AND :ten", True),
        ("tries IN (:one, :ten)", False),
        ("attribute_exists (phase) AND attribute_not_exists (absent)", True),
        ("(phase = :ten OR tries = :nine) AND attribute_exists (phase)", True),
        ("phase = :new OR phase = :new AND tries = :one", True),
        ("NOT phase = :new", False),
        ("begins_with (phase, :n)", True),
        ("contains (labels, :n)", False),
        ("contains (labels, :new)", True),
        ("payload = :bytes", True),
        ("nested = :same", True),
    ],
)
def test_a_condition_holds_or_not(shop: Shop, condition: str, holds: bool) -> None:
    shop.put(
        1, phase={"S": "new"}, tries={"N": "9"}, labels={"SS": ["new", "old"]}, payload={"B": b"\x00\xff"},
        nested={"M": {"a": {"L": [{"N": "1"}, {"BOOL": True}]}}},
    )  # fmt: skip
    values = {
        ":new": {"S": "new"}, ":n": {"S": "n"}, ":one": {"N": "1"}, ":nine": {"N": "9.0"}, ":ten": {"N": "10"},
        ":bytes": {"B": b"\x00\xff"}, ":same": {"M": {"a": {"L": [{"N": "1.0"}, {"BOOL": True}]}}},
    }  # fmt: skip
    used = {name: values[name] for name in re.findall(r":\w+", condition)}
    given = {"ExpressionAttributeValues": used} if used else {}
    arguments = {"TableName": shop.name, "Key": _key(1), "ConditionExpression": condition, **given}
    if holds:
        shop.client.delete_item(**arguments)
    else:
        assert code(refusal(shop.client.delete_item, **arguments)) == "ConditionalCheckFailedException"
    assert (shop.get(1) is None) is holds


# updates


def test_an_update_sets_removes_and_adds(shop: Shop) -> None:
    shop.put(1, phase={"S": "new"}, note={"S": "x"}, tries={"N": "1"}, labels={"SS": ["a"]})
    updated = shop.update(
        1, "SET #s = :done, closed_at = :at REMOVE note, absent ADD tries :two, hits :two, labels :more",
        {":done": {"S": "done"}, ":at": {"N": "7"}, ":two": {"N": "2.5"}, ":more": {"SS": ["a", "b"]}},
        ExpressionAttributeNames={"#s": "phase"},
    )  # fmt: skip
    assert sorted(updated.pop("labels")["SS"]) == ["a", "b"]
    assert updated == {
        **_key(1), "phase": {"S": "done"}, "closed_at": {"N": "7"}, "tries": {"N": "3.5"}, "hits": {"N": "2.5"},
    }  # fmt: skip


def test_what_is_deleted_of_a_set_is_gone_and_so_is_an_empty_set(shop: Shop) -> None:
    shop.put(1, labels={"SS": ["a", "b"]})
    assert shop.update(1, "DELETE labels :a", {":a": {"SS": ["a", "c"]}})["labels"] == {"SS": ["b"]}
    assert "labels" not in shop.update(1, "DELETE labels :b", {":b": {"SS": ["b"]}})


def test_an_update_makes_the_item_that_is_not_there(shop: Shop) -> None:
    assert shop.update(1, "ADD tries :one", {":one": {"N": "1"}}) == {**_key(1), "tries": {"N": "1"}}


def test_a_key_cannot_be_updated(shop: Shop) -> None:
    assert code(refusal(shop.update, 1, "SET shop = :y", {":y": {"S": "y"}})) == "ValidationException"


# transactions


def test_a_transaction_writes_all(shop: Shop) -> None:
    shop.put(1)
    shop.put(2, phase={"S": "new"})
    shop.transact(
        {"Delete": {"Key": _key(1)}},
        {
            "Update": {
                "Key": _key(2),
                "UpdateExpression": "ADD tries :n",
                "ExpressionAttributeValues": {":n": {"N": "1"}},
            }
        },
        {"Put": {"Item": _key(3), "ConditionExpression": "attribute_not_exists (shop)"}},
        {"ConditionCheck": {"Key": _key(4), "ConditionExpression": "attribute_not_exists (shop)"}},
    )
    assert shop.query()["Items"] == [{**_key(2), "phase": {"S": "new"}, "tries": {"N": "1"}}, _key(3)]


def test_a_transaction_of_which_one_condition_does_not_hold_writes_nothing_and_has_its_reasons(shop: Shop) -> None:
    shop.put(2, phase={"S": "new"})
    refused = refusal(
        shop.transact,
        {"Put": {"Item": _key(1)}},
        {
            "Put": {
                "Item": _key(2), "ConditionExpression": "attribute_not_exists (shop)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        },
        {"ConditionCheck": {"Key": _key(3), "ConditionExpression": "attribute_exists (shop)"}},
    )  # fmt: skip
    assert code(refused) == "TransactionCanceledException"
    reasons = refused["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed", "ConditionalCheckFailed"]
    assert [reason.get("Item") for reason in reasons] == [None, {**_key(2), "phase": {"S": "new"}}, None]
    assert len(shop.query()["Items"]) == 1


def test_a_transaction_has_one_operation_for_an_item_and_a_hundred_at_most(shop: Shop) -> None:
    twice = refusal(shop.transact, {"Put": {"Item": _key(1)}}, {"Delete": {"Key": _key(1)}})
    too_many = refusal(shop.transact, *({"Put": {"Item": _key(number)}} for number in range(101)))
    assert code(twice) == code(too_many) == "ValidationException"


# batches


def test_a_batch_reads_what_is_there(shop: Shop) -> None:
    shop.put(1, phase={"S": "new"}, note={"S": "x"})
    asked = {"Keys": [_key(1), _key(2)], "ProjectionExpression": "#s", "ExpressionAttributeNames": {"#s": "phase"}}
    answer = shop.client.batch_get_item(RequestItems={shop.name: asked})
    assert answer["Responses"] == {shop.name: [{"phase": {"S": "new"}}]}
    assert answer["UnprocessedKeys"] == {}


def test_a_batch_of_reads_has_no_key_twice_and_a_hundred_at_most(shop: Shop) -> None:
    for keys in ([_key(1), _key(1)], [_key(number) for number in range(101)]):
        asked = {shop.name: {"Keys": keys}}
        assert code(refusal(shop.client.batch_get_item, RequestItems=asked)) == "ValidationException"


def test_a_batch_writes_and_deletes_25_items_at_most(shop: Shop) -> None:
    shop.put(1)
    writes: list[Json] = [{"PutRequest": {"Item": _key(number)}} for number in range(2, 28)]
    assert code(refusal(shop.client.batch_write_item, RequestItems={shop.name: writes})) == "ValidationException"
    writes = [{"DeleteRequest": {"Key": _key(1)}}, *writes[:24]]
    assert shop.client.batch_write_item(RequestItems={shop.name: writes})["UnprocessedItems"] == {}
    assert shop.numbers() == [str(number) for number in range(2, 26)]


# queries


@pytest.mark.parametrize(
    ("condition", "values", "numbers"),
    [
        ("shop = :s", {}, ["2", "9", "10"]),
        ("shop = :s AND #n > :a", {":a": {"N": "2"}}, ["9", "10"]),
        ("shop = :s AND #n <= :a", {":a": {"N": "9"}}, ["2", "9"]),
        ("shop = :s AND #n BETWEEN :a AND :b", {":a": {"N": "3"}, ":b": {"N": "10"}}, ["9", "10"]),
    ],
)
def test_a_query_is_in_the_order_of_the_range_key(shop: Shop, condition: str, values: Json, numbers: list[str]) -> None:
    for number in (10, 2, 9):
        shop.put(number)
    named = {"ExpressionAttributeNames": {"#n": "number"}} if "#n" in condition else {}
    assert shop.numbers(condition, values, **named) == numbers
    assert shop.numbers(condition, values, ScanIndexForward=False, **named) == numbers[::-1]


@pytest.mark.parametrize("forward", [True, False])
def test_pages_follow_each_other_and_the_last_full_one_may_be_followed_by_an_empty_one(
    shop: Shop, forward: bool
) -> None:
    for number in range(4):
        shop.put(number)
    pages, start = [], {}
    while len(pages) < 3:
        answer = shop.query(Limit=2, ScanIndexForward=forward, **start)
        pages.append([int(item["number"]["N"]) for item in answer["Items"]])
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert pages == ([[0, 1], [2, 3], []] if forward else [[3, 2], [1, 0], []])


def test_an_index_has_the_items_with_its_keys_only(shop: Shop) -> None:
    shop.put(1, open={"S": "yes"}, age={"N": "5"})
    shop.put(2, open={"S": "yes"})
    shop.put(3, open={"S": "yes"}, age={"N": "3"})
    shop.put(4, open={"S": "no"}, age={"N": "4"})
    asked = {"IndexName": "by_age", "ExpressionAttributeNames": {"#o": "open"}}
    assert shop.numbers("#o = :s", {":s": {"S": "yes"}}, **asked) == ["3", "1"]
    first = shop.query("#o = :s", {":s": {"S": "yes"}}, Limit=1, **asked)
    assert first["LastEvaluatedKey"] == {**_key(3), "open": {"S": "yes"}, "age": {"N": "3"}}
    later = {**asked, "ExclusiveStartKey": first["LastEvaluatedKey"]}
    assert shop.numbers("#o = :s", {":s": {"S": "yes"}}, **later) == ["1"]


def test_a_filter_is_applied_after_the_limit_and_a_projection_after_that(shop: Shop) -> None:
    for number in range(4):
        shop.put(number, even={"BOOL": number % 2 == 0}, note={"S": "x"})
    answer = shop.query(
        values={":yes": {"BOOL": True}}, FilterExpression="even = :yes", Limit=3,
        ProjectionExpression="#n, absent", ExpressionAttributeNames={"#n": "number"},
    )  # fmt: skip
    assert (answer["Count"], answer["ScannedCount"]) == (2, 3)
    assert answer["Items"] == [{"number": {"N": "0"}}, {"number": {"N": "2"}}]


def test_items_can_be_counted(shop: Shop) -> None:
    for number in range(3):
        shop.put(number)
    answer = shop.query(Select="COUNT")
    assert (answer["Count"], answer.get("Items")) == (3, None)


def test_a_page_ends_at_one_mebibyte(shop: Shop) -> None:
    for number in range(4):
        shop.put(number, text={"S": "x" * 390_000})
    answer = shop.query()
    assert [item["number"]["N"] for item in answer["Items"]] == ["0", "1", "2"]
    assert answer["LastEvaluatedKey"] == _key(2)
    scanned = shop.client.scan(TableName=shop.name)
    assert (len(scanned["Items"]), scanned["LastEvaluatedKey"]) == (3, _key(2))
