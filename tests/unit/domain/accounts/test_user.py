"""When a session is valid, and how long an invite can be accepted."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.accounts.user import INVITED_FOR, Invite, Session, UserStatus, shown_user_agent
from tests.support.entities import NOW, make_user

USER = make_user()
SESSION = Session(id="hash", user_id=USER.id, created_at=NOW, last_seen_at=NOW)
SECOND, NEARLY_EIGHT_HOURS = timedelta(seconds=1), timedelta(hours=7, minutes=59)
USED = {"last_seen_at": NOW + NEARLY_EIGHT_HOURS}


@pytest.mark.parametrize(
    ("session", "user", "after", "valid"),
    [
        pytest.param({}, {}, timedelta(minutes=30) - SECOND, True, id="unused for less than half an hour"),
        pytest.param({}, {}, timedelta(minutes=30), False, id="unused for half an hour"),
        pytest.param(USED, {}, timedelta(hours=8) - SECOND, True, id="used for less than eight hours"),
        pytest.param(USED, {}, timedelta(hours=8), False, id="used for eight hours"),
        pytest.param({"user_id": "another"}, {}, SECOND, False, id="of another user"),
        pytest.param({}, {"session_generation": 2}, SECOND, False, id="of an earlier generation"),
        pytest.param({}, {"status": UserStatus.DISABLED}, SECOND, False, id="of a disabled user"),
    ],
)
def test_a_session_is_valid_while_it_is_used_and_its_user_is_active(
    session: dict[str, Any], user: dict[str, Any], after: timedelta, valid: bool
) -> None:
    assert replace(SESSION, **session).valid(replace(USER, **user), NOW + after) is valid


@pytest.mark.parametrize(
    ("status", "after", "is_open"),
    [
        pytest.param(UserStatus.INVITED, timedelta(hours=72) - SECOND, True, id="within 72 hours"),
        pytest.param(UserStatus.INVITED, timedelta(hours=72), False, id="after 72 hours"),
        pytest.param(UserStatus.ACTIVE, SECOND, False, id="of a user who has joined"),
        pytest.param(UserStatus.DISABLED, SECOND, False, id="of a disabled user"),
    ],
)
def test_an_invite_is_open_until_it_ends(status: UserStatus, after: timedelta, is_open: bool) -> None:
    invite = Invite(token_hash="hash", expires_at=NOW + INVITED_FOR)
    assert make_user(status=status, invite=invite).open_invite(NOW + after) == (invite if is_open else None)


def test_a_user_agent_is_kept_as_far_as_it_shows() -> None:
    assert shown_user_agent("Mozilla/5.0 (X11)") == "Mozilla/5.0 (X11)"
    assert shown_user_agent("A\x00\r\n\x1b[31m\u202eB\u200b") == "A[31mB"
    assert len(shown_user_agent("x" * 1000)) == 200


def test_the_public_id_of_a_session_is_no_part_of_its_id() -> None:
    assert SESSION.public_id == replace(SESSION, user_id="other").public_id
    assert SESSION.public_id != replace(SESSION, id="another hash").public_id
    assert SESSION.id not in SESSION.public_id
