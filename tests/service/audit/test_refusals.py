"""The bound on records of refused requests, as the trail shows it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.access import Actor, RequestContext
from chalicelib.kit.ids import id_from
from chalicelib.services.audit import refusals
from tests.support.apps.in_process_app import ADMIN, InProcessApp

ANONYMOUS = Actor(id=None, email=None, role=None, via="anonymous")
Bounds = Callable[[int, int, int], None]


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> Bounds:
    """Sets other bounds: of a user, of an address, of all addresses."""

    def set_bounds(*numbers: int) -> None:
        for name, number in zip(("OF_USER", "OF_ADDRESS", "OF_ALL_ADDRESSES"), numbers, strict=True):
            monkeypatch.setattr(refusals, name, number)

    return set_bounds


def context(app: InProcessApp, actor: Actor = ANONYMOUS, address: str = "192.0.2.7") -> RequestContext:
    return replace(app.context(), actor=actor, source_address=address)


def refuse(app: InProcessApp, count: int, actor: Actor = ANONYMOUS, address: str = "192.0.2.7") -> None:
    for _ in range(count):
        one = context(app, actor, address)
        app.services.audit.record_refusal(one, "source.read", None, reason="unauthenticated")


def records(app: InProcessApp) -> list[Any]:
    """What the records of refusals say, oldest first."""
    page = app.services.audit.list(limit=500)
    return [record.after for record in reversed(page.items) if record.outcome == "denied"]


def test_each_refusal_has_a_record_with_its_reason_and_the_address_that_it_came_from(app: InProcessApp) -> None:
    refuse(app, 3)
    assert records(app) == [{"reason": "unauthenticated", "source_address": "192.0.2.7"}] * 3


def test_behind_the_bound_of_a_user_there_is_a_record_each_time_that_the_number_has_doubled(
    app: InProcessApp, bounds: Bounds
) -> None:
    bounds(5, 5, 5)
    refuse(app, 900, ADMIN)
    counted = sorted(record.get("refusals", 0) for record in records(app))
    assert counted[:5] == [0] * 5
    for number, mark in zip(counted[5:], (200, 400, 800), strict=True):
        assert mark <= number < mark + 50


def test_after_ten_minutes_each_refusal_has_a_record_again(app: InProcessApp, bounds: Bounds) -> None:
    bounds(2, 2, 2)
    refuse(app, 10)
    app.clock.advance(600)
    refuse(app, 10)
    assert len(records(app)) == 4


def test_several_processes_share_one_bound(app: InProcessApp, bounds: Bounds) -> None:
    bounds(5, 5, 5)
    for _ in range(8):
        refuse(app, 2, ADMIN)
        app.restart()
    assert len(records(app)) == 5


def test_callers_from_many_addresses_share_one_bound_and_do_not_use_up_that_of_a_user(
    app: InProcessApp, bounds: Bounds
) -> None:
    bounds(4, 3, 10)
    for number in range(20):
        refuse(app, 5, address=f"192.0.2.{number}")
    assert len(records(app)) == 10
    refuse(app, 9, ADMIN)
    assert len(records(app)) == 14


def test_a_flood_costs_one_write_for_fifty_requests(app: InProcessApp, bounds: Bounds) -> None:
    bounds(2, 2, 2)
    refuse(app, 2)
    app.interceptor.watch()
    refuse(app, 100)
    points = app.interceptor.unwatch()
    assert len([point for point in points if point.writes]) <= 3


@pytest.fixture
def flooded(app: InProcessApp, bounds: Bounds) -> InProcessApp:
    """Refusals from many addresses have used up the bounds of all of them."""
    bounds(9, 3, 10)
    for number in range(20):
        refuse(app, 5, address=f"192.0.2.{number}")
    return app


def fail_sign_ins(
    app: InProcessApp, count: int, account: str | None, *, address: str = "192.0.2.7", reason: str = "wrong_password"
) -> int:
    """So many failed sign-ins; how many records they leave."""
    before = len(records(app))
    for _ in range(count):
        refused = context(app, address=address)
        app.services.audit.record_refusal(refused, "session.login", account, reason=reason)
    return len(records(app)) - before


def test_ten_failed_sign_ins_of_an_account_are_recorded_whatever_the_flood(flooded: InProcessApp) -> None:
    ada, grace = id_from("user", "ada"), id_from("user", "grace")
    assert fail_sign_ins(flooded, 4, ada) == 4
    assert fail_sign_ins(flooded, 16, ada, address="198.51.100.9") == 6
    assert fail_sign_ins(flooded, 16, grace) == 10
    flooded.clock.advance(600)
    assert fail_sign_ins(flooded, 1, ada) == 1


def test_failed_sign_ins_without_an_account_have_no_bound_of_their_own(flooded: InProcessApp) -> None:
    assert fail_sign_ins(flooded, 20, None) == 0


def test_tries_that_were_not_looked_at_have_no_bound_of_their_own(flooded: InProcessApp) -> None:
    assert fail_sign_ins(flooded, 20, id_from("user", "ada"), reason="throttled") == 0


def test_behind_the_bounds_a_failed_sign_in_makes_the_same_calls_with_and_without_an_account(
    flooded: InProcessApp,
) -> None:
    calls = []
    for account in (id_from("user", "ada"), None, id_from("user", "ada"), None):
        fail_sign_ins(flooded, 1, account)  # counts in memory what is counted by fifties
        flooded.interceptor.watch()
        refused = context(flooded)
        flooded.services.audit.record_refusal(refused, "session.login", account, reason="wrong_password")
        calls.append([point.operation for point in flooded.interceptor.unwatch()])
    assert calls == [["UpdateItem", "TransactWriteItems"]] * 4
