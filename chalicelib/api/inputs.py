"""From a request to the arguments of a handler: path variables, query, body and conditional headers, each refused in
one way.

Details of a refusal name places and kinds only. A place is spelled with the names that the route's own models declare;
whatever else stands in a location (a key of a map, the label of a union's member) came from the caller and is left out.
An unknown field is named when it looks like the name of one, so that a slip is found and nothing like a secret told.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, get_args, get_origin
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError

from chalicelib.api.http import HttpRequest
from chalicelib.api.route import Route
from chalicelib.errors import Invalid, Malformed, NotFound, TooLarge, UnsupportedMedia
from chalicelib.kit import strict_json
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import BadCursor, Signer

MAX_BODY_BYTES = 256 * 1024
MAX_DETAILS = 100
_REFERENCE = "${"
_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\s*(?:;\s*charset\s*=\s*\"?utf-?8\"?\s*)?\Z", re.IGNORECASE)
_VERSION = re.compile(r'"(0|[1-9][0-9]{0,15})"\Z')
_LIKE_A_FIELD = re.compile(r"[a-z]{1,20}(_[a-z]{1,20}){0,4}\Z")
_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
Location = tuple[str | int, ...]


class Body(NamedTuple):
    """A body that was read: its model for the handler, its canonical text for comparing two requests."""

    model: Any
    canonical: bytes


def within_size(request: HttpRequest) -> None:
    """Refuses a body over 256 KiB, by its declared length if it was not read. Raises `TooLarge`."""
    declared = request.headers.get("content-length", "0")
    if len(request.body or b"") > MAX_BODY_BYTES or (declared.isdecimal() and int(declared[:20]) > MAX_BODY_BYTES):
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES // 1024} KiB.")


def json_type(request: HttpRequest) -> None:
    """Refuses a body that is not declared as JSON in UTF-8. Raises `UnsupportedMedia`."""
    if request.body and not _JSON_TYPE.match(request.headers.get("content-type", "").strip()):
        raise UnsupportedMedia("Send the body as application/json.")


def path_values(route: Route, request: HttpRequest) -> dict[str, Any]:
    """The variables of the path, decoded once. Raises `NotFound` for what cannot be an id of ours."""
    values: dict[str, Any] = {}
    for name, rule in route.variables.items():
        text = unquote(request.path_values.get(name, ""))
        if not rule.accepts(text):
            raise NotFound("There is nothing at this address.")
        values[name] = int(text) if name in route.numbers else text
    return values


def if_match(request: HttpRequest) -> int | None:
    """The version in `If-Match: "<version>"`. Raises `Invalid`."""
    given = request.headers.get("if-match")
    if given is None:
        return None
    if not (match := _VERSION.match(given.strip())):
        raise Invalid.at(
            "header", "If-Match", type_="version", message='If-Match takes one version in double quotes, such as "3".'
        )
    return int(match[1])


def idempotency_key(request: HttpRequest) -> str | None:
    """The `Idempotency-Key` of a POST. Raises `Invalid`."""
    given = request.headers.get("idempotency-key") if request.method == "POST" else None
    if given is not None and not _IDEMPOTENCY_KEY.match(given):
        raise Invalid.at(
            "header",
            "Idempotency-Key",
            type_="string_pattern_mismatch",
            message="Idempotency-Key is 1 to 64 of A-Za-z0-9._-",
        )
    return given


def query_model(route: Route, request: HttpRequest) -> BaseModel | None:
    """The query as the route's model. Raises `Invalid`."""
    model, known = route.query, _query_fields(route.query)
    if not route.any_query:
        _refuse(_query_complaints(request.query, known))
    if model is None:
        return None
    given = {
        name: list(values) if known[name] else values[0] for name, values in request.query.items() if name in known
    }
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _invalid("query", error, frozenset(known)) from None


def place_cursor(query: BaseModel | None, request: HttpRequest, signer: Signer, now: datetime) -> BaseModel | None:
    """The query with its cursor replaced by the store's key that was signed into it. Raises `Invalid`."""
    from chalicelib.api.contract.lists import ListQuery

    if not isinstance(query, ListQuery) or query.cursor is None:
        return query
    try:
        key = signer.unsign(list_scope(request), query.cursor, now)
    except BadCursor:
        raise Invalid.at(
            "query", "cursor", type_="cursor", message="The cursor is not of this list with these filters, or too old."
        ) from None
    return query.model_copy(update={"cursor": key})


def list_scope(request: HttpRequest) -> str:
    """What a cursor is bound to: the list's path and its filters."""
    filters = sorted((name, list(values)) for name, values in request.query.items() if name not in ("cursor", "limit"))
    return json.dumps([request.path.rstrip("/"), filters])


