"""Passwords are kept as Argon2id hashes, each with a salt of its own."""

import pytest

from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password, is_password_hash, verify_password

RIGHT = Secret("correct horse battery staple")


@pytest.fixture(scope="module")
def hashed() -> str:
    return hash_password(RIGHT)


def test_the_right_password_is_accepted(hashed: str) -> None:
    assert verify_password(RIGHT, hashed)


@pytest.mark.parametrize("wrong", ["", "Correct horse battery staple", "correct horse battery staple ", "x" * 256])
def test_another_password_is_not(hashed: str, wrong: str) -> None:
    assert not verify_password(Secret(wrong), hashed)


def test_the_hash_shows_its_parameters_and_not_the_password(hashed: str) -> None:
    assert hashed.startswith("$argon2id$v=19$m=47104,t=1,p=1$")
    assert "horse" not in hashed


def test_the_same_password_has_another_hash_each_time(hashed: str) -> None:
    assert hash_password(RIGHT) != hashed


def test_letters_beyond_ascii_count() -> None:
    hashed = hash_password(Secret("pässword-pässword"))
    assert verify_password(Secret("pässword-pässword"), hashed)
    assert not verify_password(Secret("password-password"), hashed)


def test_without_a_stored_hash_no_password_is_right() -> None:
    assert not verify_password(RIGHT, None)


def test_a_changed_hash_matches_nothing(hashed: str) -> None:
    head, _, end = hashed.rpartition("$")
    changed = ("B" if end[0] == "A" else "A") + end[1:]
    assert not verify_password(RIGHT, f"{head}${changed}")


def test_a_hash_is_known_from_a_password(hashed: str) -> None:
    assert is_password_hash(Secret(hashed))
    for password in ("correct horse battery staple", "$argon2id$ is my favourite", hashed[:40], hashed + " "):
        assert not is_password_hash(Secret(password))
