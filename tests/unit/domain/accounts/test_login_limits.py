"""For what a try of a password is counted."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.accounts.login_limits import WINDOW, LoginTry, network_of, window_end

NOW = datetime(2026, 1, 31, 12, 3, tzinfo=UTC)
TRY = LoginTry(account="a@example.com", source_address="192.0.2.7")


def kinds(login: LoginTry, *, known: bool) -> list[tuple[str, int]]:
    return [(limit.key.partition("/")[0], limit.maximum) for limit in login.limits(NOW, known=known)]


def test_a_try_from_an_unknown_network_counts_for_the_account_and_for_the_network() -> None:
    assert kinds(TRY, known=False) == [("network", 100), ("account-network", 10), ("account", 50)]


def test_a_try_from_a_known_network_is_limited_by_nothing_that_others_do() -> None:
    assert kinds(TRY, known=True) == [("account-network", 10)]


def test_a_try_with_a_session_counts_for_the_session_alone() -> None:
    with_session = LoginTry(account=TRY.account, source_address=TRY.source_address, session_id="hash")
    assert kinds(with_session, known=False) == [("session", 10)]


def test_an_account_that_is_attacked_is_slow_for_each_network_by_itself() -> None:
    one, other = (replace(TRY, source_address=address).limits(NOW, known=False)[-1] for address in ("192.0.2.7", "::1"))
    assert one.key == other.key
    assert one.then is not None
    assert other.then is not None
    assert one.then.key != other.then.key
    assert (one.then.maximum, one.then.pause) == (1, timedelta(minutes=1))


@pytest.mark.parametrize(
    ("login", "known", "shared_by_networks"),
    [(TRY, False, True), (TRY, True, False), (replace(TRY, session_id="hash"), False, True)],
)
def test_a_code_is_counted_for_an_hour_and_less_often_than_a_password(
    login: LoginTry, known: bool, shared_by_networks: bool
) -> None:
    limit = login.code_limit(NOW, known=known)
    elsewhere = replace(login, source_address="198.51.100.9").code_limit(NOW, known=known)
    assert (limit.maximum, limit.ends_at) == (10, NOW.replace(hour=13, minute=0))
    assert (limit.key == elsewhere.key) is shared_by_networks
    assert limit.wait(NOW) == timedelta(minutes=57)


def test_no_key_shows_the_address_of_the_person_or_of_the_network() -> None:
    for limit in TRY.limits(NOW, known=False):
        assert "example" not in limit.key
        assert "192" not in limit.key


def test_the_keys_change_with_the_window() -> None:
    assert window_end(NOW) == datetime(2026, 1, 31, 12, 5, tzinfo=UTC)
    assert window_end(window_end(NOW)) == window_end(NOW) + WINDOW
    for earlier, later in zip(TRY.limits(NOW, known=False), TRY.limits(window_end(NOW), known=False), strict=True):
        assert earlier.key != later.key
    before_the_end = window_end(NOW) - timedelta(microseconds=1)
    assert TRY.limits(NOW, known=True) == TRY.limits(before_the_end, known=True)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.7", "192.0.2.250", True),
        ("192.0.2.7", "192.0.3.7", False),
        ("::ffff:192.0.2.7", "192.0.2.9", True),
        ("2001:db8:0:ff00::1", "2001:db8:0:ffff::2", True),
        ("2001:db8:0:ff00::1", "2001:db8:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("", "", True),
        ("not an address", "another", False),
    ],
)
def test_a_network_is_what_one_customer_has(one: str, other: str, same: bool) -> None:
    assert (network_of(one) == network_of(other)) is same
