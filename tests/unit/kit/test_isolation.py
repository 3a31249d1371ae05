"""Steps that fail alone."""

import json

from chalicelib.errors import Unavailable
from chalicelib.kit.isolation import isolated
from tests.support.log_lines import logged


def test_an_unexpected_error_is_logged_without_its_message_and_an_error_of_ours_is_not() -> None:
    with logged() as lines:
        with isolated():
            raise Unavailable("Kafka Connect cannot be reached.")
        with isolated():
            raise RuntimeError("hunter2")
    (line,) = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert line["message"] == "an isolated step failed"
    assert "RuntimeError" in json.dumps(line)
    assert "hunter2" not in json.dumps(line)
