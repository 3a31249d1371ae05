"""Rows that this release cannot read, made as a newer release would make them: without the code of this one."""

import json
from typing import Any

import boto3

from chalicelib.stores.documents import Documents

UNKNOWN = "of-a-newer-release"


def make_unreadable(store: Documents[Any], entity_id: str, *path: str) -> None:
    """Put a value that is not known into the body of a document, at this path."""
    table, key = store.table.Meta.table_name, {"id": {"S": entity_id}}
    client = boto3.client("dynamodb")
    body = json.loads(client.get_item(TableName=table, Key=key)["Item"]["body"]["S"])
    part = body
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = UNKNOWN
    _store(table, key, "body", json.dumps(body))


def make_body_unreadable(store: Documents[Any], entity_id: str) -> None:
    """The body is no JSON: not a single field of it can be read."""
    _store(store.table.Meta.table_name, {"id": {"S": entity_id}}, "body", "no JSON")


def make_column_unreadable(store: Documents[Any], entity_id: str, column: str) -> None:
    """Put a value that is not known into a column beside the body."""
    _store(store.table.Meta.table_name, {"id": {"S": entity_id}}, column, UNKNOWN)


def make_readable(store: Documents[Any], entity_id: str, entity: Any) -> None:
    """Put this entity into the body again."""
    body = store._row(entity, "write").body
    _store(store.table.Meta.table_name, {"id": {"S": entity_id}}, "body", body)


def _store(table: str, key: dict[str, Any], column: str, text: str) -> None:
    boto3.client("dynamodb").update_item(
        TableName=table,
        Key=key,
        UpdateExpression="SET #column = :text",
        ExpressionAttributeNames={"#column": column},
        ExpressionAttributeValues={":text": {"S": text}},
    )
