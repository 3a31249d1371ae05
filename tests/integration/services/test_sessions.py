"""Sessions over time, which only a clock of the test's own can show."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.user import UserStatus
from chalicelib.errors import Unauthenticated
from chalicelib.kit.masking import Secret
from chalicelib.stores.transaction import Transaction
from tests.support.in_process_app import House

PASSWORD = Secret("correct horse battery staple")


@pytest.fixture
def cookie(house: House) -> str:
    """The cookie of an Admin who has just signed in."""
    house.services.sessions.install_admin("admin@example.com", PASSWORD)
    made = house.services.sessions.login(house.call(), "admin@example.com", PASSWORD)
    assert made.token is not None
    return made.token.reveal()


def test_a_session_that_is_not_used_for_half_an_hour_is_over(house: House, cookie: str) -> None:
    house.clock.advance(30 * 60 - 1)
    house.services.sessions.signed_in(cookie)
    house.clock.advance(30 * 60)
    with pytest.raises(Unauthenticated):
        house.services.sessions.signed_in(cookie)


def test_a_session_that_is_used_lasts_eight_hours_and_no_longer(house: House, cookie: str) -> None:
    began = house.clock.now
    for _ in range(8 * 3 - 1):
        house.clock.advance(20 * 60)
        house.services.sessions.signed_in(cookie)
    last = house.services.sessions.signed_in(cookie)
    assert last.session.expires_at() == began + timedelta(hours=8)
    house.clock.advance(20 * 60)
    with pytest.raises(Unauthenticated):
        house.services.sessions.signed_in(cookie)


def test_a_session_survives_a_restart_and_its_token_is_stored_nowhere(house: House, cookie: str) -> None:
    house.restart()
    assert house.services.sessions.signed_in(cookie).user.email == "admin@example.com"
    for table in ("sessions", "users", "audit"):
        assert cookie.partition(".")[2] not in str(house.tables.rows(table))


def test_a_disabled_user_is_signed_out_at_once(house: House, cookie: str) -> None:
    users = house.services.stores.users
    user = house.services.sessions.signed_in(cookie).user
    transaction = Transaction()
    users.save(transaction, replace(user, status=UserStatus.DISABLED))
    transaction.commit()
    with pytest.raises(Unauthenticated):
        house.services.sessions.signed_in(cookie)


def test_the_first_admin_is_made_once_and_never_reset(house: House, cookie: str) -> None:
    house.services.sessions.install_admin(" Admin@Example.com ", Secret("another password altogether"))
    with pytest.raises(Unauthenticated):
        house.services.sessions.login(house.call(), "admin@example.com", Secret("another password altogether"))
    assert house.services.sessions.login(house.call(), "admin@example.com", PASSWORD).token
