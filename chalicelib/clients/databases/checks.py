"""The result of a connection test, step by step: succeeded, failed, or not tried."""

from chalicelib.clients.databases.errors import ConnectionStep, DatabaseFailure
from chalicelib.domain.connection_checks import CheckStatus, TestCheck, TestResult

_DONE = {
    ConnectionStep.CONNECT: "The server can be reached.",
    ConnectionStep.AUTHENTICATE: "The server accepts the user name and the password.",
    ConnectionStep.DATABASE: "The database exists and can be used.",
    ConnectionStep.READ: (
        "The catalog can be read. Rights on tables and schemas are not tested here: the readiness of a source and the "
        "preview of a delivery look at them."
    ),
}


def success_result(server_version: str, latency_ms: int) -> TestResult:
    return TestResult(
        success=True, checks=tuple(map(_success, ConnectionStep)), server_version=server_version, latency_ms=latency_ms
    )


def failure_result(failure: DatabaseFailure) -> TestResult:
    """The steps before the failed one have succeeded, those after it were not tried."""
    steps = list(ConnectionStep)
    position = steps.index(failure.step)
    checks = (
        *map(_success, steps[:position]),
        TestCheck(name=failure.step, status=CheckStatus.FAILED, code=failure.code, message=failure.message),
        *map(_skipped, steps[position + 1 :]),
    )
    return TestResult(success=False, checks=checks, server_version=None, latency_ms=None)


def _success(step: ConnectionStep) -> TestCheck:
    return TestCheck(name=step, status=CheckStatus.SUCCESS, code=None, message=_DONE[step])


def _skipped(step: ConnectionStep) -> TestCheck:
    return TestCheck(name=step, status=CheckStatus.SKIPPED, code=None, message="Not tried.")
