"""The list of one's own sessions over HTTP, as the wire contract has it (section 9)."""

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid
from tests.support.apps.sandbox import PASSWORD, Api, Sandbox
from tests.support.waiting import eventually

FIELDS = {"id", "created_at", "last_used_at", "expires_at", "address", "user_agent", "current"}


@pytest.fixture
def email(sandbox: Sandbox) -> str:
    return str(sandbox.make_user("Viewer")[1])


def with_agent(sandbox: Sandbox, email: str, agent: str) -> Api:
    """Somebody who has signed in with a client that calls itself so."""
    api = sandbox.unauthenticated()
    answer = api.post("/auth/login", {"email": email, "password": PASSWORD}, headers={"User-Agent": agent})
    assert answer.status_code == 200
    return api


def test_people_see_where_they_are_signed_in(sandbox: Sandbox, email: str) -> None:
    first, second = with_agent(sandbox, email, "One/1"), with_agent(sandbox, email, "Two/2")
    listed = second.get_ok("/auth/sessions")
    assert [set(session) for session in listed] == [FIELDS, FIELDS]
    assert {session["user_agent"]: session["current"] for session in listed} == {"One/1": False, "Two/2": True}
    for session in listed:
        assert is_uuid(session["id"])
        assert all(is_timestamp(session[name]) for name in ("created_at", "last_used_at", "expires_at"))
        assert session["address"] == "127.0.0.1"
    assert {session["user_agent"]: session["current"] for session in first.get_ok("/auth/sessions")}["One/1"]


def test_one_session_is_ended_and_its_cookie_is_worth_nothing(sandbox: Sandbox, email: str) -> None:
    first, second = with_agent(sandbox, email, "One/1"), with_agent(sandbox, email, "Two/2")
    [other] = [session for session in second.get_ok("/auth/sessions") if not session["current"]]
    ended = second.delete(f"/auth/sessions/{other['id']}")
    assert (ended.status_code, ended.content) == (204, b"")
    assert (first.get("/session").status_code, second.get("/session").status_code) == (401, 200)
    assert [session["current"] for session in second.get_ok("/auth/sessions")] == [True]
    assert_error(second.delete(f"/auth/sessions/{other['id']}"), 404, "NOT_FOUND")


def test_all_others_are_ended(sandbox: Sandbox, email: str) -> None:
    others = [with_agent(sandbox, email, f"Other/{number}") for number in range(2)]
    api = with_agent(sandbox, email, "Mine/1")
    assert api.post("/auth/sessions/end-others").status_code == 204
    assert [other.get("/session").status_code for other in others] == [401, 401]
    assert [session["user_agent"] for session in api.get_ok("/auth/sessions")] == ["Mine/1"]


def test_sessions_of_others_do_not_exist(sandbox: Sandbox, email: str) -> None:
    api, stranger = sandbox.signed_in(email), sandbox.signed_in(sandbox.make_user("Viewer")[1])
    [foreign] = stranger.get_ok("/auth/sessions")
    for session_id in (foreign["id"], UNKNOWN_ID, "no-uuid"):
        assert_error(api.delete(f"/auth/sessions/{session_id}"), 404, "NOT_FOUND")
        assert_error(sandbox.admin.delete(f"/auth/sessions/{session_id}"), 404, "NOT_FOUND")
    assert stranger.get("/session").status_code == 200


def test_a_token_lists_them_and_none_is_the_current_one(sandbox: Sandbox, email: str) -> None:
    api = sandbox.signed_in(email)
    token = api.post_ok("/auth/tokens", {"name": sandbox.name("token"), "role": "Viewer"})["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    program = sandbox.unauthenticated()
    [session] = program.get("/auth/sessions", headers=bearer).json()
    assert session["current"] is False
    assert_error(program.delete(f"/auth/sessions/{session['id']}", headers=bearer), 403, "FORBIDDEN")
    assert_error(program.post("/auth/sessions/end-others", headers=bearer), 403, "FORBIDDEN")
    assert api.get("/session").status_code == 200


def test_a_user_agent_is_cut_and_shows_no_control_characters(sandbox: Sandbox, email: str) -> None:
    api = with_agent(sandbox, email, "A\tB" + "x" * 5000)
    shown = eventually(lambda: api.get_ok("/auth/sessions")[0]["user_agent"])
    assert shown.startswith("ABxxx")
    assert len(shown) == 200
