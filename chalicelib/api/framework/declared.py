"""What a model declares at a location of a body or a query: fields, values and bounds, read from its JSON schema."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chalicelib.kit.adapters import adapter

Location = tuple[str | int, ...]
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declared:
    """The parts of a schema that describe one place: several where a body may be one of several models."""

    parts: tuple[Schema, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        return _distinct(name for part in self.parts for name in part.get("properties", ()))

    @property
    def values(self) -> tuple[str, ...]:
        """The texts of an enum; () for what is none."""
        return _distinct(str(value) for part in self.parts for value in _values(part))

    @property
    def description(self) -> str:
        return next((str(part["description"]) for part in self.parts if "description" in part), "")

    @property
    def is_text(self) -> bool:
        return any(part.get("type") == "string" for part in self.parts)

    @property
    def minimum(self) -> int | None:
        return self._number("minimum", "ge")

    @property
    def maximum(self) -> int | None:
        return self._number("maximum", "le")

    @property
    def max_length(self) -> int | None:
        return self._number("maxLength", "max_length")

    def _number(self, *keys: str) -> int | None:
        # Pydantic leaves the bounds of a field with a validator of its own under its own names.
        return next((int(part[key]) for part in self.parts for key in keys if key in part), None)


def declared_at(model: Any, location: Iterable[str | int], sent: Any) -> Declared:
    """What the model declares there. `sent` is the whole body or query: where a body may be one of several models,
    those are left out whose fixed values it does not have.

    Steps that the schema does not know, such as Pydantic's labels of a union's members, are passed over.
    """
    root = schema_of(model)
    definitions = root.get("$defs", {})
    parts = tuple(_members(root, definitions, sent))
    for step in location:
        below = sent[step] if isinstance(sent, dict) and step in sent else None
        reached = tuple(
            member
            for part in parts
            if (child := _child(part, step)) is not None
            for member in _members(child, definitions, below)
        )
        if reached:
            parts, sent = reached, below
    return Declared(parts)


@lru_cache(maxsize=512)
def schema_of(model: Any) -> Schema:
    """The model's JSON schema, with the names that its fields have on the wire."""
    return adapter(model).json_schema()


def names_in(schema: Any) -> Iterator[str]:
    """The names of all fields at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from names_in(part)


def _child(part: Schema, step: str | int) -> Schema | None:
    if isinstance(step, int):
        items = part.get("items")
        return items if isinstance(items, dict) else None
    more = part.get("additionalProperties")
    others = more if isinstance(more, dict) else None
    child: Schema | None = part.get("properties", {}).get(step, others)
    return child


def _members(schema: Schema, definitions: Schema, sent: Any) -> Iterator[Schema]:
    """The schema without references, or the members of its union; first itself, whose description counts."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        own = {key: value for key, value in schema.items() if key != "$ref"}
        yield from _members({**definitions[name], **own}, definitions, sent)
        return
    yield schema
    inner = [
        tuple(_members(member, definitions, sent))
        for key in ("anyOf", "oneOf", "allOf")
        for member in schema.get(key, ())
    ]
    fitting = [parts for parts in inner if all(_fits(part, definitions, sent) for part in parts)]
    for parts in fitting or inner:
        yield from parts


def _fits(part: Schema, definitions: Schema, sent: Any) -> bool:
    """Whether nothing that was sent is another value than those that this model takes there."""
    if not isinstance(sent, dict):
        return True
    if part.get("type", "object") != "object":
        return False
    fields = part.get("properties", {})
    return all(_takes(fields[name], definitions, value) for name, value in sent.items() if name in fields)


def _takes(field: Schema, definitions: Schema, value: Any) -> bool:
    fixed = Declared(tuple(_members(field, definitions, None))).values
    return not fixed or not isinstance(value, str) or value in fixed


def _values(part: Schema) -> Iterable[Any]:
    return (part["const"],) if "const" in part else part.get("enum", ())


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
