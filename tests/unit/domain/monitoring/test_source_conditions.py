"""What the health of sources and destinations means for incidents."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.health import Health
from chalicelib.domain.monitoring.source_conditions import CODES, health_signals
from chalicelib.domain.monitoring.source_state import FindingCode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEALTHY, UNKNOWN = Health.healthy(NOW), Health()


def failed(code: str) -> Health:
    return Health.unhealthy(NOW, code, "It does not answer.")


def signals(before: Health, after: Health, kind: str = "source") -> tuple[set[str], set[str]]:
    """The codes of what begins, and of what ends."""
    found = health_signals(kind, "id", "orders", before, after, "c")
    began = {one.condition.code for one in found if one.began}
    return began, {one.condition.code for one in found if not one.began}


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ("source", "AUTHENTICATION_FAILED", "SOURCE_AUTH_FAILED"),
        ("source", "ACCESS_NOT_ALLOWED", "SOURCE_AUTH_FAILED"),
        ("source", "CONNECTION_REFUSED", "SOURCE_CONNECTION_FAILED"),
        ("source", "HOST_NOT_FOUND", "SOURCE_CONNECTION_FAILED"),
        ("source", "NOT_ACCEPTING_CONNECTIONS", "SOURCE_DATABASE_UNAVAILABLE"),
        ("source", "DATABASE_NOT_FOUND", "SOURCE_DATABASE_UNAVAILABLE"),
        ("source", "A_NEW_CODE", "SOURCE_CONNECTION_FAILED"),
        ("destination", "AUTHENTICATION_FAILED", "DESTINATION_AUTH_FAILED"),
        ("destination", "TOO_MANY_CONNECTIONS", "DESTINATION_CONNECTION_FAILED"),
    ],
)
def test_a_failed_connection_is_a_condition_by_its_cause(kind: str, code: str, expected: str) -> None:
    assert signals(HEALTHY, failed(code), kind)[0] == {expected}


def test_another_cause_ends_the_condition_of_the_former_one() -> None:
    began, ended = signals(failed("CONNECTION_REFUSED"), failed("AUTHENTICATION_FAILED"))
    assert began == {"SOURCE_AUTH_FAILED"}
    assert ended == {"SOURCE_CONNECTION_FAILED", "SOURCE_DATABASE_UNAVAILABLE"}


@pytest.mark.parametrize("before", [UNKNOWN, failed("CONNECTION_REFUSED")])
def test_a_connection_that_works_ends_all(before: Health) -> None:
    began, ended = signals(before, HEALTHY)
    assert began == set()
    assert ended == {"SOURCE_CONNECTION_FAILED", "SOURCE_AUTH_FAILED", "SOURCE_DATABASE_UNAVAILABLE"}


@pytest.mark.parametrize(("before", "after"), [(HEALTHY, HEALTHY), (failed("X"), UNKNOWN), (HEALTHY, UNKNOWN)])
def test_what_is_still_well_or_not_known_says_nothing(before: Health, after: Health) -> None:
    assert signals(before, after) == (set(), set())


def test_every_finding_about_a_capture_has_a_code() -> None:
    assert CODES.keys() == set(FindingCode) - {FindingCode.SOURCE_UNREACHABLE}
