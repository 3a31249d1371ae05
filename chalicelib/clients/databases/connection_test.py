"""The result of a connection test, step by step: what went well, what failed, what was not tried any more."""

from chalicelib.clients.databases.errors import DatabaseFailure, Step
from chalicelib.domain.database import CheckStatus, TestCheck, TestResult

_DONE = {
    Step.CONNECT: "The server can be reached.",
    Step.AUTHENTICATE: "The server accepts the user name and the password.",
    Step.DATABASE: "The database exists and can be used.",
    Step.READ: "The catalog can be read.",
}


def succeeded(server_version: str, latency_ms: int) -> TestResult:
    return TestResult(
        success=True, checks=tuple(map(_success, Step)), server_version=server_version, latency_ms=latency_ms
    )


def failed(failure: DatabaseFailure) -> TestResult:
    """The steps before the failing one went well, those after it were not tried."""
    steps = list(Step)
    failing = steps.index(failure.step)
    checks = (
        *map(_success, steps[:failing]),
        TestCheck(name=failure.step, status=CheckStatus.FAILED, code=failure.code, message=failure.message),
        *map(_skipped, steps[failing + 1 :]),
    )
    return TestResult(success=False, checks=checks, server_version=None, latency_ms=None)


def _success(step: Step) -> TestCheck:
    return TestCheck(name=step, status=CheckStatus.SUCCESS, code=None, message=_DONE[step])


def _skipped(step: Step) -> TestCheck:
    return TestCheck(name=step, status=CheckStatus.SKIPPED, code=None, message="Not tried.")
