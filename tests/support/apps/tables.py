"""The tables of a Headgate under test: in this process, or on a DynamoDB Local; reset in milliseconds.

    with in_memory(interceptor) as tables:  # or on_dynamodb_local(interceptor, "http://127.0.0.1:8000")
        before = tables.snapshot()
        ...
        tables.restore(before)

Every request of the SDK to DynamoDB passes the interceptor. SQS and KMS are moto's.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol
from unittest.mock import patch

import boto3
import botocore.endpoint
import urllib3
from boto3.dynamodb.types import TypeDeserializer
from moto import mock_aws
from moto.core.models import botocore_stubber
from pynamodb.models import Model

from chalicelib.stores.all_tables import ALL_TABLES
from infra.local.app.setup import create_queues
from tests.support.apps.call_interceptor import CallInterceptor, Side
from tests.support.dynamodb.double import DynamoDBDouble
from tests.support.dynamodb.in_process import answering, quick_sdk, target_of
from tests.support.dynamodb.items import with_bytes

REGION = "eu-central-1"
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    # Without this the SDK calls hosts named after the account, which moto does not answer.
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}
WRITES = (
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "TransactWriteItems",
    "BatchWriteItem",
    "SendMessage",
    "SendMessageBatch",
)
Row = Mapping[str, Any]
Answer = tuple[int, Mapping[str, str], str]


@dataclass
class DynamoDBRequest:
    """A `StoreRequest`."""

    action: str
    request: Any
    answer: Callable[[Any], Any]

    @cached_property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.request.body)
        return found

    @property
    def outdated_tables(self) -> tuple[str, ...]:
        match self.action:
            case "Query" | "Scan" | "GetItem":
                return () if self.body.get("ConsistentRead") else (self.body["TableName"],)
            case "BatchGetItem":
                asked = self.body["RequestItems"].items()
                return tuple(table for table, of_table in asked if not of_table.get("ConsistentRead"))
        return ()

    @property
    def divisible(self) -> bool:
        return self.action == "Query" or len(self._whole()) > 1

    def partly(self) -> Answer:
        """The first half of a batch, or the first row of a query. DynamoDB processes one item at least, or refuses."""
        if self.action == "Query":
            return self._send({**self.body, "Limit": 1})
        whole = self._whole()
        done, left = self._batch(whole[: len(whole) // 2]), self._batch(whole[len(whole) // 2 :])
        status, headers, body = self._send({**self.body, "RequestItems": done})
        if status != 200:
            return status, headers, body
        name = "UnprocessedKeys" if self.action == "BatchGetItem" else "UnprocessedItems"
        return status, {"x-amzn-RequestId": "partly"}, json.dumps({**json.loads(body), name: left})

    def _whole(self) -> list[tuple[str, Any]]:
        """The items of a batch, each with its table; nothing when it is none."""
        if self.action not in ("BatchGetItem", "BatchWriteItem"):
            return []
        return [
            (table, one)
            for table, of_table in self.body["RequestItems"].items()
            for one in (of_table["Keys"] if self.action == "BatchGetItem" else of_table)
        ]

    def _batch(self, items: list[tuple[str, Any]]) -> dict[str, Any]:
        asked = self.body["RequestItems"]
        found: dict[str, list[Any]] = {}
        for table, one in items:
            found.setdefault(table, []).append(one)
        if self.action == "BatchWriteItem":
            return dict(found)
        return {table: {**asked[table], "Keys": keys} for table, keys in found.items()}

    def _send(self, body: Mapping[str, Any]) -> Answer:
        request = copy(self.request)
        request.body = json.dumps(body)
        answered: Answer = self.answer(request)
        return answered


class Tables(Protocol):
    """All tables, read and replaced without the product."""

    def rows(self, table: str) -> list[Row]:
        """All rows of a table (its name without prefix), attributes as plain Python values."""

    def snapshot(self) -> Any:
        """All rows as they are now, for `restore`."""

    def restore(self, snapshot: Any) -> None:
        """Replace all rows by those of the snapshot."""

    def showing(self, rows: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Show other rows of some tables, by their full names, for a read that may be out of date. Only in memory."""


