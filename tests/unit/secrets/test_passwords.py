"""Passwords are kept as Argon2id hashes, each with a salt of its own."""

import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import pytest
from cryptography.hazmat.primitives.kdf import argon2

from chalicelib.errors import RateLimited
from chalicelib.kit.masking import Secret
from chalicelib.secrets import passwords
from chalicelib.secrets.passwords import MAX_HASHES, hash_password, is_password_hash, verify_password

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


class CountedArgon2id:
    """Argon2id that counts its uses, at all and at a time, and waits in each until it may go on."""

    def __init__(self) -> None:
        self.used, self.running, self.most = 0, 0, 0
        self.costs: list[str] = []
        """What the hashes that are verified cost: their parameters."""
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self._lock = threading.Lock()

    def __call__(self, **parameters: Any) -> "CountedArgon2id":
        return self

    def derive_phc_encoded(self, _password: bytes) -> str:
        with self._counted():
            return "hash"

    def verify_phc_encoded(self, _password: bytes, hashed: str) -> None:
        self.costs.append(hashed.rpartition("$")[0].rpartition("$")[0])
        with self._counted():
            return

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self.used += 1
            self.running += 1
            self.most = max(self.most, self.running)
        self.may_go_on.wait(10)
        yield
        with self._lock:
            self.running -= 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> CountedArgon2id:
    counted = CountedArgon2id()
    monkeypatch.setattr(argon2, "Argon2id", counted)
    return counted


def test_the_hash_of_no_password_costs_as_much_as_a_stored_one(hashed: str) -> None:
    unused = passwords._unused_hash()
    assert unused.rsplit("$", 2)[0] == hashed.rsplit("$", 2)[0]
    assert [len(part) for part in unused.split("$")] == [len(part) for part in hashed.split("$")]


@pytest.mark.parametrize("known", [True, False])
def test_a_password_is_hashed_once_whether_or_not_there_is_an_account(
    hashed: str, counted: CountedArgon2id, known: bool
) -> None:
    verify_password(RIGHT, hashed if known else None)
    assert counted.used == 1
    assert counted.costs == ["$argon2id$v=19$m=47104,t=1,p=1"]


def test_only_a_few_passwords_are_hashed_at_a_time(counted: CountedArgon2id) -> None:
    counted.may_go_on.clear()
    with ThreadPoolExecutor(32) as threads:
        verified = [threads.submit(verify_password, RIGHT, None) for _ in range(32)]
        threading.Timer(0.2, counted.may_go_on.set).start()
        assert [future.result() for future in verified] == [False] * 32
    assert (counted.used, counted.most) == (32, MAX_HASHES)


def test_who_waits_too_long_is_asked_to_come_again(counted: CountedArgon2id, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_WAIT_SECONDS", 0.1)
    counted.may_go_on.clear()
    with ThreadPoolExecutor(MAX_HASHES + 1) as threads:
        asked = [threads.submit(verify_password, RIGHT, None) for _ in range(MAX_HASHES + 1)]
        refused, _ = wait(asked, return_when=FIRST_COMPLETED)
        counted.may_go_on.set()
    [error] = [future.exception() for future in refused]
    assert isinstance(error, RateLimited)
    assert error.retry_after_seconds == 1
    assert not verify_password(RIGHT, None)
