"""Tokens are stored hashed, compared in constant time, and keys are derived for one purpose each."""

import base64
import hashlib

import pytest

from chalicelib.kit.masking import Secret
from chalicelib.secrets.tokens import derived_key, has_hash, token_hash

MASTER = Secret(base64.b64encode(bytes(range(32))).decode())
OTHER = Secret(base64.b64encode(bytes(range(1, 33))).decode())


def test_the_hash_of_a_token_is_its_sha256() -> None:
    assert token_hash("hg_token") == hashlib.sha256(b"hg_token").hexdigest()


def test_other_tokens_have_other_hashes() -> None:
    assert len({token_hash(token) for token in ("", "a", "A", "a ", "ä")}) == 5


HASHES = (token_hash("geheimnis-ä"), token_hash("its successor"))


@pytest.mark.parametrize("presented", ["geheimnis-ä", "its successor"])
def test_a_token_is_known_by_any_of_the_hashes(presented: str) -> None:
    assert has_hash(presented, HASHES)


@pytest.mark.parametrize("presented", ["", "geheimnis", "geheimnis-a", "geheimnis-ä ", *HASHES])
def test_other_tokens_are_not_known(presented: str) -> None:
    assert not has_hash(presented, HASHES)
    assert not has_hash(presented, ())


def test_a_derived_key_is_the_same_in_every_process() -> None:
    assert derived_key(MASTER, "signing") == derived_key(MASTER, "signing")
    assert len(derived_key(MASTER, "signing")) == 32


def test_each_purpose_and_each_installation_has_its_own_key() -> None:
    made = {derived_key(MASTER, "signing"), derived_key(MASTER, "other"), derived_key(OTHER, "signing")}
    assert len(made) == 3
    assert bytes(range(32)) not in made
