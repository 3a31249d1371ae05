import json
from datetime import datetime

import pytest

from chalicelib.api.framework.http import HttpRequest, HttpResponse
from chalicelib.api.framework.idempotency import IdempotentRequests
from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.idempotency import LEASE
from chalicelib.errors import (
    Conflict,
    HeadgateError,
    Invalid,
    NotFound,
    RateLimited,
    Rejected,
    RequestInProgress,
    StoreUnavailable,
    TimedOut,
    Unauthenticated,
    Unavailable,
    WriteConflict,
)
from chalicelib.kit.pages import Signer
from tests.support.apps.edge import JSON_ADMIN, THING, MemoryRows, make_edge, through_lambda_event, time_at

THINGS = "/api/v1/things"
KEYED = {**JSON_ADMIN, "Idempotency-Key": "k"}


class _Clock:
    def __init__(self) -> None:
        self.now = time_at()

    def __call__(self) -> datetime:
        return self.now


class _Requests:
    """Sends one kind of request repeatedly; `runs` are the calls that reached the handler."""

    def __init__(self) -> None:
        self.rows, self.clock = MemoryRows(), _Clock()
        self.runs: list[RequestContext] = []
        self.outcome: HttpResponse | HeadgateError | Exception = HttpResponse(status=201, body="first")

    def send(self, *, user: str = "u1", path: str = "/p", key: str = "k", body: bytes = b"{}", **query: str) -> str:
        idempotent = IdempotentRequests(store=self.rows, signer=Signer(key=b"k" * 32), clock=self.clock)
        actor = Actor(id=user, email=None, role=Role.ADMIN, via="session")
        context = RequestContext(actor=actor, correlation_id="c")
        request = HttpRequest(
            method="POST", route=path, path=path, query={name: [value] for name, value in query.items()}
        )
        return idempotent.run(context, request, key, body, self._handle, principal=user).body

    def _handle(self, context: RequestContext) -> HttpResponse:
        self.runs.append(context)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def test_the_same_request_runs_once_and_gets_the_first_response_again() -> None:
    requests = _Requests()
    assert requests.send() == "first"
    requests.outcome = HttpResponse(status=201, body="second")
    assert requests.send() == "first"
    assert len(requests.runs) == 1


def test_without_a_key_every_request_runs() -> None:
    edge = make_edge()
    send = through_lambda_event(edge.app)
    for _ in range(2):
        assert send("POST", THINGS, JSON_ADMIN, b'{"name":"a"}').status == 201
    assert [context.request_key for context in edge.calls] == [None, None]
    assert edge.rows.rows == {}


@pytest.mark.parametrize("change", [{"user": "u2"}, {"path": "/q"}, {"key": "other"}])
def test_another_principal_path_or_key_is_another_request(change: dict[str, str]) -> None:
    requests = _Requests()
    requests.send()
    requests.send(**change)  # type: ignore[arg-type]
    assert len({context.request_key for context in requests.runs}) == 2


def test_another_body_or_query_under_the_same_key_is_a_conflict() -> None:
    requests = _Requests()
    requests.send()
    for refused in (lambda: requests.send(body=b"[]"), lambda: requests.send(task="1")):
        with pytest.raises(Conflict) as conflict:
            refused()
        assert conflict.value.code == "IDEMPOTENCY_KEY_REUSED"
    assert len(requests.runs) == 1


def test_while_the_first_runs_a_second_is_refused_with_a_delay() -> None:
    requests = _Requests()
    refusals: list[RequestInProgress] = []

    def meanwhile(context: RequestContext) -> HttpResponse:
        requests._handle = lambda _: HttpResponse(status=200)  # type: ignore[method-assign]
        with pytest.raises(RequestInProgress) as refusal:
            requests.send()
        refusals.append(refusal.value)
        return HttpResponse(status=201, body="done")

    requests._handle = meanwhile  # type: ignore[method-assign]
    assert requests.send() == "done"
    assert refusals[0].retry_after_seconds > 0


def test_after_the_lease_of_a_crashed_request_the_next_one_runs_under_the_same_request_key() -> None:
    requests = _Requests()
    requests.send()
    [key] = requests.rows.rows
    body_hash, claim, until, _ = requests.rows.rows[key]
    requests.rows.rows[key] = (body_hash, claim, until, None)
    requests.clock.now += LEASE
    assert requests.send() == "first"
    assert len({context.request_key for context in requests.runs}) == 1


