"""What a connection test has found wrong."""

from chalicelib.domain.connection_checks import CheckStatus, TestCheck, TestResult


def failed_check(result: TestResult) -> TestCheck:
    """The one check of a connection test that has failed."""
    (failed,) = [check for check in result.checks if check.status is CheckStatus.FAILED]
    return failed