def body_model(route: Route, request: HttpRequest) -> Body:
    """The body as the route's model. Raises `Malformed` or `Invalid`.

    A route that takes no body still reads one that was sent, and refuses it unless it is an empty object.
    """
    raw = _raw(request)
    if not raw.strip():
        if route.body is not None and route.body_required:
            raise Malformed("The request needs a JSON body.")
        return Body(None, b"")
    parsed = _parse(raw)
    expected = route.body if route.body is not None else _NoBody
    known = _names(expected)
    if strict_json.may_hide(raw, b"${"):
        _refuse(_text_complaints(parsed, ("body",), known))
    try:
        model = adapter(expected).validate_json(raw, extra="forbid")
    except ValidationError as error:
        raise _invalid("body", error, known) from None
    canonical = json.dumps(parsed, sort_keys=True, separators=(",", ":")).encode()
    return Body(model if route.body is not None else None, canonical)


def _raw(request: HttpRequest) -> bytes:
    if request.body is None:
        raise Malformed("The body cannot be decoded.")
    return request.body


def _parse(raw: bytes) -> Any:
    try:
        return strict_json.loads(raw)
    except strict_json.NotStrictJson as error:
        raise Malformed(f"The body is not JSON that is accepted here: {error}.") from None


class _NoBody(BaseModel, defer_build=True):
    pass


@lru_cache(maxsize=512)
def _names(model: Any) -> frozenset[str]:
    """Every field name that the model's schema declares, at whatever depth, and the tags of its unions."""
    return frozenset(_declared(adapter(model).json_schema()))


def _declared(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from schema.get("discriminator", {}).get("mapping", {})
        for part in schema.values():
            yield from _declared(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _declared(part)


@lru_cache(maxsize=256)
def _query_fields(model: type[BaseModel] | None) -> Mapping[str, bool]:
    """The parameters that a query model knows, by their name on the wire, and whether each takes several values."""
    if model is None:
        return {}
    return {field.alias or name: _is_list(field.annotation) for name, field in model.model_fields.items()}


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) in (list, tuple, set, frozenset) or any(
        _is_list(part) for part in get_args(annotation)
    )


def _query_complaints(query: Mapping[str, Iterable[str]], known: Mapping[str, bool]) -> Iterator[tuple[Location, str]]:
    for name, values in query.items():
        texts = list(values)
        if name not in known:
            yield ("query", *_slip(name)), "extra_forbidden"
        elif len(texts) > 1 and not known[name]:
            yield ("query", name), "single_value"
        for text in (name, *texts):
            if kind := _text_fault(text):
                yield ("query", *((name,) if name in known else ())), kind


def _text_complaints(value: Any, location: Location, known: frozenset[str]) -> Iterator[tuple[Location, str]]:
    """Strings that no field may hold, wherever they stand: recursion is bounded by the depth that was let in."""
    if isinstance(value, str):
        if kind := _text_fault(value):
            yield location, kind
    elif isinstance(value, dict):
        for key, item in value.items():
            if kind := _text_fault(key):
                yield location, kind
            yield from _text_complaints(item, (*location, key) if key in known else location, known)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _text_complaints(item, (*location, index), known)


def _text_fault(text: str) -> str | None:
    if _REFERENCE in text:
        # Kafka Connect would read it as a reference to a secret (wire contract, "Credentials, everywhere").
        return "secret_reference_not_allowed"
    if "\x00" in text:
        return "null_character_not_allowed"
    return "lone_surrogate_not_allowed" if _SURROGATE.search(text) else None


def _invalid(place: str, error: ValidationError, known: frozenset[str]) -> Invalid:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return _refusal(((place, *_place(fault["loc"], fault["type"], known)), fault["type"]) for fault in faults)


def _place(location: Location, kind: str, known: frozenset[str]) -> Location:
    told = tuple(part for part in location if isinstance(part, int) or part in known)
    last = location[-1] if location else ""
    return (*told, *_slip(last)) if kind == "extra_forbidden" and told[-1:] != (last,) else told


def _slip(name: str | int) -> tuple[str, ...]:
    """An unknown field's name, if it looks like one."""
    return (str(name),) if _LIKE_A_FIELD.match(str(name)) else ()


def _refuse(complaints: Iterable[tuple[Location, str]]) -> None:
    refusal = _refusal(complaints)
    if refusal.details:
        raise refusal


def _refusal(complaints: Iterable[tuple[Location, str]]) -> Invalid:
    told = list(dict.fromkeys(complaints))[:MAX_DETAILS]
    return Invalid(
        "The request is not valid; details name the fields.",
        details=[{"location": list(location), "type": kind} for location, kind in told],
    )


def with_route_path(request: HttpRequest, values: Mapping[str, Any]) -> HttpRequest:
    """The request with its path spelled in the one way that we would spell it."""
    return request._replace(path=request.route.format_map(values) if values else request.route)
