from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.errors import Unavailable


def test_every_code_has_a_sentence_and_a_step() -> None:
    for code in FailureCode:
        failure = DatabaseFailure(code)
        assert isinstance(failure, Unavailable)
        assert failure.message.endswith(".")
        assert failure.code == code
