"""What the health of sources and destinations means for incidents."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.health import HealthRecord
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.source_conditions import CODES, capture_conditions, health_change
from chalicelib.domain.monitoring.source_state import Finding, FindingCode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEALTHY, UNKNOWN = HealthRecord.healthy(NOW), HealthRecord()


def failed(code: str) -> HealthRecord:
    return HealthRecord.unhealthy(NOW, code, "It does not answer.")


def codes(before: HealthRecord, after: HealthRecord, kind: str = "source") -> tuple[set[str], set[str]]:
    """The codes of what begins, and of what ends."""
    change = health_change(kind, "id", "orders", before, after)
    began, ended = (change.began, change.ended) if change else ((), ())
    return {condition.code for condition in began}, {condition.code for condition in ended}


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ("source", "AUTHENTICATION_FAILED", "SOURCE_AUTH_FAILED"),
        ("source", "ACCESS_NOT_ALLOWED", "SOURCE_AUTH_FAILED"),
        ("source", "CONNECTION_REFUSED", "SOURCE_CONNECTION_FAILED"),
        ("source", "HOST_NOT_FOUND", "SOURCE_CONNECTION_FAILED"),
        ("source", "NOT_ACCEPTING_CONNECTIONS", "SOURCE_DATABASE_UNAVAILABLE"),
        ("source", "DATABASE_NOT_FOUND", "SOURCE_DATABASE_UNAVAILABLE"),
        ("source", "PERMISSION_DENIED", "CDC_PERMISSION_ERROR"),
        ("source", "A_NEW_CODE", "SOURCE_CONNECTION_FAILED"),
        ("destination", "AUTHENTICATION_FAILED", "DESTINATION_AUTH_FAILED"),
        ("destination", "SECRET_KEY_WRONG", "DESTINATION_AUTH_FAILED"),
        ("destination", "PERMISSION_DENIED", "DESTINATION_WRITE_FAILED"),
        ("destination", "MULTIPART_DENIED", "DESTINATION_WRITE_FAILED"),
        ("destination", "BUCKET_NOT_FOUND", "DESTINATION_CONNECTION_FAILED"),
        ("destination", "TOO_MANY_CONNECTIONS", "DESTINATION_CONNECTION_FAILED"),
    ],
)
def test_a_failed_connection_is_a_condition_by_its_cause(kind: str, code: str, expected: str) -> None:
    assert codes(HEALTHY, failed(code), kind)[0] == {expected}


def test_another_cause_ends_the_condition_of_the_former_one() -> None:
    began, ended = codes(failed("CONNECTION_REFUSED"), failed("AUTHENTICATION_FAILED"))
    assert began == {"SOURCE_AUTH_FAILED"}
    assert ended == {"SOURCE_CONNECTION_FAILED", "SOURCE_DATABASE_UNAVAILABLE", "CDC_PERMISSION_ERROR"}


@pytest.mark.parametrize("before", [UNKNOWN, failed("CONNECTION_REFUSED")])
def test_a_connection_that_works_ends_all(before: HealthRecord) -> None:
    began, ended = codes(before, HEALTHY)
    assert began == set()
    assert ended == {
        *("SOURCE_CONNECTION_FAILED", "SOURCE_AUTH_FAILED", "SOURCE_DATABASE_UNAVAILABLE", "CDC_PERMISSION_ERROR")
    }


@pytest.mark.parametrize(("before", "after"), [(HEALTHY, HEALTHY), (failed("X"), UNKNOWN), (HEALTHY, UNKNOWN)])
def test_what_is_still_well_or_not_known_says_nothing(before: HealthRecord, after: HealthRecord) -> None:
    assert codes(before, after) == (set(), set())


def test_every_finding_has_a_code_but_those_whose_provider_names_it() -> None:
    of_providers = {FindingCode.LOG_POSITION_MISSING, FindingCode.NOT_READ}
    of_targets = {FindingCode.DESTINATION_UNREACHABLE, FindingCode.TARGET_REPLACED}
    assert CODES.keys() == set(FindingCode) - {FindingCode.SOURCE_UNREACHABLE, *of_providers, *of_targets}


def test_the_code_that_a_provider_names_is_that_of_the_condition() -> None:
    finding = Finding(code=FindingCode.NOT_READ, message="m", condition=ConditionCode.CDC_BINLOG_ERROR)
    assert [condition.code for condition in capture_conditions("p", [finding])] == [ConditionCode.CDC_BINLOG_ERROR]
