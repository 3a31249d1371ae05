"""Tries to set fields that only the server sets, in every body of every operation of the document."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.support.apps.sandbox import Api
from tests.support.hostile.document_fields import (
    Json,
    Path,
    alternatives,
    body_schema,
    changed,
    constants,
    objects,
    resolved,
)

OWNED = (
    "id", "version", "status", "created_at", "updated_at", "role", "is_admin", "permissions", "owner_id", "created_by",
    "desired_state", "observed_state", "connector_name", "password_hash", "request_key", "secret_id", "__class__",
)  # fmt: skip
"""Tried in every object, beside the fields of the operation's response."""
IN_CREDENTIALS = ("id", "configured", "mask", "version", "fields", "ciphertext")
NO_LISTS = ("/api/v1/events", "/api/v1/export")
"""The second leaves an audit record."""

OLD_ID = "00000000-0000-4000-8000-000000000000"


@dataclass(kw_only=True)
class Attempts:
    """`accepted` are those that were not answered with a 422 that names the field."""

    count: int = 0
    accepted: list[str] = field(default_factory=list)


def try_all(api: Api, document: Json) -> Attempts:
    """Every attempt at every operation that takes a body, or could be sent one; one field each."""
    attempts = Attempts()
    ids = known_ids(api, document)
    for path, operations in document["paths"].items():
        for method in ("post", "put", "patch"):
            if method in operations and operations[method]["operationId"] != "logout":
                address = "/" + address_of(document, path, operations[method], ids)
                for base, at, name in _fields(document, method, path):
                    attempts.count += 1
                    answer = api.call(method.upper(), address, changed(base, (*at, name), OLD_ID))
                    if not _refuses(answer, name):
                        attempts.accepted.append(
                            f"{method} {path} {at} {name}: {answer.status_code} {answer.text[:200]}"
                        )
    return attempts


def _refuses(answer: Any, name: str) -> bool:
    if answer.status_code != 422:
        return False
    details = answer.json()["error"]["details"]
    return any(
        detail["type"] == "extra_forbidden" and (detail["location"][-1] == name or not name[0].isalpha())
        for detail in details
    )


def _fields(document: Json, method: str, path: str) -> Iterator[tuple[Json, Path, str]]:
    """The place of each object in the body and each name that it must not take, with the body that it is tried in."""
    response_fields = _response_fields(document, document["paths"][path][method])
    for alternative in alternatives(document, body_schema(document, method, path) or {}):
        base = constants(alternative)
        places: dict[Path, frozenset[str]] = {(): frozenset()}
        for at, names in objects(document, alternative):
            places[at] = places.get(at, frozenset()) | names
        for at, names in places.items():
            tried = {
                *OWNED,
                *(response_fields if at == () else ()),
                *(IN_CREDENTIALS if at[-1:] == ("credentials",) else ()),
            }
            yield from ((base, at, name) for name in sorted(tried - names))


def _response_fields(document: Json, operation: Json) -> set[str]:
    names: set[str] = set()
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json")
        if status[0] == "2" and content:
            for alternative in alternatives(document, content["schema"]):
                names |= set(alternative.get("properties", {}))
    return names


def known_ids(api: Api, document: Json) -> dict[str, str]:
    """The id of an existing resource, by the path of its list."""
    fields = {}
    for path, operations in document["paths"].items():
        if "get" in operations and "{" not in path and path.startswith("/api/v1/") and path not in NO_LISTS:
            listed = api.get("/" + path).json()
            if isinstance(listed, list) and listed and "id" in listed[0]:
                fields[path] = listed[0]["id"]
    return fields


def address_of(document: Json, path: str, operation: Json, ids: Json) -> str:
    """The path with an existing resource of its list, or one that does not exist; with the query that it needs."""
    existing_id, query = ids.get(path.partition("/{")[0], OLD_ID), []
    for parameter in operation["parameters"]:
        schema = resolved(document, parameter.get("schema", {}))
        value = "0" if schema.get("type") == "integer" else schema.get("enum", [OLD_ID])[0]
        if parameter.get("in") == "path":
            path = path.replace(f"{{{parameter['name']}}}", existing_id if parameter["name"] == "uuid" else value)
        elif parameter.get("in") == "query" and parameter["required"]:
            query.append(f"{parameter['name']}={value}")
    return f"{path}?{'&'.join(query)}" if query else path
