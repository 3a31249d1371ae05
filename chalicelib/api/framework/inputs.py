"""From a request to the arguments of a handler: path variables, query, body and conditional headers.

The details of an error contain locations and kinds only, no values. A location consists of field names that the models
of the route declare; what came from the caller (a key of a map, the label of a union's member) is left out. An unknown
field is named when it looks like a field name: this helps with a spelling mistake and cannot repeat a secret.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, get_args, get_origin
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError

from chalicelib.api.framework.http import HttpRequest
from chalicelib.api.framework.route import Route
from chalicelib.errors import Invalid, Malformed, NotFound, TooLarge, UnsupportedMedia
from chalicelib.kit import strict_json
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import BadCursor, Signer

MAX_BODY_BYTES = 256 * 1024
MAX_DETAILS = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\s*(?:;\s*charset\s*=\s*\"?utf-?8\"?\s*)?\Z", re.IGNORECASE)
_VERSION = re.compile(r'"(0|[1-9][0-9]{0,15})"\Z')
_LIKE_A_FIELD = re.compile(r"[a-z]{1,20}(_[a-z]{1,20}){0,4}\Z")
_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_NO_MEMBER = ("union_tag_not_found", "union_tag_invalid")
"""Of a union: the discriminator is missing, or no value of it."""
Location = tuple[str | int, ...]
Fault = tuple[Location, str]
"""Where something is wrong, and the kind of mistake."""


@dataclass(frozen=True, slots=True)
class Body:
    """The model is for the handler; the canonical text is equal for requests that differ in spelling only."""

    model: Any
    canonical: bytes


def check_size(request: HttpRequest) -> None:
    """Raises `TooLarge` for a body over 256 KiB, by its declared length if it was not read."""
    declared = request.headers.get("content-length", "0")
    if len(request.body or b"") > MAX_BODY_BYTES or (declared.isdecimal() and int(declared[:20]) > MAX_BODY_BYTES):
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES // 1024} KiB.")


def check_content_type(request: HttpRequest) -> None:
    """Raises `UnsupportedMedia` for a body that is not declared as JSON in UTF-8."""
    if request.body and not _JSON_TYPE.match(request.headers.get("content-type", "").strip()):
        raise UnsupportedMedia("Send the body as application/json.")


def path_values(route: Route, request: HttpRequest) -> dict[str, Any]:
    """The variables of the path, decoded once. Raises `NotFound` for a value that its rule does not accept."""
    values: dict[str, Any] = {}
    for name, rule in route.variables.items():
        text = unquote(request.path_values.get(name, ""))
        if not rule.accepts(text):
            raise NotFound("There is nothing at this address.")
        values[name] = rule.convert(text)
    return values


def with_canonical_path(request: HttpRequest, values: Mapping[str, Any]) -> HttpRequest:
    """The request with its path in one spelling: percent-encoding and a trailing slash make no difference."""
    return replace(request, path=request.route.format_map(values))


def if_match(request: HttpRequest) -> int | None:
    """The version in `If-Match: "<version>"`. Raises `Invalid`."""
    header = request.headers.get("if-match")
    if header is None:
        return None
    if not (match := _VERSION.match(header.strip())):
        message = 'If-Match takes one version in double quotes, such as "3".'
        raise Invalid.at("header", "If-Match", type_="version", message=message)
    return int(match[1])


def idempotency_key(request: HttpRequest) -> str | None:
    """The `Idempotency-Key` of a POST. Raises `Invalid`."""
    key = request.headers.get("idempotency-key") if request.method == "POST" else None
    if key is not None and not _IDEMPOTENCY_KEY.match(key):
        message, kind = "Idempotency-Key is 1 to 64 of A-Za-z0-9._-", "string_pattern_mismatch"
        raise Invalid.at("header", "Idempotency-Key", type_=kind, message=message)
    return key


def query_model(route: Route, request: HttpRequest) -> BaseModel | None:
    """The query as the route's model. Raises `Invalid`."""
    model, fields = route.query, _query_fields(route.query)
    if not route.any_query:
        _raise_any(_query_faults(request.query, fields))
    if model is None:
        return None
    sent = [(name, values) for name, values in request.query.items() if name in fields]
    values = {name: list(values) if fields[name] else values[0] for name, values in sent}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _invalid("query", error, frozenset(fields)) from None


def cursor_key(cursor: str, request: HttpRequest, signer: Signer, now: datetime) -> str:
    """The store's key that was signed into the cursor. Raises `Invalid`."""
    try:
        return signer.unsign(list_scope(request), cursor, now)
    except BadCursor:
        message = "The cursor is not of this list with these filters, or too old."
        raise Invalid.at("query", "cursor", type_="cursor", message=message) from None


def list_scope(request: HttpRequest, list_path: str = "") -> str:
    """What a cursor is valid for: the list's path, which may lie below that of the request, and its filters."""
    filters = sorted((name, list(values)) for name, values in request.query.items() if name not in ("cursor", "limit"))
    return json.dumps([request.path.rstrip("/") + list_path, filters])


