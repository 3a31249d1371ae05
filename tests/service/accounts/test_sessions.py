"""Sessions over time, and who may sign in."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from cryptography.hazmat.primitives.kdf import argon2
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from chalicelib.api.framework.authentication import SessionAuthenticator
from chalicelib.domain.access import RequestContext, Role
from chalicelib.domain.accounts.user import UserStatus
from chalicelib.domain.audit.record import Outcome
from chalicelib.errors import Unauthenticated
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.services.accounts.sessions import actor_of
from tests.security.sessions import ENDS, ends
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp

BACKGROUND = "x-headgate-background"
PASSWORD = Secret("correct horse battery staple")


@pytest.fixture
def cookie(app: InProcessApp) -> str:
    """The cookie of an Admin who has just signed in."""
    app.services.users.install_admin("admin@example.com", PASSWORD)
    made = app.services.sessions.login(app.context(), "admin@example.com", PASSWORD)
    assert made.token is not None
    return made.token.reveal()


def _context_of(app: InProcessApp, cookie: str) -> RequestContext:
    signed_in = app.services.sessions.signed_in(cookie)
    return replace(app.context(), actor=actor_of(signed_in.user, signed_in.session))


@pytest.mark.parametrize("end", ENDS)
def test_a_session_is_over_at_the_request_after_its_end(app: InProcessApp, end: str) -> None:
    assert ends(app, ENDS[end])


def test_a_session_survives_a_restart_and_its_token_is_stored_nowhere(app: InProcessApp, cookie: str) -> None:
    app.restart()
    assert app.services.sessions.signed_in(cookie).user.email == "admin@example.com"
    for table in ("sessions", "users", "audit"):
        assert cookie.partition(".")[2] not in str(app.tables.rows(table))


def test_the_first_admin_is_made_once_and_never_reset(app: InProcessApp, cookie: str) -> None:
    app.services.users.install_admin(" Admin@Example.com ", Secret("another password altogether"))
    with pytest.raises(Unauthenticated):
        app.services.sessions.login(app.context(), "admin@example.com", Secret("another password altogether"))
    assert app.services.sessions.login(app.context(), "admin@example.com", PASSWORD).token


def test_another_spelling_of_the_address_is_the_same_account(app: InProcessApp, cookie: str) -> None:
    other = app.services.sessions.login(app.context(), "ADMIN@example.com", PASSWORD)
    assert other.user.id == app.services.sessions.signed_in(cookie).user.id


@pytest.mark.parametrize("email", ["admin@example.com", "nobody@example.com"])
def test_a_refused_login_is_one_error_and_is_audited(app: InProcessApp, cookie: str, email: str) -> None:
    with pytest.raises(Unauthenticated) as refused:
        app.services.sessions.login(app.context(), email, Secret("wrong"))
    assert refused.value.code == "INVALID_CREDENTIALS"
    denied = [row for row in app.tables.rows("audit") if '"denied"' in row["body"]]
    assert [json.loads(row["body"])["action"] for row in denied] == ["session.login"]


def test_the_record_of_a_sign_in_has_the_address_that_it_came_from(app: InProcessApp, cookie: str) -> None:
    app.clock.advance(1)
    context = replace(app.context(), source_address="192.0.2.7")
    app.services.sessions.login(context, "admin@example.com", PASSWORD)
    (record,) = app.services.audit.list(limit=1).items
    assert (record.action, record.outcome) == ("session.login", Outcome.SUCCESS)
    assert record.after == {"via": "password", "source_address": "192.0.2.7"}


@pytest.mark.parametrize("cookie", ["", ".", "x.y", "3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11.token"])
def test_an_unknown_cookie_authenticates_nobody(app: InProcessApp, cookie: str) -> None:
    with pytest.raises(Unauthenticated):
        app.services.sessions.signed_in(cookie)


def test_a_use_is_written_down_once_a_minute(app: InProcessApp, cookie: str) -> None:
    for seconds, written in ((59, False), (1, True), (1, False)):
        app.clock.advance(seconds)
        app.interceptor.watch()
        app.services.sessions.signed_in(cookie)
        assert any(point.writes for point in app.interceptor.unwatch()) is written


def test_what_a_page_asks_by_itself_is_written_down_nowhere_and_keeps_no_session(
    app: InProcessApp, cookie: str
) -> None:
    end = app.services.sessions.signed_in(cookie).session.expires_at()
    for _ in range(29):
        app.clock.advance(60)
        app.interceptor.watch()
        seen = app.services.sessions.signed_in(cookie, counts_as_use=False)
        assert not any(point.writes for point in app.interceptor.unwatch())
        assert seen.session.expires_at() == end
    app.clock.advance(60)
    with pytest.raises(Unauthenticated):
        app.services.sessions.signed_in(cookie, counts_as_use=False)


@pytest.mark.parametrize(("header", "kept"), [({}, True), ({BACKGROUND: "1"}, False), ({BACKGROUND: "0"}, True)])
def test_the_header_says_that_a_page_asks_by_itself(
    app: InProcessApp, cookie: str, header: dict[str, str], kept: bool
) -> None:
    authenticator = SessionAuthenticator(
        sessions=lambda: app.services.sessions,
        api_tokens=lambda: app.services.api_tokens,
        service_credential_hash={},
    )
    headers = {"cookie": f"headgate_session={cookie}", "host": "127.0.0.1"} | header
    began = app.clock.now
    app.clock.advance(600)
    actor = authenticator.authenticate(headers, "GET")
    assert actor.idle_expires_at == (app.clock.now if kept else began) + timedelta(minutes=30)
    assert actor.expires_at == began + timedelta(hours=8)


def test_a_session_that_ends_while_it_is_used_answers_once_more_and_stays_ended(app: InProcessApp, cookie: str) -> None:
    app.clock.advance(60)
    app.interceptor.before_first_write(lambda: app.services.sessions.logout(_context_of(app, cookie)))
    app.services.sessions.signed_in(cookie)
    with pytest.raises(Unauthenticated):
        app.services.sessions.signed_in(cookie)


def test_the_first_password_may_be_given_as_its_hash(app: InProcessApp) -> None:
    app.services.users.install_admin("hashed@example.com", Secret(hash_password(PASSWORD)))
    signed_in = app.services.sessions.login(app.context(), "hashed@example.com", PASSWORD)
    assert signed_in.user.role is Role.ADMIN


def test_a_refused_login_does_not_end_the_session_whose_cookie_came_with_it(app: InProcessApp, cookie: str) -> None:
    with pytest.raises(Unauthenticated):
        app.services.sessions.login(app.context(), "admin@example.com", Secret("wrong"), replaces=cookie)
    assert app.services.sessions.signed_in(cookie)


@pytest.mark.parametrize("cookie", ["", ".", "x.y", "nonsense"])
def test_a_cookie_of_no_session_does_not_hinder_a_login(app: InProcessApp, cookie: str) -> None:
    app.services.users.install_admin("admin@example.com", PASSWORD)
    assert app.services.sessions.login(app.context(), "admin@example.com", PASSWORD, replaces=cookie).token


def _change_user_once(app: InProcessApp, **changes: Any) -> None:
    """Changes the Admin just before the next session is written."""
    users = app.services.stores.accounts.users
    app.interceptor.before_first_write(lambda: users.save_alone(replace(users.list(limit=1).items[0], **changes)))


def test_a_login_beside_another_one_hashes_no_second_time(
    app: InProcessApp, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes: list[str | None] = []
    verify = Argon2id.verify_phc_encoded

    class Counted:
        @staticmethod
        def verify_phc_encoded(password: bytes, hashed: str) -> None:
            hashes.append(hashed)
            verify(password, hashed)

    monkeypatch.setattr(argon2, "Argon2id", Counted)
    _change_user_once(app, last_login_at=app.clock.now)
    assert app.services.sessions.login(app.context(), "admin@example.com", PASSWORD).token
    assert len(hashes) == 1


@pytest.mark.parametrize("changes", [{"status": UserStatus.DISABLED}, {"password_hash": "$argon2id$another"}])
def test_who_is_disabled_or_changes_the_password_during_a_login_is_not_signed_in_by_it(
    app: InProcessApp, cookie: str, changes: dict[str, Any]
) -> None:
    _change_user_once(app, **changes)
    with pytest.raises(Unauthenticated) as refused:
        app.services.sessions.login(app.context(), "admin@example.com", PASSWORD)
    assert refused.value.code == "INVALID_CREDENTIALS"


def test_who_was_disabled_since_the_request_came_gets_no_new_password(app: InProcessApp, cookie: str) -> None:
    context, user = _context_of(app, cookie), app.services.sessions.signed_in(cookie).user
    disabled = replace(user, status=UserStatus.DISABLED, session_generation=user.session_generation + 1)
    app.services.stores.accounts.users.save_alone(disabled)
    with pytest.raises(Unauthenticated):
        app.services.sessions.change_password(context, PASSWORD, Secret("nine loud bells at dawn"))


def test_a_request_does_not_fail_because_its_time_could_not_be_stored(app: InProcessApp, cookie: str) -> None:
    def no_writes(point: Point, send: InterceptedCall) -> object:
        if point.writes:
            raise ClientError({"Error": {"Code": "ProvisionedThroughputExceededException"}}, point.operation)
        return send()

    app.clock.advance(120)
    app.interceptor.watch(no_writes)
    assert app.services.sessions.signed_in(cookie).user.email == "admin@example.com"
