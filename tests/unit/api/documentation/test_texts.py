"""The OpenAPI document as a newcomer reads it: everything is described, nothing twice."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

import app
from chalicelib.api.documentation.bodies import bodies_of
from chalicelib.api.documentation.errors import CODES_OF, MEANINGS
from chalicelib.api.documentation.groups import GROUPS
from chalicelib.api.documentation.texts import ANY, fields, path_variables
from chalicelib.api.framework.errors import CODES
from chalicelib.api.framework.openapi import document
from chalicelib.api.framework.route import Route

Json = dict[str, Any]
ARTICLES = {"the", "a", "an", "of", "its"}


@pytest.fixture(scope="module")
def routes() -> list[tuple[str, Route]]:
    return [(path, route) for path, route in app.lazy_routes if not route.hidden]


@pytest.fixture(scope="module")
def built(routes: list[tuple[str, Route]]) -> Json:
    return document(routes, title="Headgate", version="1")


def _operations(built: Json) -> Iterator[tuple[str, Json]]:
    for path, methods in built["paths"].items():
        for operation in methods.values():
            yield path, operation


def test_every_field_of_every_model_is_described(built: Json) -> None:
    """Without one: write it beside the field, or in chalicelib/api/documentation/fields.toml."""
    models = built["components"]["schemas"].items()
    described = {
        (m, f): bool(field.get("description")) for m, s in models for f, field in s.get("properties", {}).items()
    }
    assert len(described) > 900
    assert [field for field, has_text in described.items() if not has_text] == []


def test_every_parameter_and_every_operation_is_described(built: Json) -> None:
    for path, operation in _operations(built):
        assert operation["summary"]
        for parameter in operation["parameters"]:
            assert "$ref" in parameter or parameter["description"], (path, parameter["name"])


def test_descriptions_do_not_repeat_the_name(built: Json) -> None:
    for model, schema in built["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            words = {word.strip(".,").lower() for word in field["description"].split()}
            assert words - ARTICLES - set(name.lower().split("_")), (model, name)


def test_every_text_is_about_a_field_or_a_path_that_exists(built: Json, routes: list[tuple[str, Route]]) -> None:
    inputs = [route.query for _, route in routes if route.query is not None]
    names = {model: set(schema.get("properties", ())) for model, schema in built["components"]["schemas"].items()}
    names |= {query.__name__: {field.alias or name for name, field in query.model_fields.items()} for query in inputs}
    everywhere = set().union(*names.values())
    for model, texts in fields().items():
        assert set(texts) <= (everywhere if model == ANY else names[model]), model
    segments = {segment for path, _ in routes for segment in path.split("/")}
    assert set(path_variables()) <= segments


def test_the_groups_are_in_the_order_of_work_and_none_is_empty(built: Json) -> None:
    used = {tag for _, operation in _operations(built) for tag in operation["tags"]}
    assert [tag["name"] for tag in built["tags"]] == list(GROUPS)
    assert used == set(GROUPS)


def test_every_body_has_examples_that_are_shown_at_its_fields(built: Json) -> None:
    """A test of the API sends each of them: tests/integration/api/test_body_examples.py."""
    bodies = [operation["requestBody"] for _, operation in _operations(built) if "requestBody" in operation]
    assert len(bodies) > 30
    assert all(body["content"]["application/json"]["examples"] for body in bodies)
    host = built["components"]["schemas"]["DatabaseConfig"]["properties"]["host"]
    assert host["examples"] == ["shop-db.example.com"]


def test_every_example_of_a_field_is_one_that_its_schema_takes(built: Json) -> None:
    components = {"components": built["components"]}
    shown = 0
    for model, schema in built["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            for example in field.get("examples", ()):
                errors = list(Draft202012Validator({**field, **components}).iter_errors(example))
                assert errors == [], (model, name)
                shown += 1
    assert shown > 250


def test_every_example_of_a_body_is_one_that_its_model_takes(routes: list[tuple[str, Route]]) -> None:
    """Also those whose acceptance depends on what has happened before, such as a silence of an alert."""
    for _, route in routes:
        for name, body in bodies_of(route.name).items():
            try:
                TypeAdapter(route.body).validate_json(json.dumps(body))
            except ValidationError as error:
                pytest.fail(f"{route.name}, {name}: {error}")


def test_every_code_has_a_meaning_and_every_row_of_codes_an_operation(routes: list[tuple[str, Route]]) -> None:
    assert {code for codes in CODES.values() for code in codes} == MEANINGS.keys() | {"METHOD_NOT_ALLOWED"}
    assert set(CODES_OF) <= {route.name for _, route in routes}
    assert set().union(*CODES_OF.values()) <= MEANINGS.keys()
