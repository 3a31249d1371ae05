"""Signatures of anchors, with a key of our own or one of AWS KMS."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from chalicelib.errors import StoreUnavailable
from chalicelib.secrets.macs import KmsMac, LocalMac, Mac

REGION = "ap-south-1"
TEXT = b'["2026-01-31T12:00:00.000Z",[["0",[1,"ab"]]]]'


@pytest.fixture
def kms() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("kms", region_name=REGION)


@pytest.fixture(params=["local", "kms"])
def mac(request: pytest.FixtureRequest) -> Mac:
    if request.param == "local":
        return LocalMac(lambda: bytes(32))
    client = request.getfixturevalue("kms")
    made = client.create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")["KeyMetadata"]
    return KmsMac(lambda: client, made["KeyId"])


def test_what_was_signed_is_verified_and_nothing_else(mac: Mac) -> None:
    signature = mac.sign(TEXT)
    assert mac.verify(TEXT, signature)
    assert not mac.verify(TEXT + b" ", signature)
    assert not mac.verify(TEXT, signature[:-1] + bytes([signature[-1] ^ 1]))


class DeniedKms:
    """AWS KMS, for a role that may do nothing."""

    def __getattr__(self, name: str) -> Any:
        def refuse(**_: Any) -> Any:
            raise ClientError({"Error": {"Code": "AccessDeniedException"}}, name)

        return refuse


@pytest.mark.parametrize("act", [lambda mac: mac.sign(TEXT), lambda mac: mac.verify(TEXT, b"s")])
def test_a_key_service_that_refuses_is_unavailable_and_says_nothing_about_the_signature(act: Any) -> None:
    with pytest.raises(StoreUnavailable):
        act(KmsMac(DeniedKms, "key"))
