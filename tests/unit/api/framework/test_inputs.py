import json
from typing import Any

import pytest

from chalicelib.api.framework.inputs import MAX_BODY_BYTES
from tests.support.apps.edge import (
    ADMIN,
    JSON_ADMIN,
    THING,
    ClientResponse,
    lambda_event,
    make_edge,
    through_lambda_event,
)

SEND = through_lambda_event(make_edge().app)
THINGS = "/api/v1/things"


def refused(response: ClientResponse, status: int = 422) -> list[tuple[list[Any], str]]:
    assert response.status == status, response.body
    return [(detail["location"], detail["type"]) for detail in json.loads(response.body)["error"]["details"]]


def post(body: Any, path: str = THINGS) -> ClientResponse:
    return SEND("POST", path, JSON_ADMIN, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("body", "details"),
    [
        ({}, [(["body", "name"], "missing")]),
        ([], [(["body"], "model_attributes_type")]),
        (None, [(["body"], "model_attributes_type")]),
        ({"name": "a", "address": {"host": "", "port": "x"}}, [
            (["body", "address", "host"], "string_too_short"), (["body", "address", "port"], "int_parsing"),
        ]),
        ({"name": "a", "chat": {}}, [(["body", "chat"], "int_type"), (["body", "chat"], "list_type")]),
        ({"name": "a", "chat": [1, "x"]}, [(["body", "chat"], "int_type"), (["body", "chat", 1], "int_parsing")]),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_by_location_and_type(body: Any, details: list[Any]) -> None:
    response = post(body)
    assert [where for where, _ in refused(response)] == [where for where, _ in details]
    if body:
        assert refused(response) == details


@pytest.mark.parametrize(
    ("body", "location"),
    [
        ({"name": "a", "hunter2": 1}, ["body"]),
        ({"name": "a", "address": {"host": "h", "port": 1, "hunter2": 1}}, ["body", "address"]),
        ({"name": "a", "properties": {"hunter2": "x"}}, ["body", "properties"]),
        ({"name": "a", "properties": {"hunter2": "${x}"}}, ["body", "properties"]),
        ({"name": "a", "hunter2${x}": 1}, ["body"]),
    ],
)
def test_unknown_names_of_the_caller_are_not_repeated(body: Any, location: list[str]) -> None:
    response = post(body)
    assert [where for where, _ in refused(response)] == [location]
    assert "hunter2" not in response.body


def test_many_faults_are_listed_once_each_and_within_a_bound() -> None:
    response = post({"name": "a", "chat": ["x"] * 3900, **{f"field{number}": 1 for number in range(990)}})
    assert 1 < len(refused(response)) <= 100
    assert len(response.body) < 25_000


@pytest.mark.parametrize("text", ["${x}", "a${", "$${}", "pre ${env:HOME} post"])
@pytest.mark.parametrize("wrap", [
    lambda text: {"name": text},
    lambda text: {"name": "a", "address": {"host": text, "port": 1}},
    lambda text: {"name": "a", text: 1},
    lambda text: {"name": "a", "properties": {text: 1}},
])  # fmt: skip
def test_a_secret_reference_is_refused_in_every_string(wrap: Any, text: str) -> None:
    assert {kind for _, kind in refused(post(wrap(text)))} == {"secret_reference_not_allowed"}


def test_an_escaped_reference_is_recognised() -> None:
    response = SEND("POST", THINGS, JSON_ADMIN, b'{"name":"\\u0024\\u007bx}"}')
    assert refused(response) == [(["body", "name"], "secret_reference_not_allowed")]


@pytest.mark.parametrize("text", ["$", "{", "$ {", "{$", "$x", "100 $"])
def test_separate_dollars_and_braces_are_text(text: str) -> None:
    assert post({"name": text}).status == 201


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"name":"a\\u0000"}', "null_character_not_allowed"),
        (b'{"name":"\\ud800"}', "lone_surrogate_not_allowed"),
        (b'{"name":"\\udc00\\ud800"}', "lone_surrogate_not_allowed"),
    ],
)
def test_characters_that_no_store_keeps_are_refused(raw: bytes, kind: str) -> None:
    assert refused(SEND("POST", THINGS, JSON_ADMIN, raw)) == [(["body", "name"], kind)]


