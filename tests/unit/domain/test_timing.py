"""The relations that `domain/timing.py` promises, also to the constants that are derived from it elsewhere."""

from chalicelib.domain import idempotency
from chalicelib.domain.connectors import cluster_view
from chalicelib.domain.timing import (
    API_FUNCTION,
    FUNCTION,
    LOOKED_AT_FOR,
    MINUTE,
    OBSERVED_FOR,
    OPERATION_LEASE,
    REQUEST,
    TICK,
    WORKER,
)
from chalicelib.schedules import entry as schedules
from chalicelib.services import credentials, jobs
from chalicelib.services.alerts import attempt
from chalicelib.workers import entry as workers


def test_a_request_ends_before_its_function_and_its_leases() -> None:
    assert REQUEST < API_FUNCTION < idempotency.LEASE
    assert REQUEST < OPERATION_LEASE
    assert 2 * REQUEST < credentials.GRANTED


def test_a_worker_ends_before_its_function_and_its_lease() -> None:
    assert WORKER < FUNCTION <= jobs.LEASE
    assert attempt.LEASE < WORKER
    assert max(workers._TICK_SECONDS, workers._CHECK_SECONDS) < WORKER.total_seconds()


def test_what_is_looked_at_in_time_never_counts_as_unknown() -> None:
    assert cluster_view.MAX_LOOK_PAUSE + 2 * TICK < OBSERVED_FOR
    # Health that has not changed is written when it is half as old: one look more, and that may come a minute late.
    assert LOOKED_AT_FOR / 2 + 2 * MINUTE < LOOKED_AT_FOR


def test_a_dispatch_ends_before_the_next_one_begins() -> None:
    assert MINUTE.total_seconds() > schedules._DISPATCH_SECONDS
    assert not MINUTE % TICK
