import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from app import lazy_routes
from chalicelib.api.framework import inputs
from chalicelib.api.framework.declared import schema_of
from chalicelib.api.framework.http import HttpRequest
from chalicelib.api.framework.route import Route
from chalicelib.api.framework.text_forms import form_of
from chalicelib.domain.access import Permission
from chalicelib.domain.property_options import TARGET_OPTIONS
from chalicelib.domain.providers.mysql.properties import PROPERTY_OPTIONS as MYSQL_OPTIONS
from chalicelib.domain.providers.object_store.properties import PROPERTY_OPTIONS as FILE_OPTIONS
from chalicelib.domain.providers.postgresql.properties import PROPERTY_OPTIONS as POSTGRESQL_OPTIONS
from chalicelib.errors import Invalid

SENT = "zq9 sent / by @ nobody"
WRONG: tuple[Any, ...] = (SENT, [SENT], {SENT: SENT}, 98989898989898.5, True, "")
ROUTES = [route for _, route in lazy_routes if route.body is not None and route.needs is not Permission.SERVICE]
UNKNOWN_FIELDS = {"zq9 field": SENT, "nmae": SENT, "properties": {SENT: SENT}}
Schema = dict[str, Any]


def wrong_bodies(schema: Schema) -> Iterator[Any]:
    """Each wrong value in every field at once, in each of the models that a body may be."""
    yield from WRONG
    definitions = schema.get("$defs", {})
    for member in schema.get("oneOf", [schema]):
        for wrong in WRONG:
            yield {**filled(member, definitions, wrong), **UNKNOWN_FIELDS}


def filled(schema: Schema, definitions: Schema, wrong: Any, name: str = "") -> Any:
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].rpartition("/")[2]], definitions, wrong, name)
    if name == "provider":  # which says what the body is
        return (schema.get("enum") or [schema.get("const", wrong)])[0]
    for member in schema.get("anyOf", ()):
        if "$ref" in member or member.get("type") in ("object", "array"):
            return filled(member, definitions, wrong, name)
    if "properties" in schema:
        return {key: filled(field, definitions, wrong, key) for key, field in schema["properties"].items()}
    if schema.get("type") == "array" and "items" in schema:
        return [filled(schema["items"], definitions, wrong, name)]
    return wrong


def refusal(route: Route, body: Any) -> Invalid | None:
    request = HttpRequest(
        method=route.method, route="", path="", body=json.dumps(body).encode(), correlation_id="x", received_at=0
    )
    try:
        inputs.body_model(route, request)
    except Invalid as error:
        return error
    return None


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_fault_of_a_body_says_what_is_right_and_repeats_nothing(route: Route) -> None:
    errors = [error for body in wrong_bodies(dict(schema_of(route.body))) if (error := refusal(route, body))]
    assert errors
    for error in errors:
        text = json.dumps([error.message, error.details])
        assert "zq9" not in text
        assert "98989898" not in text
        assert error.details
        for fault in error.details:
            assert re.fullmatch(r".{8,}[.?]", fault["message"]), fault
            assert not re.search(r"\[A-Za-z|\{\d+,|one of these: \.|None|_type\b", fault["message"]), fault


def test_every_text_with_a_pattern_is_said_in_words() -> None:
    models = [model for _, route in lazy_routes for model in (route.body, route.query) if model is not None]
    silent = {name for model in models for name in patterned(dict(schema_of(model))) if form_of(name) is None}
    assert silent == set()


def patterned(schema: Any, name: str = "") -> Iterator[str]:
    """The names of the fields that have a pattern, at any depth. Keys of maps have none that is a field."""
    if isinstance(schema, list):
        for part in schema:
            yield from patterned(part, name)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("pattern"), str):
        yield name
    for key, part in schema.items():
        if key in ("properties", "$defs"):
            for field, inner in part.items():
                yield from patterned(inner, field)
        elif key not in ("propertyNames", "patternProperties"):
            yield from patterned(part, name)


@pytest.mark.parametrize(
    ("options", "handler", "elsewhere"),
    [
        (POSTGRESQL_OPTIONS, "create_pipeline", set()),
        (MYSQL_OPTIONS, "create_pipeline", set()),
        ({**TARGET_OPTIONS, **FILE_OPTIONS}, "deploy_delivery", {"destination_id"}),
    ],
    ids=["postgresql", "mysql", "targets"],
)
def test_the_option_for_a_property_is_a_field_of_the_body(
    options: dict[str, str], handler: str, elsewhere: set[str]
) -> None:
    (route,) = [route for _, route in lazy_routes if route.name == handler]
    schema = schema_of(route.body)
    known = set(schema["properties"]) | elsewhere
    if "PipelineOptionsBody" in schema["$defs"]:
        known |= {f"options.{name}" for name in schema["$defs"]["PipelineOptionsBody"]["properties"]}
    assert set(options.values()) <= known
