"""Nothing sealed opens in the place of anything else, in an older state, or with one bit changed."""

from collections import Counter
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from chalicelib.domain.credentials import SecretBinding
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys, KeyProvider, KmsKeys, LocalKeys
from tests.security.sealed_variants import Thing, things, variants
from tests.support.dynamodb.in_process import quick_sdk
from tests.support.master_keys import local_keys


@pytest.fixture(params=["local", pytest.param("kms", marks=pytest.mark.thorough)])
def keys(request: pytest.FixtureRequest) -> Iterator[tuple[KeyProvider, KeyProvider]]:
    """The present key and the former one, from the same place."""
    if request.param == "local":
        yield local_keys(), local_keys()
        return
    with quick_sdk(), mock_aws():
        kms = boto3.client("kms", region_name="ap-south-1")
        present, former = (kms.create_key()["KeyMetadata"]["Arn"] for _ in range(2))
        yield KmsKeys(lambda: kms, present), KmsKeys(lambda: kms, former)


def test_every_variant_of_every_sealed_thing_is_refused(keys: tuple[KeyProvider, KeyProvider]) -> None:
    present, former = map(CachedKeys, keys)
    envelope = Envelope(present, former)
    made: list[Thing] = things(envelope, Envelope(former))
    assert all(thing.opens(thing.sealed).reveal() for thing in made)
    of_each_class = list({thing.sealed.secret_class: thing for thing in made}.values())
    # Each forged data key is a call to KMS: there one thing of each class stands for all.
    is_local = isinstance(keys[0], LocalKeys)
    tried: Counter[str] = Counter()
    for variant in variants(made if is_local else of_each_class, of_each_class if is_local else of_each_class[:1]):
        tried[variant.kind] += 1
        assert not variant.accepted, (variant.kind, variant.thing.name, variant.sealed)
    assert set(tried) == {"swap", "rollback", "key_id", "secret_class", "version", "bit"}


PARTS = ("class", "id", "field", "version", "key_id")


@pytest.mark.parametrize("left_out", ["id", "field", "version"])
def test_a_variant_is_accepted_when_the_binding_leaves_something_out(
    left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weak(binding: SecretBinding, key_id: str) -> bytes:
        parts = zip(PARTS, (binding.secret_class, binding.id, binding.field, binding.version, key_id), strict=True)
        return repr([part for name, part in parts if name != left_out]).encode()

    monkeypatch.setattr("chalicelib.secrets.envelope._associated_data", weak)
    present, former = CachedKeys(local_keys()), CachedKeys(local_keys())
    made = things(Envelope(present, former), Envelope(former))
    assert any(variant.accepted for variant in variants(made, ()))
