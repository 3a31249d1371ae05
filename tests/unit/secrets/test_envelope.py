"""What is sealed is opened again, with its key only. What opens in the place of what: tests/service/secrets."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.credentials import SealedSecret, SecretBinding, SecretClass
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys
from tests.support.master_keys import local_keys

BINARY = ("wrapped_key", "nonce", "ciphertext")
PASSWORD = SecretBinding(secret_class=SecretClass.SOURCE, id="6c9de1b9-55d2-4d4b-9c1a-0f4b8b1a2c3d", field="password")


@pytest.fixture
def envelope() -> Envelope:
    return Envelope(local_keys())


def seal(envelope: Envelope, text: str = "s3cret") -> SealedSecret:
    return envelope.seal(PASSWORD, Secret(text))


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
    assert len({secret.wrapped_key for secret in sealed}) == 1
    assert len({secret.nonce for secret in sealed}) == len({secret.ciphertext for secret in sealed}) == 20


def test_another_master_key_opens_nothing(envelope: Envelope) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        Envelope(local_keys()).open(PASSWORD, seal(envelope))
    assert "s3cret" not in str(refused.value)


def test_secrets_outlive_the_data_key_that_seals_new_ones() -> None:
    envelope = Envelope(CachedKeys(local_keys(), seconds=-1))
    first, second = seal(envelope, "first"), seal(envelope, "second")
    assert first.wrapped_key != second.wrapped_key
    assert envelope.open(PASSWORD, first).reveal() == "first"
    assert envelope.open(PASSWORD, second).reveal() == "second"
