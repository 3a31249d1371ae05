import pytest

from chalicelib.clients.databases.errors import _MESSAGES, DatabaseFailure, FailureCode, Step
from chalicelib.errors import Unavailable


def test_every_code_has_a_sentence_and_a_step() -> None:
    assert set(_MESSAGES) == set(FailureCode)
    for code in FailureCode:
        failure = DatabaseFailure(code)
        assert isinstance(failure, Unavailable)
        assert failure.message.endswith(".")
        assert failure.code == code
        assert failure.step in Step


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        (FailureCode.AUTHENTICATION_FAILED, False),
        (FailureCode.DATABASE_NOT_FOUND, False),
        (FailureCode.TIMEOUT, True),
        (FailureCode.CONNECTION_REFUSED, True),
        (FailureCode.TLS_FAILED, False),
    ],
)
def test_only_temporary_failures_are_retryable(code: FailureCode, retryable: bool) -> None:
    assert DatabaseFailure(code).retryable is retryable
