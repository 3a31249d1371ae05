"""The story that a connection test tells: which step went well, which failed, which was never reached."""

from chalicelib.clients.databases.postgresql.errors import DatabaseFailure, Step
from chalicelib.domain.database import CheckStatus, TestCheck, TestResult

_DONE = {
    Step.CONNECT: "The server can be reached.",
    Step.AUTHENTICATE: "The server accepts the user name and the password.",
    Step.DATABASE: "The database exists and can be used.",
    Step.READ: "The catalog can be read.",
}


def succeeded(server_version: str, latency_ms: int) -> TestResult:
    """Every step went well."""
    checks = tuple(TestCheck(name=step, status=CheckStatus.SUCCESS, code=None, message=_DONE[step]) for step in Step)
    return TestResult(success=True, checks=checks, server_version=server_version, latency_ms=latency_ms)


def failed(failure: DatabaseFailure) -> TestResult:
    """The steps before the failing one went well, those after it were not tried."""
    checks: list[TestCheck] = []
    reached = False
    for step in Step:
        if step is failure.step:
            checks.append(TestCheck(name=step, status=CheckStatus.FAILED, code=failure.code, message=failure.message))
            reached = True
        elif reached:
            checks.append(TestCheck(name=step, status=CheckStatus.SKIPPED, code=None, message="Not tried."))
        else:
            checks.append(TestCheck(name=step, status=CheckStatus.SUCCESS, code=None, message=_DONE[step]))
    return TestResult(success=False, checks=tuple(checks), server_version=None, latency_ms=None)
