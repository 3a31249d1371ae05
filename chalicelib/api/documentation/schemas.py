"""Adds descriptions and examples of fields to JSON schemas."""

from collections.abc import Iterator, Mapping
from typing import Any

from chalicelib.api.documentation.bodies import (
    CHANNEL_ID,
    CONNECT_CLUSTER_ID,
    CONNECTION_ID,
    PIPELINE_ID,
    SOURCE_ID,
    STREAM_CLUSTER_ID,
)
from chalicelib.api.documentation.texts import field_text

Json = dict[str, Any]
_REFERENCE = "#/components/schemas/"
_IDS: Mapping[str, str] = {
    "id": SOURCE_ID,
    "source_id": SOURCE_ID,
    "pipeline_id": PIPELINE_ID,
    "stream_cluster_id": STREAM_CLUSTER_ID,
    "connect_cluster_id": CONNECT_CLUSTER_ID,
    "connection_id": CONNECTION_ID,
    "channel_id": CHANNEL_ID,
}
_TIME = "2026-01-31T12:00:00.000Z"


def describe(definitions: Mapping[str, Json]) -> None:
    """Gives every field a description, unless its model has one for it, and ids and times an example."""
    for model, definition in definitions.items():
        for name, field in definition.get("properties", {}).items():
            if "description" not in field and (text := field_text(model, name)):
                field["description"] = text
            example = _TIME if name.endswith("_at") else _IDS.get(name)
            if example and _takes_text(field):
                field["examples"] = [example]


def _takes_text(field: Json) -> bool:
    return any(member.get("type") == "string" for member in [field, *field.get("anyOf", ())])


def add_examples(schema: Json, body: Any, definitions: Mapping[str, Json]) -> None:
    """Gives every field of a body that has no example yet its value in this body."""
    model = next((found for found in _models(schema, definitions) if _takes(found, body, definitions)), None)
    if model is None:
        return
    for name, value in body.items():
        field = model["properties"][name]
        if not isinstance(value, dict) or not any(_models(field, definitions)):
            # Of an object with fields of its own, those have the examples.
            field.setdefault("examples", [value])
        for part in value if isinstance(value, list) else [value]:
            add_examples(field, part, definitions)


def _models(schema: Json, definitions: Mapping[str, Json]) -> Iterator[Json]:
    """The models that the schema allows."""
    if "properties" in schema:
        yield schema
    if reference := schema.get("$ref"):
        yield from _models(definitions[reference.removeprefix(_REFERENCE)], definitions)
    items = [schema["items"]] if "items" in schema else []
    for member in [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *items]:
        yield from _models(member, definitions)


def _takes(model: Json, body: Any, definitions: Mapping[str, Json]) -> bool:
    """Whether the model has the fields of the body, and those of the objects in it."""
    fields = model["properties"]
    if not isinstance(body, dict) or not set(model.get("required", ())) <= set(body) <= set(fields):
        return False
    if fields.get("provider", {}).get("const", body.get("provider")) != body.get("provider"):
        return False
    for name, value in body.items():
        models = list(_models(fields[name], definitions))
        if models and isinstance(value, dict) and not any(_takes(inner, value, definitions) for inner in models):
            return False
    return True
