"""Data keys, wrapped by a master key or by AWS KMS, and kept for a while."""

import base64
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from chalicelib.errors import StoreUnavailable
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.masking import Secret
from chalicelib.secrets.keys import CachedKeys, KeyProvider, KmsKeys, LocalKeys
from tests.support.master_keys import local_keys, new_master_key

REGION = "ap-south-1"
PURPOSE = {"headgate": "source"}


@pytest.fixture
def kms() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("kms", region_name=REGION)


@pytest.fixture
def kms_key(kms: Any) -> str:
    return str(kms.create_key()["KeyMetadata"]["Arn"])


@pytest.fixture(params=["local", "kms"])
def keys(request: pytest.FixtureRequest) -> KeyProvider:
    if request.param == "local":
        return local_keys()
    return KmsKeys(lambda: request.getfixturevalue("kms"), request.getfixturevalue("kms_key"))


def test_a_data_key_has_256_bits_and_opens_from_its_wrapped_form(keys: KeyProvider) -> None:
    plain, wrapped = keys.new_data_key("source")
    assert len(plain) == 32
    assert plain not in wrapped
    assert keys.unwrap(wrapped, "source") == plain


def test_a_data_key_of_one_class_of_secrets_is_not_opened_for_another(keys: KeyProvider) -> None:
    for cached in (keys, CachedKeys(keys)):
        wrapped = {context: cached.new_data_key(context)[1] for context in ("source", "cluster")}
        assert wrapped["source"] != wrapped["cluster"]
        cached.unwrap(wrapped["source"], "source")
        with pytest.raises(StoreUnavailable):
            cached.unwrap(wrapped["source"], "cluster")


def test_no_two_data_keys_are_the_same(keys: KeyProvider) -> None:
    made = [keys.new_data_key("source") for _ in range(5)]
    assert len({plain for plain, _ in made}) == len({wrapped for _, wrapped in made}) == 5


def test_every_flipped_bit_of_a_locally_wrapped_key_is_detected() -> None:
    keys = local_keys()
    _, wrapped = keys.new_data_key("source")
    for at in range(len(wrapped)):
        flipped = bytearray(wrapped)
        flipped[at] ^= 1 << (at % 8)
        with pytest.raises(StoreUnavailable):
            keys.unwrap(bytes(flipped), "source")


@pytest.mark.parametrize("length", [0, 7, 11, 12, 27, 40, 59])
def test_a_truncated_wrapped_key_is_detected(length: int) -> None:
    keys = local_keys()
    with pytest.raises(StoreUnavailable):
        keys.unwrap(keys.new_data_key("source")[1][:length], "source")


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_master_key_of_another_length_is_refused_without_showing_it(length: int) -> None:
    key = base64.b64encode(bytes(range(length))).decode()
    with pytest.raises(ValueError, match="32 bytes in base64") as refused:
        LocalKeys(Secret(key))
    assert not key or key not in str(refused.value)


def test_a_master_key_that_is_not_base64_is_refused() -> None:
    with pytest.raises(ValueError, match="base64"):
        LocalKeys(Secret("not base64 at all, but long enough to be one"))


def test_kms_gets_the_purpose_of_the_key(kms: Any, kms_key: str) -> None:
    plain, wrapped = KmsKeys(lambda: kms, kms_key).new_data_key("source")
    opened = kms.decrypt(CiphertextBlob=wrapped, KeyId=kms_key, EncryptionContext=PURPOSE)
    assert opened["Plaintext"] == plain


@pytest.mark.parametrize("purpose", [{}, {"headgate": "other"}, {**PURPOSE, "more": "x"}])
def test_a_key_wrapped_for_another_purpose_is_not_opened(kms: Any, kms_key: str, purpose: dict[str, str]) -> None:
    other = kms.generate_data_key(KeyId=kms_key, KeySpec="AES_256", EncryptionContext=purpose)["CiphertextBlob"]
    with pytest.raises(StoreUnavailable, match="did not open"):
        KmsKeys(lambda: kms, kms_key).unwrap(other, "source")


