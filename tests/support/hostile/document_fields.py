"""Bodies by the OpenAPI document: the places of their fields, and bodies with one field changed."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

Json = dict[str, Any]
Path = tuple[str, ...]
ITEM = "[]"
"""The step from a list to its first item."""


def resolved(document: Json, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def body_schema(document: Json, method: str, path: str) -> Mapping[str, Any] | None:
    """The schema of an operation's body, None when it has none."""
    content = document["paths"][path][method].get("requestBody", {}).get("content", {})
    return content["application/json"]["schema"] if content else None


def alternatives(document: Json, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    schema = resolved(document, schema)
    members = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for member in members:
        yield from alternatives(document, member)
    if not members:
        yield schema


def constants(schema: Mapping[str, Any]) -> Json:
    """A body with the fields that tell the members of a union apart."""
    return {name: field["const"] for name, field in schema.get("properties", {}).items() if "const" in field}


def objects(document: Json, schema: Mapping[str, Any], at: Path = ()) -> Iterator[tuple[Path, frozenset[str]]]:
    """The place of every object with fields of its own, and their names."""
    for alternative in alternatives(document, schema):
        if alternative.get("properties"):
            yield at, frozenset(alternative["properties"])
        for name, field in alternative.get("properties", {}).items():
            yield from objects(document, field, (*at, name))
        if alternative.get("type") == "array":
            yield from objects(document, alternative.get("items", {}), (*at, ITEM))


def free_texts(document: Json, schema: Mapping[str, Any], at: Path = ()) -> Iterator[Path]:
    """The place of every text that a client may choose: no listed value, and no id of another resource."""
    for alternative in alternatives(document, schema):
        is_id = "{8}" in alternative.get("pattern", "") or alternative.get("format") in ("uuid", "date-time")
        if alternative.get("type") == "string" and not is_id and not {"enum", "const"} & set(alternative):
            yield at
        for name, field in alternative.get("properties", {}).items():
            yield from free_texts(document, field, (*at, name))
        if alternative.get("type") == "array":
            yield from free_texts(document, alternative.get("items", {}), (*at, ITEM))
        if isinstance(alternative.get("additionalProperties"), dict):
            yield from free_texts(document, alternative["additionalProperties"], (*at, "a_key"))


def changed(body: Json, path: Path, value: Any) -> Json:
    """A copy of the body with this value at that place. Objects and lists on the way are made."""
    copy: Any = deepcopy(body)
    at = copy
    for step, following in zip(path, (*path[1:], None), strict=True):
        key: Any = 0 if step == ITEM else step
        if isinstance(at, list) and not at:
            at.append({})
        if following is None:
            at[key] = value
        elif not isinstance(at[key] if isinstance(at, list) else at.get(key), (dict, list)):
            at[key] = [{}] if following == ITEM else {}
        at = at[key]
    return dict(copy)
