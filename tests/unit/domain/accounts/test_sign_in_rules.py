"""Who may sign in with a password, and who has to set up a second factor first."""

from dataclasses import replace

import pytest

from chalicelib.domain.accounts.sign_in_rules import SignInRules
from chalicelib.domain.accounts.user import SecondFactor, Session
from chalicelib.domain.credentials import Credentials
from tests.support.entities import NOW, make_user

OFF = SignInRules(password_login=False, first_admin="Root@example.com")
FACTOR = SecondFactor(id="f", credentials=Credentials(id="c"))
USER = make_user()
SESSION = Session(id="hash", user_id=USER.id, created_at=NOW, last_seen_at=NOW)


@pytest.mark.parametrize(
    ("email", "takes"), [("root@EXAMPLE.com", True), ("person@example.com", False), ("roo\u1d57@example.com", False)]
)
def test_without_passwords_only_the_first_admin_has_one(email: str, takes: bool) -> None:
    assert OFF.takes_password(email) is OFF.is_way_back(email) is takes
    assert not replace(OFF, first_admin=None).takes_password(email)


def test_with_passwords_everybody_has_one_and_nobody_needs_a_way_back() -> None:
    rules = replace(OFF, password_login=True)
    assert rules.takes_password("person@example.com")
    assert not rules.is_way_back("root@example.com")


@pytest.mark.parametrize(
    ("required", "via", "factor", "lacks"),
    [
        (True, "password", None, True),
        (True, "password", FACTOR, True),
        (True, "password", replace(FACTOR, confirmed_at=NOW), False),
        (True, "oidc", None, False),
        (False, "password", None, False),
    ],
)
def test_a_second_factor_is_required_of_passwords(
    required: bool, via: str, factor: SecondFactor | None, lacks: bool
) -> None:
    rules = SignInRules(second_factor_required=required)
    assert rules.lacks_second_factor(replace(USER, second_factor=factor), replace(SESSION, via=via)) is lacks
