"""The connection to the tables."""

import boto3
import pytest

from chalicelib.stores.audit.chain import ChainRow
from chalicelib.stores.tables import connection

ENDPOINTS = [
    pytest.param({}, "https://dynamodb.eu-west-1.amazonaws.com", id="of the region"),
    pytest.param({"AWS_USE_FIPS_ENDPOINT": "true"}, "https://dynamodb-fips.us-east-1.amazonaws.com", id="with FIPS"),
    pytest.param({"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:8000"}, "http://127.0.0.1:8000", id="named"),
]


@pytest.mark.parametrize(("environment", "endpoint"), ENDPOINTS)
def test_the_endpoint_is_the_one_that_the_environment_asks_for(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], endpoint: str
) -> None:
    region = "us-east-1" if "AWS_USE_FIPS_ENDPOINT" in environment else "eu-west-1"
    for name, value in {**environment, "AWS_DEFAULT_REGION": region, "AWS_REGION": region}.items():
        monkeypatch.setenv(name, value)
    assert connection.__wrapped__().client.meta.endpoint_url == endpoint


@pytest.mark.usefixtures("tables")
def test_bytes_are_stored_as_bytes() -> None:
    ChainRow("shard", "1", body=b"\xff\x00 bytes", write_id="first").save()
    key = {"shard": {"S": "shard"}, "number": {"S": "1"}}
    stored = boto3.client("dynamodb").get_item(TableName=ChainRow.Meta.table_name, Key=key)["Item"]
    assert stored["body"] == {"B": b"\xff\x00 bytes"}
    assert ChainRow.get("shard", "1").body == b"\xff\x00 bytes"
