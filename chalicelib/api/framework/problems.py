"""The errors that each operation can give, for the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from chalicelib.api.documentation.errors import CODES_OF, MEANINGS
from chalicelib.api.framework.errors import CODES
from chalicelib.api.framework.route import Route
from chalicelib.domain.access import Permission

Json = dict[str, Any]

CORRELATION = {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"}
_TEXTS: Mapping[int, str] = {
    400: "The body cannot be read.",
    401: "The caller is not signed in.",
    403: "The role does not allow it.",
    404: "There is no such resource.",
    409: "The state of the resource does not allow it now.",
    410: "Removed for good.",
    412: "The stored version is another one.",
    413: "The body is over 256 KiB.",
    415: "The body is not declared as JSON.",
    422: "The request is well-formed and cannot be carried out.",
    429: "Too many attempts.",
    500: "An unexpected failure.",
    502: "Kafka Connect refused.",
    503: "A required system cannot be reached.",
    504: "A required system did not respond in time.",
}
FAULT: Json = {
    "type": "object",
    "description": "What is wrong at one place of a request, and what is right. It repeats no value that was sent.",
    "required": ["location", "type", "message"],
    "additionalProperties": False,
    "properties": {
        "location": {
            "type": "array",
            "items": {"type": ["string", "integer"]},
            "description": "Where: first body, query, path or header, then names of fields and positions in lists.",
        },
        "type": {"type": "string", "description": "The kind of the fault, for programs."},
        "message": {"type": "string", "description": "One sentence that says what is right."},
        "allowed": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The values or the fields that are possible here, at most 40.",
        },
        "limit": {"type": "integer", "description": "The bound that was broken."},
        "did_you_mean": {"type": "string", "description": "The known name or value that is nearest to what was sent."},
        "option": {"type": "string", "description": "The field to set instead of a property of the connector."},
    },
}
_DETAILS: Json = {
    "type": ["object", "array"],
    "items": {"$ref": "#/components/schemas/Fault"},
    "description": "What helps to do better. `VALIDATION_FAILED`: a list of faults. `RESOURCE_IN_USE`: `used_by`, at "
    "most 20 resources with type, id and name. `NAME_CONFLICT`: `resource`, which has the name. "
    "`CONNECTOR_CONFIG_INVALID`: `errors`, each with field and messages. `FORBIDDEN`: the permission, and the roles "
    "that have it. `NOT_FOUND`: `did_you_mean`, a path of this API. `METHOD_NOT_ALLOWED`: `allowed`, its methods. "
    "`MALFORMED_JSON`: line and column.",
}
_STATUS = {code: status for status, codes in CODES.items() for code in codes}
_ALWAYS = ("PAYLOAD_TOO_LARGE", "RATE_LIMITED", "INTERNAL", "TRY_AGAIN")


def is_gone(route: Route) -> bool:
    return 410 in route.also


def problems(route: Route) -> Json:
    """The error responses of the operation by status, each with its codes."""
    codes = codes_of(route)
    statuses = sorted({_STATUS[code] for code in codes})
    return {str(status): _problem(status, [code for code in CODES[status] if code in codes]) for status in statuses}


def all_problems() -> Json:
    """A response for each status, with every code that it can have anywhere."""
    return {f"Problem{status}": _problem(status, CODES[status]) for status in _TEXTS}


def codes_of(route: Route) -> frozenset[str]:
    """The codes that follow from the route, and those that its service has."""
    writes = route.method != "GET"
    signed_in = route.needs is not Permission.PUBLIC
    takes_body = route.method in ("POST", "PUT", "PATCH") or route.body is not None
    derived = {
        ("MALFORMED_JSON", "UNSUPPORTED_MEDIA_TYPE"): takes_body,
        ("UNAUTHENTICATED", "FORBIDDEN"): signed_in,
        ("CSRF_REJECTED",): signed_in and writes,
        ("NOT_FOUND",): bool(route.variables) or 404 in route.also,
        # Of a row that this release cannot read.
        ("STATE_CONFLICT",): bool(route.variables) or 409 in route.also,
        ("IDEMPOTENCY_KEY_REUSED", "REQUEST_IN_PROGRESS"): signed_in and route.method == "POST",
        ("EVENTS_REMOVED",): is_gone(route),
        ("VERSION_MISMATCH",): writes and route.method != "POST",
        ("VALIDATION_FAILED",): not route.any_query,
    }
    found = [code for codes, applies in derived.items() if applies for code in codes]
    return frozenset((*_ALWAYS, *found, *CODES_OF.get(route.name, ())))


def _problem(status: int, codes: list[str] | tuple[str, ...]) -> Json:
    headers: Json = {"X-Correlation-ID": {"schema": CORRELATION}}
    if status in (409, 429, 503):
        headers["Retry-After"] = {"schema": {"type": "integer", "minimum": 1}}
    lines = [f"- `{code}`: {MEANINGS[code]}" for code in codes]
    content = {"application/json": {"schema": error_schema(codes)}}
    return {"description": "\n".join((_TEXTS[status], "", *lines)), "headers": headers, "content": content}


def error_schema(codes: list[str] | tuple[str, ...] | None) -> Json:
    """The body of an error, with these codes; None: with any."""
    code: Json = {"type": "string", "description": "A fixed word for programs to compare."}
    error: Json = {
        "type": "object",
        "description": "What is wrong.",
        "required": ["code", "message", "details"],
        "properties": {
            "code": code if codes is None else {**code, "enum": list(codes)},
            "message": {"type": "string", "description": "One sentence for people: what is wrong and what is right."},
            "details": _DETAILS,
        },
    }
    return {"type": "object", "required": ["error"], "properties": {"error": error}}