@contextmanager
def in_memory(interceptor: CallInterceptor) -> Iterator[Tables]:
    double = DynamoDBDouble()
    with quick_sdk(), _stubbed(interceptor, answering(double)):
        _create_tables()
        create_queues(boto3.client("sqs"), "headgate-")
        yield _DoubleTables(double)


@contextmanager
def on_dynamodb_local(interceptor: CallInterceptor, url: str) -> Iterator[Tables]:
    """A DynamoDB Local. Requests go to it, whatever endpoint their client was created for; those to KMS go to moto."""
    pool = urllib3.PoolManager(maxsize=32, retries=False, timeout=10)
    moto = botocore_stubber.process_request

    def forward(request: Any) -> Any:
        if "://kms." in request.url:
            return moto(request)
        # half of a batch is shorter than the request that the SDK measured: the server would wait for the rest
        headers = {name: value for name, value in request.headers.items() if name.lower() != "content-length"}
        answer = pool.request("POST", url, body=request.body, headers=headers)
        return answer.status, dict(answer.headers), answer.data

    with pool, _stubbed(interceptor, forward):
        _create_tables()
        yield _LocalTables()


@contextmanager
def _stubbed(interceptor: CallInterceptor, answer: Callable[[Any], Any]) -> Iterator[None]:
    def intercepted(request: Any) -> Any:
        service, name = target_of(request)
        side, parsed = (
            (Side.QUEUE, None) if service == "AmazonSQS" else (Side.STORE, DynamoDBRequest(name, request, answer))
        )
        return interceptor.intercept(side, name, writes=name in WRITES, call=lambda: answer(request), request=parsed)

    with (
        patch.dict("os.environ", ENVIRONMENT),
        patch.object(botocore_stubber, "process_request", intercepted),
        # The SDK waits up to some seconds before it repeats a request.
        patch.object(botocore.endpoint, "time", SimpleNamespace(sleep=lambda _: None)),
        mock_aws(config={"core": {"mock_credentials": False}}),
    ):
        yield


def _create_tables() -> None:
    for table in ALL_TABLES:
        if not table.exists():
            table.create_table(wait=True)


_deserialize = TypeDeserializer().deserialize


def _plain(attributes: Mapping[str, Any]) -> Row:
    return {name: value["S"] if "S" in value else _deserialize(value) for name, value in attributes.items()}


class _DoubleTables:
    def __init__(self, double: DynamoDBDouble) -> None:
        self._double = double
        self.snapshot, self.restore = double.snapshot, double.restore

    def rows(self, table: str) -> list[Row]:
        items = self._double.tables[f"headgate-{table}"].items()
        return [_plain(with_bytes(item)) for item in items]

    @contextmanager
    def showing(self, rows: Mapping[str, Any]) -> Iterator[None]:
        current = {name: table.rows for name, table in self._double.tables.items()}
        try:
            for name, shown in rows.items():
                self._double.tables[name].rows = shown
            yield
        finally:
            for name in rows:
                self._double.tables[name].rows = current[name]


class _LocalTables:
    def __init__(self) -> None:
        self._client = boto3.client("dynamodb")

    def rows(self, table: str) -> list[Row]:
        return [_plain(item) for item in self._items(f"headgate-{table}")]

    def snapshot(self) -> Any:
        return {name: self._items(name) for name in KEYS}

    def restore(self, snapshot: Any) -> None:
        for name, keys in KEYS.items():
            now = {repr([item[key] for key in keys]): item for item in self._items(name)}
            then = {repr([item[key] for key in keys]): item for item in snapshot[name]}
            for added in now.keys() - then.keys():
                self._client.delete_item(TableName=name, Key={key: now[added][key] for key in keys})
            for key, item in then.items():
                if now.get(key) != item:
                    self._client.put_item(TableName=name, Item=item)

    def _items(self, name: str) -> list[dict[str, Any]]:
        pages = self._client.get_paginator("scan").paginate(TableName=name, ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]


def _key_names(table: type[Model]) -> list[str]:
    """The hash key first."""
    hash_key, range_key = table._hash_key_attribute(), table._range_key_attribute()
    return [key.attr_name for key in (hash_key, range_key) if key is not None]


KEYS = {table.Meta.table_name: _key_names(table) for table in ALL_TABLES}
"""The names of the key attributes of each table."""
