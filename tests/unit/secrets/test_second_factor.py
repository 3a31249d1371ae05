"""Codes of authenticator apps follow RFC 6238, and recovery codes can be written by hand."""

import base64
from datetime import UTC, datetime

import pytest

from chalicelib.kit.masking import Secret
from chalicelib.secrets.second_factor import (
    app_code_step,
    app_uri,
    is_app_code,
    new_app_secret,
    new_recovery_codes,
    recovery_hash,
    used_recovery_hash,
)

RFC_SECRET = Secret(base64.b32encode(b"12345678901234567890").decode())


@pytest.mark.parametrize(
    ("seconds", "code"), [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")]
)
def test_the_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    """RFC 6238, appendix B: the last six of the eight digits for SHA-1."""
    at = datetime.fromtimestamp(seconds, UTC)
    assert app_code_step(RFC_SECRET, Secret(code), at) == seconds // 30
    assert app_code_step(RFC_SECRET, Secret(f" {code[:3]} {code[3:]}"), at) == seconds // 30


@pytest.mark.parametrize("code", ["287083", "28708", "2870822", "28708a", "", "\uff12\uff18\uff17\uff10\uff18\uff12"])
def test_every_other_text_is_a_wrong_code(code: str) -> None:
    assert app_code_step(RFC_SECRET, Secret(code), datetime.fromtimestamp(59, UTC)) is None


def test_the_step_is_that_of_the_code_and_not_of_the_clock() -> None:
    step = 1234567890 // 30
    taken = [
        app_code_step(RFC_SECRET, Secret("005924"), datetime.fromtimestamp(step * 30 + seconds, UTC))
        for seconds in (-31, -30, 0, 59, 60)
    ]
    assert taken == [None, step, step, step, None]


def test_a_secret_has_160_random_bits() -> None:
    secrets = {new_app_secret().reveal() for _ in range(20)}
    assert {len(base64.b32decode(secret)) for secret in secrets} == {20}
    assert len(secrets) == 20


def test_the_uri_names_us_and_the_address() -> None:
    uri = app_uri(RFC_SECRET, "a&b=c@example.com").reveal()
    assert uri.startswith("otpauth://totp/Headgate:a%26b%3Dc%40example.com?secret=")
    assert "&issuer=Headgate" in uri


def test_ten_recovery_codes_differ_and_are_found_by_their_hash() -> None:
    codes = new_recovery_codes()
    hashes = tuple(map(recovery_hash, codes))
    assert len(set(hashes)) == len(codes) == 10
    for code, stored in zip(codes, hashes, strict=True):
        assert not is_app_code(code)
        assert used_recovery_hash(Secret(code.reveal().upper().replace("-", " ")), hashes) == stored
    assert used_recovery_hash(new_recovery_codes()[0], hashes) is None
    assert used_recovery_hash(Secret(""), hashes) is None


@pytest.mark.parametrize(("code", "expected"), [("123456", True), ("123 456", True), ("12345", False), ("abc", False)])
def test_six_digits_are_the_code_of_an_app(code: str, expected: bool) -> None:
    assert is_app_code(Secret(code)) is expected