def body_model(route: Route, request: HttpRequest) -> Body:
    """The body as the route's model. Raises `Malformed` or `Invalid`."""
    raw = request.body
    if raw is None:
        raise Malformed("The body cannot be decoded.")
    if not raw.strip():
        if route.body is not None and route.body_required:
            raise Malformed("The request needs a JSON body.")
        return Body(None, b"")
    try:
        parsed = strict_json.loads(raw)
    except strict_json.NotStrictJson as error:
        raise Malformed(f"The body is not JSON that is accepted here: {error}.") from None
    # A route without a body accepts none or an empty object.
    expected = route.body if route.body is not None else _NoBody
    fields = _field_names(expected)
    # Walking through every string costs more than searching the bytes once, and few bodies have such a text.
    if strict_json.may_hide(raw, b"${"):
        _raise_any(_text_faults(parsed, ("body",), fields))
    try:
        model = adapter(expected).validate_json(raw, extra="forbid")
    except ValidationError as error:
        raise _invalid("body", error, fields, _discriminator(expected)) from None
    canonical = json.dumps(parsed, sort_keys=True, separators=(",", ":")).encode()
    return Body(model if route.body is not None else None, canonical)


class _NoBody(BaseModel, defer_build=True):
    pass


@lru_cache(maxsize=512)
def _field_names(model: Any) -> frozenset[str]:
    return frozenset(_names_in(adapter(model).json_schema()))


@lru_cache(maxsize=512)
def _discriminator(model: Any) -> str | None:
    """The field whose value says which of several models a body is; None for a body that is always the same."""
    # Only whole bodies are such unions, no part of one: a test of the OpenAPI document says so.
    name = adapter(model).json_schema().get("discriminator", {}).get("propertyName")
    return None if name is None else str(name)


def _names_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _names_in(part)


@lru_cache(maxsize=256)
def _query_fields(model: type[BaseModel] | None) -> Mapping[str, bool]:
    """The parameters of a query model by their name on the wire, and whether each takes several values."""
    if model is None:
        return {}
    return {field.alias or name: _is_list(field.annotation) for name, field in model.model_fields.items()}


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) in (list, tuple, set, frozenset) or any(
        _is_list(part) for part in get_args(annotation)
    )


def _query_faults(query: Mapping[str, Iterable[str]], fields: Mapping[str, bool]) -> Iterator[Fault]:
    for name, values in query.items():
        texts = list(values)
        if name not in fields:
            yield ("query", *_field_like(name)), "extra_forbidden"
        elif len(texts) > 1 and not fields[name]:
            yield ("query", name), "single_value"
        for text in (name, *texts):
            if kind := _text_fault(text):
                yield ("query", *((name,) if name in fields else ())), kind


def _text_faults(value: Any, location: Location, fields: frozenset[str]) -> Iterator[Fault]:
    """Strings that no field may contain, at any depth: the parser has bounded the depth."""
    if isinstance(value, str):
        if kind := _text_fault(value):
            yield location, kind
    elif isinstance(value, dict):
        for key, item in value.items():
            if kind := _text_fault(key):
                yield location, kind
            yield from _text_faults(item, (*location, key) if key in fields else location, fields)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _text_faults(item, (*location, index), fields)


def _text_fault(text: str) -> str | None:
    if "${" in text:
        # Kafka Connect would read it as a reference to a secret (wire contract, "Credentials, everywhere").
        return "secret_reference_not_allowed"
    if "\x00" in text:
        return "null_character_not_allowed"
    return "lone_surrogate_not_allowed" if _SURROGATE.search(text) else None


def _invalid(part: str, error: ValidationError, fields: frozenset[str], discriminator: str | None = None) -> Invalid:
    def faults() -> Iterator[Fault]:
        for detail in error.errors(include_url=False, include_context=False, include_input=False):
            location, kind = detail["loc"], detail["type"]
            yield (part, *_location(_without_tag(location, kind, discriminator), kind, fields)), kind

    return _refusal(faults())


def _without_tag(location: Location, kind: str, discriminator: str | None) -> Location:
    if discriminator is None:
        return location
    # Pydantic begins it with the value of the discriminator.
    return (discriminator,) if kind in _NO_MEMBER else location[1:]


def _location(location: Location, kind: str, fields: frozenset[str]) -> Location:
    declared = tuple(part for part in location if isinstance(part, int) or part in fields)
    last = location[-1] if location else ""
    unknown_field = kind == "extra_forbidden" and declared[-1:] != (last,)
    return (*declared, *_field_like(last)) if unknown_field else declared


def _field_like(name: str | int) -> tuple[str, ...]:
    return (str(name),) if _LIKE_A_FIELD.match(str(name)) else ()


def _raise_any(faults: Iterable[Fault]) -> None:
    refusal = _refusal(faults)
    if refusal.details:
        raise refusal


def _refusal(faults: Iterable[Fault]) -> Invalid:
    distinct: dict[Fault, None] = {}
    for fault in faults:
        distinct[fault] = None
        if len(distinct) == MAX_DETAILS:
            break
    return Invalid(
        "The request is not valid; details name the fields.",
        details=[{"location": list(location), "type": kind} for location, kind in distinct],
    )
