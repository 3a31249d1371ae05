import json
from collections.abc import Iterator

import pytest

from chalicelib import errors
from chalicelib.api.framework.errors import CODES, STATUS, internal, render, status_of
from chalicelib.errors import HeadgateError


def _all(kind: type[HeadgateError]) -> Iterator[type[HeadgateError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _all(child)


def _made(kind: type[HeadgateError]) -> HeadgateError:
    match kind:
        case errors.MethodNotAllowed:
            return errors.MethodNotAllowed("no", allowed=("POST", "GET"))
        case errors.RateLimited | errors.RequestInProgress:
            return kind("later", retry_after_seconds=3)  # type: ignore[call-arg]
        case errors.WriteConflict:
            return errors.WriteConflict("label")
        case errors.UnreadableRow:
            return errors.UnreadableRow("pipeline", "id")
        case _:
            return kind("message")


KINDS = [kind for kind in _all(HeadgateError) if kind.__module__ == "chalicelib.errors"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_status_and_a_code_that_belongs_to_it(kind: type[HeadgateError]) -> None:
    error = _made(kind)
    assert error.code in CODES[status_of(error)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.__bases__ == (HeadgateError,)])
def test_every_kind_of_error_has_a_status_of_its_own(kind: type[HeadgateError]) -> None:
    assert kind in STATUS


def test_every_status_of_the_contract_can_be_reached() -> None:
    assert {STATUS[kind] for kind in STATUS} == set(CODES)


def test_the_envelope_always_has_code_message_and_details() -> None:
    plain = json.loads(render(errors.NotFound("gone")).body)
    detailed = json.loads(render(errors.Invalid.at("body", "port", type_="int_parsing", message="wrong")).body)
    assert plain == {"error": {"code": "NOT_FOUND", "message": "gone", "details": {}}}
    assert detailed["error"]["details"] == [{"location": ["body", "port"], "type": "int_parsing", "message": "wrong"}]


def test_an_error_may_have_its_own_code() -> None:
    response = render(errors.Conflict("taken", code="NAME_CONFLICT"))
    assert (response.status, json.loads(response.body)["error"]["code"]) == (409, "NAME_CONFLICT")


@pytest.mark.parametrize(
    ("error", "name", "value"),
    [
        (errors.MethodNotAllowed("no", allowed=("POST", "GET")), "Allow", "GET, POST"),
        (errors.RateLimited("later", retry_after_seconds=30), "Retry-After", "30"),
        (errors.RequestInProgress("later", retry_after_seconds=0), "Retry-After", "1"),
        (errors.StoreBusy(), "Retry-After", "1"),
        (errors.Unauthenticated("who"), "WWW-Authenticate", "Bearer"),
    ],
)
def test_each_kind_of_error_has_the_header_that_clients_need(error: HeadgateError, name: str, value: str) -> None:
    assert render(error).headers[name] == value


@pytest.mark.parametrize("error", [errors.StoreBusy(), errors.Contention()])
def test_a_busy_store_is_503_and_says_when_to_try_again(error: HeadgateError) -> None:
    response = render(error)
    assert (response.status, json.loads(response.body)["error"]["code"]) == (503, "TRY_AGAIN")


def test_an_unexpected_error_is_500_without_its_cause() -> None:
    response = render(internal())
    assert (response.status, json.loads(response.body)["error"]["code"]) == (500, "INTERNAL")
