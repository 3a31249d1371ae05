"""Sessions are read together with their user, and an ended session never returns."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.accounts.user import Session
from chalicelib.stores.accounts.claims import AccountClaims
from chalicelib.stores.accounts.sessions import Sessions
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage
from tests.support.entities import NOW, make_user

USER = make_user(id="user")
SESSION = Session(id="hash", user_id=USER.id, created_at=NOW, last_seen_at=NOW)
USED = replace(SESSION, last_seen_at=NOW + timedelta(minutes=5))


@pytest.fixture
def sessions(storage: Storage) -> Sessions:
    users = Users(AccountClaims())
    sessions, transaction = Sessions(users), Transaction()
    users.put_new(transaction, USER)
    sessions.put_new(transaction, SESSION)
    transaction.commit()
    return sessions


def delete(sessions: Sessions) -> None:
    with Transaction() as transaction:
        sessions.delete(transaction, SESSION.id)


def test_a_session_is_found_with_its_user_in_one_call(sessions: Sessions, storage: Storage) -> None:
    storage.interceptor.watch()
    assert sessions.find(SESSION.id, USER.id) == (SESSION, USER)
    assert len(storage.interceptor.unwatch()) == 1


@pytest.mark.parametrize(("token_hash", "user_id"), [("other", "user"), ("hash", "other"), ("", ""), ("hash", "")])
def test_a_session_of_another_user_or_token_is_none(sessions: Sessions, token_hash: str, user_id: str) -> None:
    assert sessions.find(token_hash, user_id) is None


def test_its_last_use_is_kept(sessions: Sessions) -> None:
    sessions.touch(USED)
    assert sessions.find(SESSION.id, USER.id) == (USED, USER)


def test_a_deleted_session_does_not_come_back_when_it_is_touched(sessions: Sessions) -> None:
    delete(sessions)
    delete(sessions)
    sessions.touch(USED)
    assert sessions.find(SESSION.id, USER.id) is None


def test_a_row_expires_when_its_session_ends_for_good(sessions: Sessions, storage: Storage) -> None:
    (row,) = storage.tables.rows("sessions")
    assert row["expires_at"] == int((NOW + timedelta(hours=8)).timestamp())
