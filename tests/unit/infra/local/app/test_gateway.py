import json

import pytest
from chalice.app import Chalice, Response

from infra.local.app.gateway import MAX_ANSWER_BYTES, Gateway


@pytest.mark.parametrize(("size", "status"), [(MAX_ANSWER_BYTES - 1000, 200), (MAX_ANSWER_BYTES, 500)])
def test_an_answer_that_aws_lambda_would_not_take_is_an_error_here_too(size: int, status: int) -> None:
    app = Chalice(app_name="large")
    app.route("/")(lambda: Response("x" * size, headers={"Content-Type": "text/plain"}))
    answer = Gateway(app).answer("GET", "/", {"host": "127.0.0.1"}, b"", "127.0.0.1")
    assert answer.status == status
    if status == 500:
        assert json.loads(answer.body or "")["error"]["code"] == "INTERNAL"
