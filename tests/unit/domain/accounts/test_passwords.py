"""Which long passwords are refused, and that ordinary ones are not."""

import pytest

from chalicelib.domain.accounts.passwords import is_common

EMAIL = "jane.doe@warehouse.example"


@pytest.mark.parametrize(
    "password",
    [
        *("password1234", "Password123!", "p@ssw0rd1234", "passwordpassword", "PASSWORD2026!!", "iloveyou1234"),
        *("123456789012", "111111111111", "121212121212", "abcabcabcabc", "qwertyuiop123", "1q2w3e4r5t6y"),
        *("qwertyuiopasdf", "abcdefghijkl", "lkjihgfedcba", "098765432109", "letmein12345", "Welcome2026!"),
        *("changemechangeme", "AdminAdmin123", "headgate1234", "Headgate-2026", "jane.doe1234", "janedoewarehouse"),
        *("1qaz2wsx3edc", "qazwsxedcrfv", "zaq12wsxcde3", "123qweasdzxc", "asdfghjkl123", "1234567890ab"),
        *("0123456789ab", "112233445566", "Qazwsxedcrfv"),
        *("ｐａｓｓｗｏｒｄ1234", "trustno1trustno1", "monkey.dragon.123"),
    ],
)
def test_what_is_tried_first_is_refused(password: str) -> None:
    assert is_common(password, EMAIL)


@pytest.mark.parametrize(
    "password",
    [
        *("correct horse battery staple", "quiet-otter-39-lamps", "Tr0ub4dor&3 at noon", "ein langes Passwort!"),
        *("пароль для работы 7", "x7Gm2Qp9Lz4k", "my cat sleeps on routers", "password of the third kind"),
        *("748210395561940", "7482-1039-5561-9407"),
    ],
)
def test_ordinary_passwords_are_accepted_without_rules_of_composition(password: str) -> None:
    assert not is_common(password, EMAIL)


def test_the_longest_password_is_judged_in_a_bounded_number_of_steps() -> None:
    assert is_common("pass" * 64, EMAIL)
    assert not is_common("pass" * 63 + "zzzq", EMAIL)
