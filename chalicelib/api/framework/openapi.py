"""The OpenAPI 3.1 document, built from the records by which the routes are served."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from pydantic import TypeAdapter

from chalicelib.api.documentation.bodies import bodies_of
from chalicelib.api.documentation.groups import GROUPS, INTRODUCTION
from chalicelib.api.documentation.schemas import add_examples, describe
from chalicelib.api.documentation.texts import path_text
from chalicelib.api.framework.body_tags import OBSERVED_AT, has_body_tag
from chalicelib.api.framework.dry_run import DryRunQuery
from chalicelib.api.framework.plans import PlanOutput
from chalicelib.api.framework.problems import CORRELATION, FAULT, all_problems, error_schema, is_gone, problems
from chalicelib.api.framework.rendering import NEXT_CURSOR, UNREADABLE
from chalicelib.api.framework.route import Route
from chalicelib.domain.access import GRANTS, Permission

Json = dict[str, Any]
Mounted = tuple[str, Route]
"""A route with its full path."""

Part = Literal["body", "query", "response"]
Mode = Literal["validation", "serialization"]
Key = tuple[str, Mode]
Schemas = dict[Key, Json]

_PARAMETERS: Mapping[str, Json] = {
    "CorrelationId": {
        "name": "X-Correlation-ID",
        "in": "header",
        "description": "Identifies the request in logs and in the audit trail. Generated when absent, always returned. "
        "Required for changes that are authenticated by a cookie.",
        # No pattern: a malformed id is replaced, not refused.
        "schema": {"type": "string"},
    },
    "Background": {
        "name": "X-Headgate-Background",
        "in": "header",
        "description": "With the value 1: the request is one that a page makes by itself, and it does not keep the "
        "session alive.",
        "schema": {"type": "string"},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes repeating the request safe: for 24 hours the first response is sent again.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": "The version that the change is based on, in double quotes; another stored version is 412.",
        "schema": {"type": "string", "pattern": '^"(0|[1-9][0-9]{0,15})"$'},
    },
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "description": "The `ETag` of an answer that the client has: 304 without a body, while nothing in it has "
        "changed but the times at which it was observed.",
        "schema": {"type": "string"},
    },
}
_NOT_MODIFIED: Json = {
    "description": "Nothing in the answer that the client has was changed, but the times at which it was observed.",
    "headers": {
        "X-Correlation-ID": {"schema": CORRELATION},
        "ETag": {"$ref": "#/components/headers/BodyTag"},
        OBSERVED_AT: {
            "description": "The newest of these times; where there is none, the time of this answer.",
            "schema": {"type": "string", "format": "date-time"},
        },
    },
}
_HEADERS: Mapping[str, Json] = {
    "BodyTag": {
        "description": "Names the body, without the times at which it was observed: for `If-None-Match`.",
        "schema": {"type": "string", "pattern": '^W/"[0-9a-f]{32}"$'},
    },
    "Build": {
        "description": "The build of the console that is installed, in answers to a session: a page that was loaded "
        "with another one is older or newer.",
        "schema": {"type": "string"},
    },
}
_SECURITY: Mapping[str, Json] = {
    "session": {"type": "apiKey", "in": "cookie", "name": "headgate_session", "description": "From POST /auth/login."},
    "token": {"type": "http", "scheme": "bearer", "description": "An API token, `hg_...`."},
}
_UNREADABLE = (
    "Rows that are left out because this release cannot read them, such as `pipeline/<id>`: a newer release has "
    "written them. At most 20."
)
_VARIABLE = re.compile(r"{(\w+)}")
_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


def document(mounted: Iterable[Mounted], *, title: str, version: str) -> Json:
    """The document for these routes; hidden ones are left out. Raises `ValueError` when two operations have one id."""
    shown = [(path, route) for path, route in mounted if not route.hidden]
    if len({route.name for _, route in shown}) < len(shown):
        raise ValueError("two handlers have one name: it is the id of the operation")
    schemas, definitions = _schemas([route for _, route in shown])
    describe(definitions)
    paths: dict[str, Json] = {}
    for path, route in shown:
        paths.setdefault(path, {})[route.method.lower()] = _operation(path, route, schemas, definitions)
    for key in (_DRY_RUN, *(_key(route, "query") for _, route in shown if route.query is not None)):
        # Its fields are parameters of the operation.
        definitions.pop(_reference(schemas[key]), None)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": INTRODUCTION},
        "servers": [{"url": "/"}],
        "tags": _groups({route.tag for _, route in shown}),
        "paths": paths,
        "components": {
            "schemas": {"Error": error_schema(None), "Fault": FAULT, **definitions},
            "responses": {"NotModified": _NOT_MODIFIED, **all_problems()},
            "parameters": dict(_PARAMETERS),
            "headers": dict(_HEADERS),
            "securitySchemes": dict(_SECURITY),
        },
    }


def _groups(used: set[str]) -> list[Json]:
    """The groups in the order of work, those that nobody has described behind them."""
    names = [*(name for name in GROUPS if name in used), *sorted(used - GROUPS.keys())]
    return [{"name": name, "description": GROUPS.get(name, "")} for name in names]


def _schemas(routes: list[Route]) -> tuple[Schemas, dict[str, Json]]:
    """The schema of every body, query and response, and the definitions they refer to."""
    inputs: list[tuple[str, Mode, TypeAdapter[Any]]] = []
    for route in routes:
        parts: dict[Part, Any] = {"body": route.body, "query": route.query, "response": route.response.model}
        inputs += [(*_key(route, part), TypeAdapter(model)) for part, model in parts.items() if model is not None]
    inputs += [(*_PLAN, TypeAdapter(PlanOutput)), (*_DRY_RUN, TypeAdapter(DryRunQuery))]
    schemas, outer = TypeAdapter.json_schemas(inputs, ref_template="#/components/schemas/{model}")
    definitions: dict[str, Json] = outer.get("$defs", {})
    _name_bounds([schemas, definitions])
    for definition in definitions.values():
        if "properties" in definition:
            # Unknown fields are refused at every depth, and responses have none.
            definition.setdefault("additionalProperties", False)
    return dict(schemas), definitions


def _name_bounds(schema: Any) -> None:
    """Pydantic leaves the bounds of an optional number with a validator of its own under its own names. It does not say
    that a map whose keys have a pattern takes no others.
    """
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            _name_bounds(part)
    if isinstance(schema, dict) and schema.get("type") in ("integer", "number"):
        for own, keyword in _BOUNDS.items():
            if own in schema:
                schema[keyword] = schema.pop(own)
    if isinstance(schema, dict) and "patternProperties" in schema:
        schema.setdefault("additionalProperties", False)


_SCHEMES: Mapping[Permission, tuple[str, ...]] = {Permission.PUBLIC: (), Permission.MANAGE_USERS: ("session",)}
"""How one signs in for a permission, where not everything will do."""


def _schemes(route: Route) -> tuple[str, ...]:
    return _SCHEMES.get(route.needs, ("session", "token"))


_PLAN: Key = ("plan", "serialization")
_DRY_RUN: Key = ("dry run", "validation")
"""What all calls with dry runs share."""


def _key(route: Route, part: Part) -> Key:
    return f"{route.name}.{part}", "serialization" if part == "response" else "validation"


def _operation(path: str, route: Route, schemas: Schemas, definitions: Mapping[str, Json]) -> Json:
    roles = [role.value for role, granted in GRANTS.items() if route.needs in granted]
    operation: Json = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary.rstrip("."),
        "description": f"{route.description}\n\n{_who_may(route, roles)}",
        "deprecated": is_gone(route),
        "x-permission": route.needs.value,
        "x-roles": roles or [role.value for role in GRANTS],
        "security": [{scheme: []} for scheme in _schemes(route)],
        "parameters": _parameters(path, route, schemas, definitions),
        "responses": _responses(route, schemas),
    }
    if route.body is not None:
        operation["requestBody"] = _body(route, schemas[_key(route, "body")], definitions)
    return operation


def _body(route: Route, schema: Json, definitions: Mapping[str, Json]) -> Json:
    content: Json = {"schema": schema}
    if bodies := bodies_of(route.name):
        content["examples"] = {name: {"summary": name, "value": body} for name, body in bodies.items()}
        for body in bodies.values():
            add_examples(schema, body, definitions)
    return {"required": route.body_required, "content": {"application/json": content}}


def _who_may(route: Route, roles: list[str]) -> str:
    """The row of the permission matrix, for people who read the documentation."""
    if route.needs is Permission.PUBLIC:
        return "For everybody."
    granted = f"The permission `{route.needs}`: {', '.join(roles)}."
    if route.needs is Permission.MANAGE_USERS:
        return f"Who may: {granted} With a session, never with a token."
    return f"Who may: {granted}" if roles else "Who may: everybody who has signed in."


def _parameters(path: str, route: Route, schemas: Schemas, definitions: Mapping[str, Json]) -> list[Json]:
    named = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": path_text(path, name) or "",
            "schema": dict(route.variables[name].schema),
        }
        for name in _VARIABLE.findall(path)
    ]
    signed_in = ["Background"] if "session" in _schemes(route) else []
    conditional = {"POST": ["IdempotencyKey"], "PUT": ["IfMatch"], "PATCH": ["IfMatch"], "DELETE": ["IfMatch"]}
    ignored = {"IdempotencyKey"} if route.needs is Permission.PUBLIC else set()
    changing = [name for name in conditional.get(route.method, []) if name not in ignored]
    tagged = ["IfNoneMatch"] if _has_body_tag(route) else []
    headers = ["CorrelationId", *signed_in, *changing, *tagged]
    references = [{"$ref": f"#/components/parameters/{name}"} for name in headers]
    return named + _query(route, schemas, definitions) + references


def _query(route: Route, schemas: Schemas, definitions: Mapping[str, Json]) -> list[Json]:
    keys = [*([_key(route, "query")] if route.query else []), *([_DRY_RUN] if route.has_dry_run else [])]
    return [parameter for key in keys for parameter in _query_parameters(schemas[key], definitions)]


def _query_parameters(schema: Json, definitions: Mapping[str, Json]) -> list[Json]:
    schema = definitions.get(_reference(schema), schema)
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": field.get("description", ""),
            "schema": _without_null(field),
        }
        for name, field in schema.get("properties", {}).items()
    ]


def _without_null(schema: Json) -> Json:
    """A query has no null: an optional parameter is one that is not required."""
    kept = [member for member in schema.get("anyOf", []) if member != {"type": "null"}]
    if len(kept) != 1:
        return schema
    return {**kept[0], **{k: v for k, v in schema.items() if k != "anyOf" and not (k == "default" and v is None)}}


def _reference(schema: Json) -> str:
    return str(schema.get("$ref", "")).removeprefix("#/components/schemas/")


def _responses(route: Route, schemas: Schemas) -> Json:
    responses: Json = {}
    for status in () if is_gone(route) else (route.status, *route.also):
        if status < 400 or route.response.kind == "model":
            responses[str(status)] = _success(route, status, schemas)
    if route.has_dry_run:
        responses["200"] = _with_plan(responses.get("200"), schemas[_PLAN])
    if _has_body_tag(route):
        responses["304"] = {"$ref": "#/components/responses/NotModified"}
    # A documented answer may have the status of an error: that a store does not respond, of `/ready`.
    return problems(route) | responses


def _success(route: Route, status: int, schemas: Schemas) -> Json:
    headers: Json = {"X-Correlation-ID": {"schema": CORRELATION}}
    if "session" in _schemes(route):
        headers["X-Headgate-Build"] = {"$ref": "#/components/headers/Build"}
    if status == 201:
        headers["Location"] = {"schema": {"type": "string"}}
    if route.response.may_continue:
        headers[NEXT_CURSOR] = {"description": "Present when the list continues.", "schema": {"type": "string"}}
    if route.method == "GET" and route.response.model is not None:
        headers[UNREADABLE] = {"description": _UNREADABLE, "schema": {"type": "string"}}
    if _has_body_tag(route) and status == 200:
        headers["ETag"] = {"$ref": "#/components/headers/BodyTag"}
    if route.response.kind == "page" and route.query is not None and "fresh" in route.query.model_fields:
        headers[OBSERVED_AT] = {"description": "When the server answered.", "schema": {"type": "string"}}
    response: Json = {"description": route.summary, "headers": headers}
    if route.response.model is not None and status != 204:
        schema = schemas[_key(route, "response")]
        if route.response.kind in ("page", "list"):
            schema = {"type": "array", "items": schema}
        response["content"] = {"application/json": {"schema": schema}}
    elif route.response.kind == "text":
        response["content"] = {"text/plain": {"schema": {"type": "string"}}}
    return response


def _with_plan(response: Json | None, plan: Json) -> Json:
    """The answer 200 of a call that also answers dry runs."""
    if response is None:
        headers = {"X-Correlation-ID": {"schema": CORRELATION}}
        return {
            "description": "With `dry_run=true`: what the call would do",
            "headers": headers,
            "content": {"application/json": {"schema": plan}},
        }
    answer = response["content"]["application/json"]["schema"]
    text = f"{response['description']}. With `dry_run=true`: what the call would do"
    content = {"application/json": {"schema": {"anyOf": [answer, plan]}}}
    return {**response, "description": text, "content": content}


def _has_body_tag(route: Route) -> bool:
    """Whether its answers have the tag of their body: those with a version have that as their ETag."""
    kind, model = route.response.kind, route.response.model
    if model is None or route.status != 200 or not has_body_tag(route):
        return False
    if kind == "model" and route.response.sets_headers:
        return False
    return kind in ("page", "list") or not any(
        "version" in getattr(member, "model_fields", ()) for member in (get_args(model) or (model,))
    )


def as_text(document: Json, base: str) -> str:
    """The document as JSON, for a client that reaches the API behind `base`."""
    return json.dumps({**document, "servers": [{"url": base or "/"}]}, separators=(",", ":"))
