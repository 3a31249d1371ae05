from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.api.framework.paths import EventMaker, PathTrie

PATTERNS = ["/", "/things", "/things/summary", "/things/{uuid}", "/things/{uuid}/tasks/{task}", "/{proxy+}"]
TRIE = PathTrie(PATTERNS[:-1])


@pytest.mark.parametrize(
    ("path", "pattern", "values"),
    [
        ("/", "/", {}),
        ("/things", "/things", {}),
        ("/things/", "/things", {}),
        ("/things/summary", "/things/summary", {}),
        ("/things/7", "/things/{uuid}", {"uuid": "7"}),
        ("/things/summary/tasks/1", "/things/{uuid}/tasks/{task}", {"uuid": "summary", "task": "1"}),
        ("/things/a%2Fb", "/things/{uuid}", {"uuid": "a%2Fb"}),
    ],
)
def test_the_most_specific_pattern_matches(path: str, pattern: str, values: dict[str, str]) -> None:
    match = TRIE.match(path)
    assert match is not None
    assert (match.pattern, match.values) == (pattern, values)


@pytest.mark.parametrize(
    "path", ["/thing", "/things//", "//things", "/things/1/tasks", "/things/1/tasks/2/3", "/things//tasks/1"]
)
def test_an_unknown_path_has_no_match(path: str) -> None:
    assert TRIE.match(path) is None


def test_a_greedy_variable_matches_every_other_path() -> None:
    match = PathTrie(PATTERNS).match("/x/y/z")
    assert match is not None
    assert (match.pattern, match.values) == ("/{proxy+}", {"proxy": "x/y/z"})


def test_two_names_for_one_position_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="already called"):
        PathTrie(["/things/{uuid}", "/things/{id}/tasks"])


def _maker(*patterns: str) -> EventMaker:
    return EventMaker(SimpleNamespace(route_urls=[*patterns, "/{proxy+}"]))


def test_an_event_has_what_api_gateway_would_put_into_it() -> None:
    event = _maker("/things/{uuid}").create_lambda_event(
        "PUT", "/things/7?a=1&a=&b=x%20y", {"X-One": "1"}, b"body", "10.0.0.1"
    )
    assert event["requestContext"]["resourcePath"] == "/things/{uuid}"
    assert event["requestContext"]["identity"] == {"sourceIp": "10.0.0.1"}
    assert event["pathParameters"] == {"uuid": "7"}
    assert event["multiValueQueryStringParameters"] == {"a": ["1", ""], "b": ["x y"]}
    assert (event["headers"], event["body"], event["path"]) == ({"x-one": "1"}, b"body", "/things/7")


def test_an_unknown_path_and_options_go_to_the_fallback() -> None:
    maker = _maker("/things")
    for method, target in (("GET", "/nope/x"), ("OPTIONS", "/things")):
        event = maker.create_lambda_event(method, target, {})
        assert event["requestContext"]["resourcePath"] == "/{proxy+}"
        assert event["requestContext"]["path"] == target


def test_a_target_in_absolute_form_is_its_path() -> None:
    event = _maker("/things").create_lambda_event("GET", "http://127.0.0.1:1/things?x=1", {})
    assert (event["path"], event["requestContext"]["resourcePath"]) == ("/things", "/things")


@given(st.text())
def test_every_target_becomes_an_event(target: str) -> None:
    assert _maker("/things").create_lambda_event("GET", target, {})["requestContext"]["resourcePath"]