def failed(error: Exception) -> _Requests:
    """After a request that has failed like this. The next one would succeed."""
    requests = _Requests()
    requests.outcome = error
    with pytest.raises(type(error)):
        requests.send()
    requests.outcome = HttpResponse(status=201, body="now it works")
    return requests


@pytest.mark.parametrize(
    "error", [NotFound("x"), Conflict("x", code="NAME_CONFLICT"), Invalid("x", code="SOURCE_NOT_READY"), Rejected("x")]
)
def test_a_definite_refusal_is_stored(error: HeadgateError) -> None:
    assert json.loads(failed(error).send())["error"]["code"] == error.code


@pytest.mark.parametrize(
    "error",
    [
        Unauthenticated("x"),
        RateLimited("x", retry_after_seconds=1),
        WriteConflict("x"),
        Conflict("x", code="OPERATION_IN_PROGRESS"),
        Unavailable("x"),
        TimedOut("x"),
        StoreUnavailable("x"),
        RuntimeError("x"),
    ],
)
def test_a_temporary_or_unknown_failure_may_be_repeated_under_the_same_request_key(error: Exception) -> None:
    requests = failed(error)
    assert requests.send() == "now it works"
    assert len({context.request_key for context in requests.runs}) == 1


def test_a_response_with_cookies_is_not_stored() -> None:
    requests = _Requests()
    requests.outcome = HttpResponse(status=200, headers={"Set-Cookie": ("session=1",)})
    requests.send()
    requests.send()
    assert len(requests.runs) == 2


def test_a_store_that_fails_after_the_work_does_not_hide_its_success() -> None:
    requests = _Requests()

    def fail(*_: object) -> None:
        raise StoreUnavailable("gone")

    requests.rows.finish = fail  # type: ignore[assignment]
    assert requests.send() == "first"


def test_nothing_of_the_body_can_be_guessed_from_the_row() -> None:
    requests = _Requests()
    requests.send(body=b'{"password":"1234"}')
    other = _Requests()
    other.send(body=b'{"password":"1234"}')
    [(body_hash, *_)] = requests.rows.rows.values()
    assert "1234" not in body_hash
    assert body_hash != IdempotentRequests(store=other.rows, signer=Signer(key=b"other"), clock=time_at)._digest(
        HttpRequest(method="POST", route="/p", path="/p"), b'{"password":"1234"}'
    )


def test_a_refusal_before_the_handler_leaves_the_key_free() -> None:
    send = through_lambda_event(make_edge().app)
    assert send("POST", THINGS, KEYED, b'{"name":1}').status == 422
    assert send("POST", THINGS, KEYED, b'{"name":"a"}').status == 201


def test_a_create_uses_the_request_key_as_its_id_and_survives_a_lost_response() -> None:
    edge = make_edge()
    send = through_lambda_event(edge.app)
    first = send("POST", THINGS, KEYED, b'{"name":"a"}')
    edge.rows.rows.clear()
    assert send("POST", THINGS, KEYED, b'{"name":"a"}').body == first.body
    # With another body it is another resource.
    edge.rows.rows.clear()
    second = send("POST", THINGS, KEYED, b'{"name":"b"}')
    assert (second.status, json.loads(second.body)["name"]) == (201, "b")
    assert second.headers["location"] != first.headers["location"]


def test_a_request_that_is_repeated_in_another_spelling_gets_the_first_response_and_its_own_correlation_id() -> None:
    send = through_lambda_event(make_edge().app)
    first, again = (
        send("POST", THINGS, {**KEYED, "X-Correlation-ID": name}, body)
        for name, body in (("first", b'{"name":"a"}'), ("again", b'{ "name" : "a" }'))
    )
    assert (first.headers["x-correlation-id"], again.headers["x-correlation-id"]) == ("first", "again")
    assert (again.status, again.body, again.headers["location"]) == (201, first.body, first.headers["location"])


def test_the_key_is_ignored_on_other_methods() -> None:
    headers = {**JSON_ADMIN, "Idempotency-Key": "not a key"}
    assert through_lambda_event(make_edge().app)("PUT", f"{THINGS}/{THING}", headers, b'{"name":"a"}').status == 200