def test_an_emoji_in_escapes_is_a_character() -> None:
    assert json.loads(SEND("POST", THINGS, JSON_ADMIN, b'{"name":"\\ud83d\\ude00"}').body)["name"] == "😀"


@pytest.mark.parametrize(
    "media",
    [
        "application/json",
        "Application/JSON; charset=UTF-8",
        'application/json;charset="utf-8"',
        "application/merge-patch+json",
    ],
)
def test_json_in_utf8_is_taken_under_each_of_its_names(media: str) -> None:
    assert SEND("POST", THINGS, {**ADMIN, "content-type": media}, b'{"name":"a"}').status == 201


@pytest.mark.parametrize(
    "media",
    ["", "text/json", "application/jsonx", "application/json; charset=latin-1", "application/x-www-form-urlencoded"],
)
def test_another_type_is_415(media: str) -> None:
    assert SEND("POST", THINGS, {**ADMIN, "content-type": media}, b'{"name":"a"}').status == 415


def test_a_missing_body_is_malformed_and_not_an_unsupported_type() -> None:
    assert SEND("POST", THINGS, ADMIN, b"").status == 400


def test_a_body_that_may_be_left_out_may_be_left_out() -> None:
    path = f"{THINGS}/{THING}/note"
    assert json.loads(SEND("POST", path, ADMIN, b"").body)["name"] == "nothing"
    assert json.loads(post({"note": "x"}, path).body)["name"] == "x"


def test_a_route_without_a_body_takes_an_empty_object_only() -> None:
    path = f"{THINGS}/{THING}/tasks/0/restart"
    assert post({}, path).status == 202
    assert refused(post({"hunter2": 1}, path)) == [(["body"], "extra_forbidden")]


@pytest.mark.parametrize("name", ["nmae", "table_names", "x"])
def test_an_unknown_field_is_named_when_it_looks_like_a_field_name(name: str) -> None:
    path = f"{THINGS}/{THING}/tasks/0/restart"
    assert refused(post({name: "hunter2"}, path)) == [(["body", name], "extra_forbidden")]


@pytest.mark.parametrize("name", ["hunter2", "correct horse", "Secret", "a-b", "", "é", "a__b", "_a", "x" * 21])
def test_an_unknown_field_that_does_not_look_like_a_name_is_not_repeated(name: str) -> None:
    path = f"{THINGS}/{THING}/tasks/0/restart"
    assert refused(post({name: 1}, path)) == [(["body"], "extra_forbidden")]


def test_the_body_of_a_delete_is_validated_like_every_other() -> None:
    path = f"{THINGS}/{THING}"
    assert SEND("DELETE", path, {**ADMIN, "content-type": "text/plain"}, b"x").status == 415
    assert SEND("DELETE", path, JSON_ADMIN, b"{").status == 400
    assert refused(SEND("DELETE", path, JSON_ADMIN, b'{"force": true}')) == [(["body", "force"], "extra_forbidden")]
    assert SEND("DELETE", path, JSON_ADMIN, b"{}").status == 204


def test_if_match_is_ignored_on_post() -> None:
    assert SEND("POST", THINGS, {**JSON_ADMIN, "if-match": "*"}, b'{"name": "a"}').status == 201


def test_a_body_may_have_256_kib_and_not_more() -> None:
    frame = len(b'{"name":""}')
    largest = b'{"name":"' + b"x" * (MAX_BODY_BYTES - frame) + b'"}'
    assert len(largest) == MAX_BODY_BYTES
    assert SEND("POST", THINGS, JSON_ADMIN, largest).status == 201
    assert SEND("POST", THINGS, JSON_ADMIN, largest + b" ").status == 413


