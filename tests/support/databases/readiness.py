"""What a readiness report says, by the keys of its checks."""

from chalicelib.domain.readiness import CheckOutcome, ReadinessCheck, ReadinessReport


def with_status(report: ReadinessReport, status: CheckOutcome) -> set[str]:
    return {check.key for check in report.checks if check.status is status}


def failing(report: ReadinessReport) -> set[str]:
    return with_status(report, CheckOutcome.FAIL)


def warning(report: ReadinessReport) -> set[str]:
    """Without the check of the heartbeat table: most plans of tests have chosen none."""
    return with_status(report, CheckOutcome.WARN) - {"heartbeat"}


def check_of(report: ReadinessReport, key: str) -> ReadinessCheck:
    return next(check for check in report.checks if check.key == key)
