"""Secrets of sources, and their rows as somebody with access to the table reads and writes them."""

from typing import Any

import boto3

from chalicelib.domain.credentials import Credentials
from chalicelib.domain.source import Source
from chalicelib.kit.masking import Secret
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input

_TABLE = "headgate-secrets"


def password(app: InProcessApp, credentials: Credentials) -> str:
    """What the credentials open to."""
    return app.services.credentials.open(credentials)["password"].reveal()


def rotated(app: InProcessApp, source: Source, password: str) -> Source:
    data = changed_input(source, secrets={"password": Secret(password)})
    return app.services.sources.update(app.context(), source.id, data)


def columns(credentials: Credentials) -> dict[str, Any]:
    return dict(boto3.client("dynamodb").get_item(TableName=_TABLE, Key={"id": {"S": credentials.id}})["Item"])


def overwrite(columns: dict[str, Any], **changes: Any) -> None:
    boto3.client("dynamodb").put_item(TableName=_TABLE, Item={**columns, **changes})


def delete(credentials: Credentials) -> None:
    boto3.client("dynamodb").delete_item(TableName=_TABLE, Key={"id": {"S": credentials.id}})
