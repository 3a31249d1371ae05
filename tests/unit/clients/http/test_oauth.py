import base64
from typing import Any

import pytest

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.http.oauth import MAX_ANSWER_BYTES, fetch_token
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.apps.connect_worker import Reply, Worker, html, reset, silence

CLIENT_SECRET = "hunter2/client"
LOOPBACK = AddressPolicy(allow_loopback=True)


def fetch(worker: Worker, *, scope: str | None = None, policy: AddressPolicy = LOOPBACK, seconds: float = 5) -> Secret:
    def no_tls() -> Any:
        raise AssertionError("used for https only")

    secret, deadline = Secret(CLIENT_SECRET), Deadline.after(seconds)
    return fetch_token(f"{worker.url}/token", "an id", secret, scope, check_host=policy, tls=no_tls, deadline=deadline)


def test_the_token_is_asked_for_with_the_clients_own_credentials(worker: Worker) -> None:
    worker.on("POST", "/token", Reply(body={"access_token": "a.b-c", "token_type": "bearer", "expires_in": 60}))
    assert fetch(worker, scope="kafka read").reveal() == "a.b-c"
    assert worker.bodies == ["grant_type=client_credentials&scope=kafka+read"]
    pair = base64.b64decode(worker.headers[0]["authorization"].removeprefix("Basic ")).decode()
    assert pair == "an+id:hunter2%2Fclient"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(400, {"error": "invalid_client", "error_description": CLIENT_SECRET}),
        Reply(302, headers={"Location": "http://169.254.169.254/"}),
        Reply(201, {"access_token": "t"}),
        html(200),
        Reply(body={}),
        Reply(body=[]),
        Reply(body={"access_token": 7}),
        Reply(body={"access_token": ""}),
        Reply(body={"access_token": "a\x01auth=b"}),
        Reply(body={"access_token": "a b"}),
        Reply(body={"access_token": "é"}),
        Reply(body="[" * 50_000),
        Reply(body="x" * (MAX_ANSWER_BYTES + 1)),
        Reply(after=reset),
    ],
)
def test_no_token_is_unavailable_and_nothing_of_the_answer_is_repeated(worker: Worker, reply: Reply) -> None:
    worker.on("POST", "/token", reply)
    with pytest.raises(Unavailable) as raised:
        fetch(worker)
    assert CLIENT_SECRET not in repr(raised.value) + raised.value.message
    assert worker.count("POST", "/token") == 1


def test_a_token_endpoint_that_does_not_answer_is_not_waited_for(worker: Worker) -> None:
    worker.on("POST", "/token", Reply(after=silence(worker)))
    with pytest.raises(Unavailable):
        fetch(worker, seconds=0.3)


def test_an_address_that_is_not_allowed_gets_no_secret(worker: Worker) -> None:
    with pytest.raises(Invalid) as refused:
        fetch(worker, policy=AddressPolicy())
    assert refused.value.code == "URL_NOT_ALLOWED"
    assert worker.seen == []
