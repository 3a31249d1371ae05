"""From a request to the arguments of a handler: path variables, query, body and conditional headers.

The details of an error contain no value that was sent: see `faults`. A location consists of field names that the models
of the route declare; what came from the caller (a key of a map, the label of a union's member) is left out. An unknown
field is named when it looks like a field name: this helps with a spelling mistake and cannot repeat a secret.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError

from chalicelib.api.framework.declared import Location, names_in, schema_of
from chalicelib.api.framework.dry_run import PARAMETER, DryRunQuery
from chalicelib.api.framework.http import HttpRequest
from chalicelib.api.framework.route import Route
from chalicelib.errors import Invalid, Malformed, NotFound, TooLarge, UnsupportedMedia, fault
from chalicelib.kit import strict_json
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import BadCursor, Signer

Query = TypeVar("Query", bound=BaseModel)

MAX_BODY_BYTES = 256 * 1024
MAX_DETAILS = 100
NOT_JSON = "Send the body as JSON, in UTF-8, with the header Content-Type: application/json."
_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\s*(?:;\s*charset\s*=\s*\"?utf-?8\"?\s*)?\Z", re.IGNORECASE)
_VERSION = re.compile(r'"(0|[1-9][0-9]{0,15})"\Z')
_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_KEY_FORM = "1 to 64 letters, digits, dots, underscores and dashes"
Fault = dict[str, Any]
"""As `errors.fault` makes it."""


@dataclass(frozen=True, slots=True)
class Body:
    """The model is for the handler; the canonical text is equal for requests that differ in spelling only."""

    model: Any
    canonical: bytes


_TEXT_FAULTS: Mapping[str, str] = {
    "secret_reference_not_allowed": "No text may hold a dollar sign before an opening brace: Kafka Connect would "
    "read it as a reference to a secret. Remove it.",
    "null_character_not_allowed": "No text may hold the character U+0000. Remove it.",
    "lone_surrogate_not_allowed": "A text holds half of a character (a lone surrogate). Send it in valid UTF-8.",
}
"""What no text may hold, whatever its field."""


def check_size(request: HttpRequest) -> None:
    """Raises `TooLarge` for a body over 256 KiB, by its declared length if it was not read."""
    declared = request.headers.get("content-length", "0")
    if len(request.body or b"") > MAX_BODY_BYTES or (declared.isdecimal() and int(declared[:20]) > MAX_BODY_BYTES):
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES // 1024} KiB.")


def check_content_type(request: HttpRequest) -> None:
    """Raises `UnsupportedMedia` for a body that is not declared as JSON in UTF-8."""
    if request.body and not _JSON_TYPE.match(request.headers.get("content-type", "").strip()):
        raise UnsupportedMedia(NOT_JSON)


def path_values(route: Route, request: HttpRequest) -> dict[str, Any]:
    """The variables of the path, decoded once. Raises `NotFound` for a value that its rule does not accept."""
    values: dict[str, Any] = {}
    for name, rule in route.variables.items():
        text = unquote(request.path_values.get(name, ""))
        if not rule.accepts(text):
            raise NotFound(f"There is nothing at this address: {{{name}}} in its path has to be {rule.meaning}.")
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
        message = 'If-Match takes one version in double quotes, such as "3": the ETag of the answer that you read.'
        raise Invalid.at("header", "If-Match", type_="version", message=message)
    return int(match[1])


def idempotency_key(request: HttpRequest) -> str | None:
    """The `Idempotency-Key` of a POST. Raises `Invalid`."""
    key = request.headers.get("idempotency-key") if request.method == "POST" else None
    if key is not None and not _IDEMPOTENCY_KEY.match(key):
        message, kind = f"Idempotency-Key is {_KEY_FORM}, without blanks, such as a UUID.", "string_pattern_mismatch"
        raise Invalid.at("header", "Idempotency-Key", type_=kind, message=message)
    return key


def query_model(route: Route, request: HttpRequest) -> BaseModel | None:
    """The query as the route's model. Raises `Invalid`."""
    model, fields = route.query, _query_fields(route.query)
    if not route.any_query:
        own = _query_fields(DryRunQuery) if route.has_dry_run else {}
        _raise_any(_query_faults(request.query, {**fields, **own}))
    return None if model is None else _query_of(model, request)


