"""The copy of the last anchor outside of the tables: a parameter of Systems Manager, or an object of S3."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError
from moto import mock_aws

from chalicelib.clients.anchor_copies import UNREADABLE, AnchorCopy, anchor_copy
from chalicelib.domain.audit.chain import Link
from chalicelib.errors import StoreUnavailable

PLACES = ("ssm:/headgate/audit-anchor", "s3://headgate-audit/anchors/last")
LINK = Link(number=7, at=datetime(2026, 1, 31, 12, tzinfo=UTC), digest="a" * 64)


@pytest.fixture(params=PLACES)
def copy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnchorCopy]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="headgate-audit")
        yield anchor_copy(request.param, boto3.client)


def test_before_the_first_anchor_there_is_none(copy: AnchorCopy) -> None:
    assert copy.read() is None


def test_it_is_replaced_by_each_anchor(copy: AnchorCopy) -> None:
    for link in (Link(number=6, digest="b" * 64), LINK):
        copy.write(link)
        assert copy.read() == link


def test_what_somebody_else_has_written_there_is_no_copy(copy: AnchorCopy) -> None:
    if copy.place.startswith("ssm:"):
        boto3.client("ssm").put_parameter(Name="/headgate/audit-anchor", Value="x", Type="String")
    else:
        boto3.client("s3").put_object(Bucket="headgate-audit", Key="anchors/last", Body=b"\xff" * 9_000)
    assert copy.read() == UNREADABLE


@pytest.mark.parametrize("place", PLACES)
def test_a_place_that_does_not_answer_is_unavailable(place: str) -> None:
    class Silent:
        def __getattr__(self, name: str) -> Any:
            raise ConnectTimeoutError(endpoint_url="https://example.com")

    copy = anchor_copy(place, lambda _service: Silent())
    with pytest.raises(StoreUnavailable):
        copy.read()
    with pytest.raises(StoreUnavailable):
        copy.write(LINK)


def test_a_bucket_that_does_not_exist_is_unavailable_and_not_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        copy = anchor_copy("s3://nowhere/last", lambda service: boto3.client(service, region_name="us-east-1"))
        with pytest.raises(StoreUnavailable):
            copy.read()