def test_a_key_of_ours_is_not_opened_for_another_purpose(kms: Any, kms_key: str) -> None:
    _, wrapped = KmsKeys(lambda: kms, kms_key).new_data_key("source")
    with pytest.raises(ClientError, match="InvalidCiphertext"):
        kms.decrypt(CiphertextBlob=wrapped, KeyId=kms_key, EncryptionContext={"headgate": "other"})


def test_a_key_that_kms_does_not_have_makes_nothing_and_no_other_key_opens(kms: Any, kms_key: str) -> None:
    _, wrapped = KmsKeys(lambda: kms, kms_key).new_data_key("source")
    missing, other = "00000000-0000-4000-8000-000000000000", kms.create_key()["KeyMetadata"]["Arn"]
    with pytest.raises(StoreUnavailable, match="did not make"):
        KmsKeys(lambda: kms, missing).new_data_key("source")
    for key_id in (missing, other):
        with pytest.raises(StoreUnavailable, match="did not open"):
            KmsKeys(lambda: kms, key_id).unwrap(wrapped, "source")


def test_a_wrapped_key_outlives_a_rotation_in_kms(kms: Any, kms_key: str) -> None:
    keys = KmsKeys(lambda: kms, kms_key)
    plain, wrapped = keys.new_data_key("source")
    kms.rotate_key_on_demand(KeyId=kms_key)
    assert keys.unwrap(wrapped, "source") == plain


def test_the_key_id_names_the_wrapping_key(kms: Any, kms_key: str) -> None:
    assert CachedKeys(KmsKeys(lambda: kms, kms_key)).key_id == kms_key
    key = new_master_key()
    assert CachedKeys(LocalKeys(key)).key_id == LocalKeys(key).key_id
    assert LocalKeys(key).key_id != local_keys().key_id
    assert re.fullmatch("local-[0-9a-f]{16}", LocalKeys(key).key_id)


class Counting:
    """A local provider that counts how often it is asked."""

    key_id = "local"

    def __init__(self) -> None:
        self.inner = local_keys()
        self.made = self.opened = 0

    def new_data_key(self, context: str) -> tuple[bytes, bytes]:
        self.made += 1
        return self.inner.new_data_key(context)

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        self.opened += 1
        return self.inner.unwrap(wrapped, context)


def test_a_kept_data_key_seals_many_secrets_and_is_not_asked_for() -> None:
    inner = Counting()
    keys = CachedKeys(inner)
    plain, wrapped = keys.new_data_key("source")
    assert keys.new_data_key("source") == (plain, wrapped)
    assert keys.unwrap(wrapped, "source") == plain
    assert (inner.made, inner.opened) == (1, 0)


def test_each_key_is_asked_for_once_in_fifteen_minutes_at_most() -> None:
    inner, now = Counting(), [0.0]
    keys = CachedKeys(inner, monotonic=lambda: now[0])
    _, wrapped = inner.new_data_key("source")
    asked: list[tuple[float, int, int]] = []
    while now[0] <= 3600:
        before = (inner.made, inner.opened)
        keys.new_data_key("source")
        keys.unwrap(wrapped, "source")
        if (inner.made, inner.opened) != before:
            asked.append((now[0], inner.made - before[0], inner.opened - before[1]))
        now[0] += 10
    assert asked == [(at, 1, 1) for at in (0, 910, 1820, 2730)]


def test_keys_are_asked_for_again_when_their_time_is_over() -> None:
    inner = Counting()
    keys = CachedKeys(inner, seconds=-1)
    first, wrapped = keys.new_data_key("source")
    assert keys.new_data_key("source")[0] != first
    assert [keys.unwrap(wrapped, "source"), keys.unwrap(wrapped, "source")] == [first, first]
    assert (inner.made, inner.opened) == (2, 2)


def test_no_more_than_a_bounded_number_of_opened_keys_is_kept() -> None:
    inner = Counting()
    keys = CachedKeys(inner, _opened=Bounded(2))
    wrapped = [inner.new_data_key("source")[1] for _ in range(5)]
    for key in wrapped:
        keys.unwrap(key, "source")
    assert len(keys._opened) <= 2


def test_another_master_key_opens_nothing_and_the_failure_is_not_cached() -> None:
    keys = CachedKeys(local_keys())
    foreign = local_keys().new_data_key("source")[1]
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="another master key"):
            keys.unwrap(foreign, "source")