def test_a_body_that_cannot_be_decoded_is_malformed() -> None:
    app = make_edge().app
    event = {**lambda_event(app, "POST", THINGS, JSON_ADMIN), "body": "%%%", "isBase64Encoded": True}
    assert app({**event, "body": "é"}, None)["statusCode"] == 400
    assert app({**event, "body": "\ud800", "isBase64Encoded": False}, None)["statusCode"] == 400


@pytest.mark.parametrize(
    ("query", "details"),
    [
        ("limit=0", [(["query", "limit"], "greater_than_equal")]),
        ("limit=501", [(["query", "limit"], "less_than_equal")]),
        ("limit=x", [(["query", "limit"], "int_parsing")]),
        ("limit=1&limit=1", [(["query", "limit"], "single_value")]),
        ("hunter2=1", [(["query"], "extra_forbidden")]),
        ("page_size=1", [(["query", "page_size"], "extra_forbidden")]),
        ("status=hunter2", [(["query", "status"], "literal_error")]),
        ("tag=%24%7Bx%7D", [(["query", "tag"], "secret_reference_not_allowed")]),
        ("tag=a&tag=%00", [(["query", "tag"], "null_character_not_allowed")]),
        ("cursor=hunter2", [(["query", "cursor"], "cursor")]),
        ("cursor=", [(["query", "cursor"], "string_too_short")]),
    ],
)
def test_a_wrong_query_is_named_by_location_and_type(query: str, details: list[Any]) -> None:
    response = SEND("GET", f"{THINGS}?{query}", ADMIN, b"")
    assert refused(response) == details
    assert "hunter2" not in response.body


@pytest.mark.parametrize(
    "limit", ["-1", "1.5", "", "1_0", "1.0", "%2B5", "%205", "5%20", "0x5", "%D9%A3", "true", "1e1"]
)
def test_a_limit_is_written_in_digits(limit: str) -> None:
    assert [where for where, _ in refused(SEND("GET", f"{THINGS}?limit={limit}", ADMIN, b""))] == [["query", "limit"]]


def test_a_query_parameter_goes_by_its_name_on_the_wire() -> None:
    assert SEND("GET", f"{THINGS}?pageSize=3", ADMIN, b"").status == 200


def test_a_route_without_query_takes_none() -> None:
    assert refused(SEND("GET", f"{THINGS}/{THING}?x=1", ADMIN, b"")) == [(["query", "x"], "extra_forbidden")]


@pytest.mark.parametrize("value", ["3", '"x"', '""', 'W/"3"', "*", '"3", "4"', '"-1"', '"03"', '"' + "9" * 17 + '"'])
def test_a_malformed_if_match_is_reported(value: str) -> None:
    response = SEND("PUT", f"{THINGS}/{THING}", {**JSON_ADMIN, "If-Match": value}, b'{"name":"a"}')
    assert refused(response) == [(["header", "If-Match"], "version")]


@pytest.mark.parametrize(("value", "status"), [('"3"', 200), ('"2"', 412)])
def test_if_match_reaches_the_handler(value: str, status: int) -> None:
    assert SEND("PUT", f"{THINGS}/{THING}", {**JSON_ADMIN, "If-Match": value}, b'{"name":"a"}').status == status


@pytest.mark.parametrize("value", ["", "a b", "x" * 65, "ä", "a\n", "a,b"])
def test_a_malformed_idempotency_key_is_named(value: str) -> None:
    response = SEND("POST", THINGS, {**JSON_ADMIN, "Idempotency-Key": value}, b'{"name":"a"}')
    assert refused(response) == [(["header", "Idempotency-Key"], "string_pattern_mismatch")]


@pytest.mark.parametrize("task", ["-1", "x", "01", "1.5", "99999999999"])
def test_a_task_that_is_no_number_is_404(task: str) -> None:
    assert SEND("POST", f"{THINGS}/{THING}/tasks/{task}/restart", ADMIN, b"").status == 404


def test_a_task_reaches_the_handler_as_a_number() -> None:
    assert json.loads(SEND("POST", f"{THINGS}/{THING}/tasks/7/restart", ADMIN, b"").body)["name"] == "7"
