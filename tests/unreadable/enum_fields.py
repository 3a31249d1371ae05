"""The fields of stored documents that hold one of a few words, found in the schema of what reads them."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from chalicelib.kit.adapters import adapter

Json = Any
ITEM, VALUE = "[]", "{}"
"""Steps of a path into a list and into a mapping; all others are names of fields."""

_SAMPLES: Mapping[str, Json] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumField:
    """A field by its path in a document, with one of its words."""

    path: tuple[str, ...]
    word: str

    def __str__(self) -> str:
        return ".".join(self.path)


class NotInThisRow(Exception):
    """The row has no such place."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The JSON schema of an entity."""

    root: Mapping[str, Json]

    @classmethod
    def of(cls, entity: Any) -> "Schema":
        return cls(adapter(entity).json_schema())

    def enum_fields(self) -> list[EnumField]:
        """Every field with an enum, each path once, with a word of the first form of the document that has it."""
        found: dict[tuple[str, ...], EnumField] = {}
        for path, words in self._walk(self.root, (), ()):
            found.setdefault(path, EnumField(path=path, word=words[0]))
        return list(found.values())

    @property
    def words(self) -> frozenset[str]:
        """All words of all enums."""
        return frozenset(word for _, words in self._walk(self.root, (), ()) for word in words)

    def with_value(self, document: Json, path: tuple[str, ...], value: str) -> Json:
        """A copy of the document that has the value at this path; what is missing on the way is made up. Raises
        NotInThisRow when the path belongs to another form of the document, such as another kind of address.
        """
        changed = deepcopy(document)
        return self._put(changed, self.root, path, value)

    def _walk(
        self, schema: Mapping[str, Json], path: tuple[str, ...], above: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        reference = schema.get("$ref")
        if reference in above:
            return
        above = (*above, reference) if reference else above
        for branch in self._branches(schema):
            if words := [word for word in branch.get("enum", [branch.get("const")]) if isinstance(word, str)]:
                yield path, words
            for step, below in _steps(branch):
                yield from self._walk(below, (*path, step), above)

    def _branches(self, schema: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
        if "$ref" in schema:
            yield from self._branches(self.root["$defs"][schema["$ref"].rpartition("/")[2]])
            return
        alternatives = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
        for alternative in alternatives:
            yield from self._branches(alternative)
        if not alternatives:
            yield schema

    def _put(self, document: Json, schema: Mapping[str, Json], path: tuple[str, ...], value: str) -> Json:
        if not path:
            return value
        step, rest = path[0], path[1:]
        fitting = (branch for branch in self._branches(schema) if _fits(document, branch))
        below = next((below for branch in fitting for name, below in _steps(branch) if name == step), None)
        if below is None:
            raise NotInThisRow(".".join(path))
        if step == ITEM:
            first = document[0] if document else None
            return [self._put(first, below, rest, value), *(document or [])[1:]]
        document = document if isinstance(document, dict) else self._sample_with(schema, step)
        key = next(iter(document), "sample") if step == VALUE else step
        document[key] = self._put(document.get(key), below, rest, value)
        return document

    def _sample_with(self, schema: Mapping[str, Json], step: str) -> Json:
        branch = next(branch for branch in self._branches(schema) if step in dict(_steps(branch)))
        return self._sample(branch)

    def _sample(self, schema: Mapping[str, Json]) -> Json:
        branch = next(iter(self._branches(schema)))
        if "enum" in branch or "const" in branch:
            return branch.get("const") or branch["enum"][0]
        match branch.get("type"):
            case "object":
                required = branch.get("required", ())
                return {name: self._sample(branch["properties"][name]) for name in required}
            case "array":
                return []
            case "string" if branch.get("format") == "date-time":
                return "2026-01-31T12:00:00Z"
            case kind:
                return _SAMPLES[kind]


def _fits(document: Json, branch: Mapping[str, Json]) -> bool:
    return not isinstance(document, dict) or set(branch.get("required", ())) <= document.keys()


def _steps(branch: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    yield from branch.get("properties", {}).items()
    if isinstance(branch.get("items"), dict):
        yield ITEM, branch["items"]
    if isinstance(branch.get("additionalProperties"), dict):
        yield VALUE, branch["additionalProperties"]
