import pytest

from chalicelib.clients.databases.checks import failure_result, success_result
from chalicelib.clients.databases.errors import ConnectionStep, DatabaseFailure, FailureCode
from chalicelib.domain.connection_checks import CheckStatus


def test_a_success_shows_every_step() -> None:
    result = success_result("18.1", 7)
    assert [(check.name, check.status) for check in result.checks] == [
        (step, CheckStatus.SUCCESS) for step in ConnectionStep
    ]
    assert (result.success, result.server_version, result.latency_ms) == (True, "18.1", 7)


@pytest.mark.parametrize("step", ConnectionStep)
def test_a_failure_shows_what_went_well_before_and_skips_what_follows(step: ConnectionStep) -> None:
    result = failure_result(DatabaseFailure(FailureCode.TIMEOUT, step))
    failing = list(ConnectionStep).index(step)
    assert [check.status for check in result.checks] == [
        *[CheckStatus.SUCCESS] * failing,
        CheckStatus.FAILED,
        *[CheckStatus.SKIPPED] * (len(ConnectionStep) - failing - 1),
    ]
    assert [check.code for check in result.checks if check.code] == ["TIMEOUT"]
    assert (result.success, result.server_version, result.latency_ms) == (False, None, None)


def test_a_failure_shows_its_own_sentence() -> None:
    result = failure_result(DatabaseFailure(FailureCode.NOT_A_DATABASE, message="This is no shop."))
    assert result.checks[0].message == "This is no shop."
