"""A sealed secret is opened only with the row, field, version and key with which it was sealed."""

import base64
import os
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.credentials import SealedCredentials, SealedSecret
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.secrets.keys import CachedKeys, LocalKeys

ID, OTHER_ID = "6c9de1b9-55d2-4d4b-9c1a-0f4b8b1a2c3d", "00000000-0000-4000-8000-000000000000"
BINARY = ("wrapped_key", "nonce", "ciphertext")


def local_keys() -> LocalKeys:
    return LocalKeys(Secret(base64.b64encode(os.urandom(32)).decode()))


@pytest.fixture
def envelope() -> Envelope:
    return Envelope(local_keys())


def row(credentials_id: str = ID, **sealed: SealedSecret) -> SealedCredentials:
    return SealedCredentials(
        id=credentials_id,
        resource_type="source",
        resource_id=OTHER_ID,
        sealed=sealed,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def seal(envelope: Envelope, text: str = "s3cret", *, field: str = "password", version: int = 1) -> SealedSecret:
    return envelope.seal(ID, field, version, Secret(text))


def refuses(envelope: Envelope, credentials: SealedCredentials, field: str = "password") -> None:
    with pytest.raises(StoreUnavailable) as refused:
        envelope.open(credentials, field)
    assert "s3cret" not in str(refused.value)


@given(text=st.text(max_size=400))
def test_what_is_sealed_is_what_is_opened(text: str) -> None:
    envelope = Envelope(local_keys())
    assert envelope.open(row(password=seal(envelope, text)), "password").reveal() == text


def test_all_fields_are_opened_together(envelope: Envelope) -> None:
    opened = envelope.open_all(
        row(password=seal(envelope, "one"), ca_certificate=seal(envelope, "two", field="ca_certificate", version=3))
    )
    assert {name: secret.reveal() for name, secret in opened.items()} == {"password": "one", "ca_certificate": "two"}


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
        refuses(envelope, row(password=replace(sealed, **{column: base64.b64encode(flipped).decode()})))


@pytest.mark.parametrize("column", [column.name for column in fields(SealedSecret)])
def test_no_column_can_be_taken_from_another_secret(envelope: Envelope, column: str) -> None:
    sealed = seal(envelope)
    other = replace(seal(envelope, "other", version=2), key_id="another-key")
    refuses(envelope, row(password=replace(sealed, **{column: getattr(other, column)})))


def test_a_secret_cannot_be_moved_to_another_row(envelope: Envelope) -> None:
    refuses(envelope, row(OTHER_ID, password=seal(envelope)))


def test_two_secrets_of_a_row_cannot_be_swapped(envelope: Envelope) -> None:
    password, certificate = seal(envelope, "one"), seal(envelope, "two", field="ca_certificate")
    swapped = row(password=certificate, ca_certificate=password)
    refuses(envelope, swapped, "password")
    refuses(envelope, swapped, "ca_certificate")


def test_an_older_secret_cannot_pass_for_the_present_one(envelope: Envelope) -> None:
    old = seal(envelope, "old", version=1)
    refuses(envelope, row(password=replace(old, version=2)))


def test_secrets_are_not_opened_when_one_of_them_was_changed(envelope: Envelope) -> None:
    good, moved = seal(envelope, "one"), seal(envelope, "two", field="password")
    with pytest.raises(StoreUnavailable):
        envelope.open_all(row(password=good, ca_certificate=moved))


def test_another_master_key_opens_nothing(envelope: Envelope) -> None:
    refuses(Envelope(local_keys()), row(password=seal(envelope)))


def test_a_rotated_secret_and_one_that_kept_its_value_are_opened_side_by_side(envelope: Envelope) -> None:
    before = row(password=seal(envelope, "old"), ca_certificate=seal(envelope, "kept", field="ca_certificate"))
    after = replace(before, sealed={**before.sealed, "password": seal(envelope, "new", version=2)})
    assert envelope.open(after, "password").reveal() == "new"
    assert envelope.open(after, "ca_certificate").reveal() == "kept"


def test_secrets_outlive_the_data_key_that_seals_new_ones() -> None:
    envelope = Envelope(CachedKeys(local_keys(), seconds=-1))
    first, second = seal(envelope, "first"), seal(envelope, "second")
    assert first.wrapped_key != second.wrapped_key
    assert envelope.open(row(password=first), "password").reveal() == "first"
    assert envelope.open(row(password=second), "password").reveal() == "second"
