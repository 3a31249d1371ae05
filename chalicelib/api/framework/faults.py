"""What is right where a body or a query is wrong: one sentence for people, and what programs can use.

A sentence is made from what the model declares, never from what was sent: that may be a secret. Only an unknown field
is named, when it looks like a field name.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core.core_schema import ErrorType

from chalicelib.api.framework.declared import Declared, Location, declared_at
from chalicelib.api.framework.text_forms import form_of
from chalicelib.domain.property_options import option_sentence
from chalicelib.domain.providers.registry import property_option
from chalicelib.errors import fault
from chalicelib.kit.similar import nearest

Fault = dict[str, Any]
MAX_NAMED = 40
"""Fields or values that a fault lists."""
_LIKE_A_FIELD = re.compile(r"[a-z]{1,20}(_[a-z]{1,20}){0,4}\Z")
_OWN_TYPES = frozenset(get_args(ErrorType))
_NO_MEMBER = ("union_tag_not_found", "union_tag_invalid")
"""Of a union: the discriminator is missing, or no value of it."""
_LIMITS = ("ge", "gt", "le", "lt", "min_length", "max_length")

_TIME = "a time with its zone, such as 2030-01-31T12:00:00Z"
_RIGHT: Mapping[str, str] = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "an integer{bounds}"),
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), "an integer{bounds}"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("string_type", "string_sub_type"), "text, in double quotes"),
    "string_unicode": "text in UTF-8",
    "string_too_short": "text of at least {limit} characters",
    "string_too_long": "text of at most {limit} characters",
    "string_pattern_mismatch": "{form}",
    **dict.fromkeys(("enum", "literal_error", *_NO_MEMBER), "one of these: {allowed}"),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    "too_short": "a list of at least {limit} entries",
    "too_long": "a list of at most {limit} entries",
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "a JSON object"),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "timezone_aware"), _TIME),
    "datetime_object_invalid": _TIME,
    "too_late": f"{_TIME}, and not later than the year 9000",
}
"""By the type of the fault: what the value has to be. Other types of ours have their sentence where they are raised."""


def unknown_parameter(name: str, known: tuple[str, ...]) -> Fault:
    """The fault of a query parameter that the address does not take."""
    declared = Declared(({"properties": {field: {} for field in known}},))
    return next(unknown_field("query", (name,), declared, None))


def faults_of(
    part: str, error: ValidationError, model: Any, fields: frozenset[str], sent: Any, discriminator: str | None = None
) -> Iterator[Fault]:
    """The faults of a body or a query, `part`. `fields` are the names that the model declares at any depth, `sent` is
    the whole body or query, and `discriminator` is the field that says which of several models a body is.
    """
    for detail in error.errors(include_url=False):
        kind, inner = detail["type"], _without_tag(detail["loc"], detail["type"], discriminator)
        if kind == "extra_forbidden":
            yield from unknown_field(part, inner, declared_at(model, inner[:-1], sent), detail["input"], fields)
            continue
        shown = tuple(step for step in inner if isinstance(step, int) or step in fields)
        declared = declared_at(model, shown, sent)
        limit = next((detail.get("ctx", {})[key] for key in _LIMITS if key in detail.get("ctx", {})), None)
        if limit is None and kind == "string_too_long":
            limit = declared.max_length
        yield _wrong_value((part, *shown), kind, declared, detail["msg"], limit, detail["input"])


def unknown_field(
    part: str, location: Location, declared: Declared, value: Any, fields: frozenset[str] = frozenset()
) -> Iterator[Fault]:
    """What may stand where an unknown field is. A property of a connector has an option of ours in its place."""
    name = str(location[-1]) if location else ""
    above = tuple(step for step in location[:-1] if isinstance(step, int) or step in fields)
    shown = (part, *above, *((name,) if _LIKE_A_FIELD.match(name) else ()))
    if options := _property_options(name, value):
        for key, option in options.items():
            yield fault(*shown, type_="extra_forbidden", message=option_sentence(key, option), option=option)
        return
    meant = nearest(name, declared.fields)
    yield fault(
        *shown,
        type_="extra_forbidden",
        message=_unknown_field_sentence(part, above, shown[len(above) + 1 :], declared.fields, meant),
        allowed=declared.fields[:MAX_NAMED],
        did_you_mean=meant,
    )


def _property_options(name: str, value: Any) -> Mapping[str, str]:
    """The known properties of a connector in an unknown field, with our options for them."""
    keys = [str(key) for key in value] if isinstance(value, dict) else [name]
    return {key: option for key in keys if (option := property_option(key))}


def _unknown_field_sentence(
    part: str, above: Location, name: Location, known: tuple[str, ...], meant: str | None
) -> str:
    kind, place = ("query parameter", "This address") if part == "query" else ("field", _named(above) or "The body")
    what = f"no {kind} {name[0]}" if name else f"a {kind} that is not known here"
    sentence = f"{place} has {what}."
    if meant:
        return f"{sentence} Did you mean {meant}?"
    return f"{sentence} It takes {_listed(known)}." if known else f"{sentence} It takes none."


def _wrong_value(
    location: Location, kind: str, declared: Declared, own_message: str, limit: int | None, sent: Any
) -> Fault:
    name = _named(location[1:]) or f"The {location[0]}"
    allowed = declared.values if kind in ("enum", "literal_error", *_NO_MEMBER) else ()
    if kind in ("bool_type", "bool_parsing"):
        allowed = ("true", "false")
    meant = nearest(_sent_value(sent, location, kind), allowed)
    return fault(
        *location,
        type_=kind,
        message=_value_sentence(name, location, kind, declared, own_message, limit)
        + (f" Did you mean {meant}?" if meant else ""),
        allowed=allowed[:MAX_NAMED],
        limit=limit,
        did_you_mean=meant,
    )


def _sent_value(sent: Any, location: Location, kind: str) -> Any:
    # For a union the input is the whole body.
    return sent.get(location[-1]) if kind in _NO_MEMBER and isinstance(sent, dict) else sent


def _value_sentence(
    name: str, location: Location, kind: str, declared: Declared, own_message: str, limit: int | None
) -> str:
    if kind == "missing":
        return f"Give {name}.{_described(declared)}"
    if declared.is_text and kind in ("too_short", "too_long"):
        kind = f"string_{kind}"  # of a secret text Pydantic says what it says of lists
    if kind in ("too_short", "string_too_short") and limit == 1:
        return f"{name} must not be empty."
    if (right := _RIGHT.get(kind)) is not None:
        form = form_of(next((str(step) for step in reversed(location) if isinstance(step, str)), ""))
        values = {"bounds": _bounds(declared), "limit": limit, "allowed": _listed(declared.values)}
        return f"{name} has to be {right.format(**values, form=form or 'text of another form')}."
    if kind in _OWN_TYPES:
        return f"{name} is not valid here.{_described(declared)}"
    return f"{name}: {own_message}."


def _described(declared: Declared) -> str:
    return f" {declared.description.replace('`', '')}" if declared.description else ""


def _bounds(declared: Declared) -> str:
    low, high = declared.minimum, declared.maximum
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return "" if low is None else f" of at least {low}"


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED} more"


def _named(location: Location) -> str:
    """A place as people write it: `config.port`, `tables[0].table_name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location).removeprefix(".")


def _without_tag(location: Location, kind: str, discriminator: str | None) -> Location:
    if discriminator is None:
        return location
    # Pydantic begins it with the value of the discriminator.
    return (discriminator,) if kind in _NO_MEMBER else location[1:]
