"""The permission matrix: every route with every kind of caller."""

from tests.security.authorization import (
    cells,
    declared,
    foreign_tokens_reached,
    reviewed,
    unlisted_route_is_refused,
)
from tests.support.apps.sandbox import Sandbox


def test_every_route_has_the_permission_that_was_reviewed() -> None:
    assert declared() == reviewed()


def test_a_route_without_a_permission_cannot_be_declared() -> None:
    assert unlisted_route_is_refused()


def test_a_session_that_lacks_a_second_factor_may_set_one_up_look_at_itself_and_end() -> None:
    from app import lazy_routes

    assert {f"{route.method} {path}" for path, route in lazy_routes if route.before_second_factor} == {
        "POST /api/v1/auth/totp",
        "POST /api/v1/auth/totp/confirm",
        "DELETE /api/v1/auth/totp",
        "GET /api/v1/session",
        "GET /api/v1/auth/session",
        "POST /api/v1/auth/logout",
    }


def test_every_caller_is_let_through_or_refused_as_decided(sandbox: Sandbox) -> None:
    measured = list(cells(sandbox))
    assert len(measured) >= len(reviewed()) * 11
    assert [cell for cell in measured if cell.actual != cell.expected] == []


def test_nobody_reaches_the_token_of_another_user(sandbox: Sandbox) -> None:
    assert foreign_tokens_reached(sandbox) == 0
