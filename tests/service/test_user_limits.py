"""How many tests and previews of one user run at a time, in all processes."""

from contextlib import ExitStack
from datetime import timedelta

import pytest

from chalicelib.domain.live_reads import LEASE
from chalicelib.errors import RateLimited
from chalicelib.services.user_limits import MAX_TESTS
from tests.service.test_live_reads import context_of
from tests.support.apps.in_process_app import InProcessApp


def test_ten_tests_of_a_user_run_at_a_time_in_all_processes(app: InProcessApp) -> None:
    with ExitStack() as running:
        for _ in range(MAX_TESTS):
            running.enter_context(app.services.limits.test(context_of("ops")))
        app.restart()
        with pytest.raises(RateLimited) as refused, app.services.limits.test(context_of("ops")):
            pass
        with app.services.limits.test(context_of("another")):
            pass
    assert (refused.value.code, refused.value.retry_after_seconds) == ("RATE_LIMITED", 2)
    with app.services.limits.test(context_of("ops")):
        pass


def test_a_test_that_failed_has_ended(app: InProcessApp) -> None:
    for _ in range(MAX_TESTS + 1):
        with pytest.raises(ZeroDivisionError), app.services.limits.test(context_of("ops")):
            raise ZeroDivisionError


def test_tests_of_a_process_that_died_end(app: InProcessApp) -> None:
    for number in range(MAX_TESTS):
        assert app.services.limits.leases.take(f"test/ops/{number}", app.clock())
    app.clock.advance(LEASE.total_seconds())
    with app.services.limits.test(context_of("ops")):
        pass


def test_one_of_a_user_and_a_key_is_let_through_in_its_time(app: InProcessApp) -> None:
    every, pace = timedelta(seconds=5), app.services.limits.pace
    pace(context_of("ops"), "chat", every)
    for seconds in (0, 4.9):
        app.clock.advance(seconds)
        with pytest.raises(RateLimited) as refused:
            pace(context_of("ops"), "chat", every)
        assert refused.value.retry_after_seconds == 5
    pace(context_of("ops"), "bot", every)
    pace(context_of("another"), "chat", every)
    app.clock.advance(0.1)
    pace(context_of("ops"), "chat", every)
    with pytest.raises(RateLimited):
        pace(context_of("ops"), "chat", every)
