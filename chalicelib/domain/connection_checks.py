"""The outcome of a connection test of any kind of system."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.health import HealthRecord


class CheckStatus(StrEnum):
    """How one check of a connection test ended."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCheck:
    """One step of a connection test. `code` is stable, and null on success; `message` is for people."""

    __test__ = False

    name: str
    status: CheckStatus
    code: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The outcome of a connection test; a database that refuses is a result, not an error."""

    __test__ = False

    success: bool
    checks: tuple[TestCheck, ...]
    server_version: str | None
    latency_ms: int | None


def health_after(result: TestResult, *, now: datetime) -> HealthRecord:
    """What a connection test says about a system's health."""
    failed = next((check for check in result.checks if check.status is CheckStatus.FAILED), None)
    if failed is None:
        return HealthRecord.healthy(now)
    return HealthRecord.unhealthy(now, failed.code or "FAILED", failed.message)
