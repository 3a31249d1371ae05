"""What a browser brings back from single sign-on, and what is refused, against a double of a provider."""

from dataclasses import replace

import pytest

from chalicelib.errors import RateLimited, Unauthenticated, Unavailable
from tests.support.apps.connect_worker import Reply
from tests.support.openid.client import running_double
from tests.support.openid.double import follow
from tests.support.openid.sign_on import SignOn, sign_on, to_callback

__all__ = ["running_double", "sign_on"]


def test_a_browser_that_did_not_start_here_is_refused(sign_on: SignOn) -> None:
    callback, ticket = sign_on.go()
    other = sign_on.service.start(sign_on.context()).ticket
    token, ends, signature = ticket.split(".")
    for presented in (
        *(None, "", "..", "a.b.c", other, f"{token}.{int(ends) + 600}.{signature}", f"{token}.{ends}.{signature}x"),
        *(f"{token}.{ends}", f"{other.split('.')[0]}.{ends}.{signature}", "é.1.é", "a.\ud800.b"),
    ):
        assert sign_on.refusal(callback, presented) == "not_started_here"
    for state in (None, "", "x", "é", "\ud800", (callback.state or "")[:-1]):
        assert sign_on.refusal(replace(callback, state=state), ticket) == "not_started_here"
    assert sign_on.double.count("POST", "/token") == 0
    assert sign_on.finish(callback, ticket).user.email == "alice@example.com"


def test_a_sign_in_may_take_ten_minutes_and_no_longer(sign_on: SignOn) -> None:
    (late, late_ticket), (early, early_ticket) = sign_on.go(), sign_on.go()
    sign_on.app.clock.advance(599)
    sign_on.finish(early, early_ticket)
    sign_on.app.clock.advance(1)
    assert sign_on.refusal(late, late_ticket) == "not_started_here"


def test_what_a_browser_brought_back_works_once(sign_on: SignOn) -> None:
    callback, ticket = sign_on.go()
    sign_on.finish(callback, ticket)
    assert sign_on.refusal(callback, ticket) == "code_refused"


def test_a_ticket_works_once_even_if_the_provider_gives_another_code_for_it(sign_on: SignOn) -> None:
    started = sign_on.service.start(sign_on.context())
    first, second = (to_callback(follow(started.url)) for _ in range(2))
    sign_on.finish(first, started.ticket)
    assert sign_on.refusal(second, started.ticket) == "used"
    assert len(sign_on.records("session.login")) == 2
    assert "used" in sign_on.reasons()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("access_denied", "declined"),
        ("server_error", "provider_error"),
        ("<script>", "provider_error"),
        ("", "provider_error"),
    ],
)
def test_an_error_of_the_provider_is_classified_and_not_repeated(sign_on: SignOn, error: str, reason: str) -> None:
    callback, ticket = sign_on.go()
    with pytest.raises(Unauthenticated) as raised:
        sign_on.finish(replace(callback, error=error), ticket)
    assert raised.value.details == {"reason": reason}
    assert "script" not in raised.value.message + str(sign_on.app.tables.rows("audit"))
    assert sign_on.double.count("POST", "/token") == 0


def test_a_callback_without_a_code_is_refused(sign_on: SignOn) -> None:
    callback, ticket = sign_on.go()
    for code in (None, ""):
        assert sign_on.refusal(replace(callback, code=code), ticket) == "provider_error"


def test_a_token_that_does_not_hold_is_refused_with_its_reason(sign_on: SignOn) -> None:
    sign_on.double.changes = {"nonce": "another"}
    refused = sign_on.refused("token_nonce", Unauthenticated)
    assert "Start again" in refused.message
    assert sign_on.users() == []


def test_a_provider_that_is_down_is_audited_and_said(sign_on: SignOn) -> None:
    callback, ticket = sign_on.go()
    sign_on.double.on("POST", "/token", Reply(503, "planted text"))
    with pytest.raises(Unavailable) as raised:
        sign_on.finish(callback, ticket)
    assert raised.value.code == "IDENTITY_PROVIDER_UNAVAILABLE"
    assert "planted" not in raised.value.message
    assert sign_on.reasons() == ["provider_unavailable"]


def test_a_refusal_is_audited_with_its_reason_and_the_address_that_it_came_from(sign_on: SignOn) -> None:
    callback, ticket = sign_on.go()
    assert sign_on.refusal(replace(callback, state="x"), ticket) == "not_started_here"
    [record] = sign_on.records("session.login")
    assert (record.outcome, record.actor_via) == ("denied", "oidc")
    assert record.after == {"reason": "not_started_here", "source_address": "203.0.113.7"}


def test_the_audit_trail_names_a_person_who_was_refused(sign_on: SignOn) -> None:
    sign_on.double.person["groups"] = []
    sign_on.refused("no_role")
    [record] = sign_on.records("session.login")
    assert record.actor_email == "alice@example.com"
    assert record.resource_id


def test_returns_that_fail_are_limited_for_each_network_and_logins_are_given_back(sign_on: SignOn) -> None:
    sign_on.double.changes = {"nonce": "another"}
    callback, ticket = sign_on.go()
    for _ in range(100):
        assert sign_on.refusal(callback, ticket)
    asked = sign_on.double.count("POST", "/token")
    with pytest.raises(RateLimited):
        sign_on.finish(callback, ticket)
    assert sign_on.double.count("POST", "/token") == asked
    elsewhere = replace(sign_on.context(), source_address="198.51.100.7")
    with pytest.raises(Unauthenticated):
        sign_on.service.finish(elsewhere, callback, ticket)


def test_logins_count_for_nothing(sign_on: SignOn) -> None:
    for _ in range(3):
        sign_on.sign_in()
    counters = [row for row in sign_on.app.tables.rows("login-tries") if "sign-on/" in str(row)]
    assert [int(row["tries"]) for row in counters] == [0]


def test_no_token_code_or_verifier_is_stored(sign_on: SignOn) -> None:
    callback, ticket = sign_on.go()
    sign_on.finish(callback, ticket)
    stored = "".join(
        str(sign_on.app.tables.rows(name)) for name in ("users", "sessions", "audit", "account-claims", "login-tries")
    )
    for secret in (callback.code, ticket.partition(".")[0], "access", sign_on.double.bodies):
        assert not secret or str(secret) not in stored
