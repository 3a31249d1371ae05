from chalicelib.clients.databases.errors import _MESSAGES, ConnectionStep, DatabaseFailure, FailureCode
from chalicelib.errors import Unavailable


def test_every_code_has_a_sentence_and_a_step() -> None:
    assert set(_MESSAGES) == set(FailureCode)
    for code in FailureCode:
        failure = DatabaseFailure(code)
        assert isinstance(failure, Unavailable)
        assert failure.message.endswith(".")
        assert failure.code == code
        assert failure.step in ConnectionStep
