from dataclasses import replace
from datetime import UTC, datetime

from chalicelib.domain.connection_checks import CheckStatus, TestCheck, TestResult, health_after
from chalicelib.domain.health import HealthStatus

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def result(*checks: TestCheck) -> TestResult:
    return TestResult(success=False, checks=checks, server_version=None, latency_ms=None)


def test_the_first_failed_check_decides_the_health() -> None:
    passed = TestCheck(name="resolve", status=CheckStatus.SUCCESS, code=None, message="")
    failed = TestCheck(name="connect", status=CheckStatus.FAILED, code="CONNECTION_REFUSED", message="Refused.")
    assert health_after(result(passed), now=NOW).status is HealthStatus.HEALTHY
    health = health_after(result(passed, failed, replace(failed, code="LATER")), now=NOW)
    assert (health.status, health.checked_at) == (HealthStatus.UNHEALTHY, NOW)
    assert "CONNECTION_REFUSED" in str(health)