def wants_dry_run(route: Route, request: HttpRequest) -> bool:
    """Whether the request asks only what the call would do. Raises `Invalid`."""
    return route.has_dry_run and PARAMETER in request.query and _query_of(DryRunQuery, request).dry_run


def _query_of(model: type[Query], request: HttpRequest) -> Query:
    """The parameters of the query that the model has."""
    fields = _query_fields(model)
    sent = [(name, values) for name, values in request.query.items() if name in fields]
    values = {name: list(values) if fields[name] else values[0] for name, values in sent}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _invalid("query", error, model, values) from None


def cursor_key(cursor: str, request: HttpRequest, signer: Signer, now: datetime) -> str:
    """The store's key that was signed into the cursor. Raises `Invalid`."""
    try:
        return signer.unsign(list_scope(request), cursor, now)
    except BadCursor:
        message = (
            "The cursor is not of this list with these filters, or older than a day. Take the X-Next-Cursor of the "
            "page before unchanged, or begin again without a cursor."
        )
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
            raise Malformed(
                "The request needs a JSON body: an object with the fields that /docs lists for this address."
            )
        return Body(None, b"")
    try:
        parsed = strict_json.loads(raw)
    except strict_json.NotStrictJson as error:
        where = {} if error.line is None else {"line": error.line, "column": error.column}
        raise Malformed(f"The body is not JSON that is accepted here: {error}.", details=where) from None
    # A route without a body accepts none or an empty object.
    expected = route.body if route.body is not None else _NoBody
    # Walking through every string costs more than searching the bytes once, and few bodies have such a text.
    if strict_json.may_hide(raw, b"${"):
        _raise_any(_text_faults(parsed, ("body",), _field_names(expected)))
    try:
        model = adapter(expected).validate_json(raw, extra="forbid")
    except ValidationError as error:
        raise _invalid("body", error, expected, parsed) from None
    canonical = json.dumps(parsed, sort_keys=True, separators=(",", ":")).encode()
    return Body(model if route.body is not None else None, canonical)


class _NoBody(BaseModel, defer_build=True):
    pass


@lru_cache(maxsize=512)
def _field_names(model: Any) -> frozenset[str]:
    return frozenset(names_in(schema_of(model)))


@lru_cache(maxsize=512)
def _discriminator(model: Any) -> str | None:
    """The field whose value says which of several models a body is; None for a body that is always the same."""
    # Only whole bodies are such unions, no part of one: a test of the OpenAPI document says so.
    name = schema_of(model).get("discriminator", {}).get("propertyName")
    return None if name is None else str(name)


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
            # Imported where something is wrong: most containers never need it.
            from chalicelib.api.framework.faults import unknown_parameter

            yield unknown_parameter(name, tuple(fields))
        elif len(texts) > 1 and not fields[name]:
            yield fault("query", name, type_="single_value", message=f"Give {name} once: it takes a single value.")
        for text in (name, *texts):
            if kind := _text_fault(text):
                yield _unusable_text(("query", *((name,) if name in fields else ())), kind)


def _text_faults(value: Any, location: Location, fields: frozenset[str]) -> Iterator[Fault]:
    """Strings that no field may contain, at any depth: the parser has bounded the depth."""
    if isinstance(value, str):
        if kind := _text_fault(value):
            yield _unusable_text(location, kind)
    elif isinstance(value, dict):
        for key, item in value.items():
            if kind := _text_fault(key):
                yield _unusable_text(location, kind)
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


def _unusable_text(location: Location, kind: str) -> Fault:
    return fault(*location, type_=kind, message=_TEXT_FAULTS[kind])


def _invalid(part: str, error: ValidationError, model: Any, sent: Any) -> Invalid:
    from chalicelib.api.framework.faults import faults_of

    return _refusal(faults_of(part, error, model, _field_names(model), sent, _discriminator(model)))


def _raise_any(faults: Iterable[Fault]) -> None:
    refusal = _refusal(faults)
    if refusal.details:
        raise refusal


def _refusal(faults: Iterable[Fault]) -> Invalid:
    distinct: dict[tuple[Any, ...], Fault] = {}
    for one in faults:
        distinct.setdefault((*one["location"], one["type"], one.get("option")), one)
        if len(distinct) == MAX_DETAILS:
            break
    return Invalid.of(list(distinct.values()))
