"""A sealed secret is opened only for the class, id, field and version, and with the key, with which it was sealed."""

import base64
import os
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.credentials import SealedSecret, SecretBinding, SecretClass
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys, LocalKeys

ID, OTHER_ID = "6c9de1b9-55d2-4d4b-9c1a-0f4b8b1a2c3d", "00000000-0000-4000-8000-000000000000"
BINARY = ("wrapped_key", "nonce", "ciphertext")
PASSWORD = SecretBinding(secret_class=SecretClass.SOURCE, id=ID, field="password")


def local_keys() -> LocalKeys:
    return LocalKeys(Secret(base64.b64encode(os.urandom(32)).decode()))


@pytest.fixture
def envelope() -> Envelope:
    return Envelope(local_keys())


def seal(envelope: Envelope, text: str = "s3cret", **binding: object) -> SealedSecret:
    return envelope.seal(replace(PASSWORD, **binding), Secret(text))  # type: ignore[arg-type]


def refuses(envelope: Envelope, sealed: SealedSecret, **binding: object) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        envelope.open(replace(PASSWORD, **binding), sealed)  # type: ignore[arg-type]
    assert "s3cret" not in str(refused.value)


@given(text=st.text(max_size=400))
def test_what_is_sealed_is_what_is_opened(text: str) -> None:
    envelope = Envelope(local_keys())
    assert envelope.open(PASSWORD, seal(envelope, text)).reveal() == text


def test_the_row_contains_nothing_of_the_value(envelope: Envelope) -> None:
    sealed = seal(envelope, "a-long-and-telling-secret")
    stored = b"".join(base64.b64decode(getattr(sealed, name)) for name in BINARY) + repr(sealed).encode()
    assert b"telling" not in stored


def test_the_same_value_is_never_sealed_the_same_way_twice() -> None:
    envelope = Envelope(CachedKeys(local_keys()))
    sealed = [seal(envelope) for _ in range(20)]
    assert len({one.wrapped_key for one in sealed}) == 1
    assert len({one.nonce for one in sealed}) == len({one.ciphertext for one in sealed}) == 20


@pytest.mark.parametrize("column", BINARY)
def test_every_flipped_bit_is_detected(envelope: Envelope, column: str) -> None:
    sealed = seal(envelope)
    raw = base64.b64decode(getattr(sealed, column))
    for at in range(len(raw)):
        flipped = raw[:at] + bytes([raw[at] ^ (1 << (at % 8))]) + raw[at + 1 :]
        refuses(envelope, replace(sealed, **{column: base64.b64encode(flipped).decode()}))


@pytest.mark.parametrize("column", [column.name for column in fields(SealedSecret)])
def test_no_column_can_be_taken_from_another_secret(envelope: Envelope, column: str) -> None:
    sealed = seal(envelope)
    other = replace(seal(envelope, "other", version=2), key_id="another-key", secret_class=SecretClass.CLUSTER)
    refuses(envelope, replace(sealed, **{column: getattr(other, column)}))


@pytest.mark.parametrize(
    "asked",
    [{"id": OTHER_ID}, {"field": "ca_certificate"}, {"version": 2}, {"secret_class": SecretClass.CLUSTER}],
)
def test_a_secret_opens_for_what_it_was_sealed_for_only(envelope: Envelope, asked: dict[str, object]) -> None:
    refuses(envelope, seal(envelope), **asked)


def test_an_older_secret_cannot_pass_for_the_present_one(envelope: Envelope) -> None:
    old = seal(envelope, "old", version=1)
    refuses(envelope, old, version=2)
    refuses(envelope, replace(old, version=2), version=2)


def test_a_secret_cannot_pass_for_one_of_another_class(envelope: Envelope) -> None:
    cluster = seal(envelope, secret_class=SecretClass.CLUSTER)
    refuses(envelope, replace(cluster, secret_class=SecretClass.SOURCE))


def test_another_master_key_opens_nothing(envelope: Envelope) -> None:
    refuses(Envelope(local_keys()), seal(envelope))


def test_secrets_outlive_the_data_key_that_seals_new_ones() -> None:
    envelope = Envelope(CachedKeys(local_keys(), seconds=-1))
    first, second = seal(envelope, "first"), seal(envelope, "second")
    assert first.wrapped_key != second.wrapped_key
    assert envelope.open(PASSWORD, first).reveal() == "first"
    assert envelope.open(PASSWORD, second).reveal() == "second"
