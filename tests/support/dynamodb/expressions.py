"""DynamoDB's expressions, as far as PynamoDB writes them: attributes of the first level, no arithmetic but ADD.

An expression is parsed once for each text. An unknown expression raises ValueError, which no SDK hides.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from tests.support.dynamodb.items import Item, Value, comparable, number

_TOKENS = re.compile(r"\s*([#:]?\w+|<>|<=|>=|[=<>(),])")
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")


@dataclass(frozen=True)
class Placeholders:
    """The names and values of a request for placeholders such as `#0` and `:0`."""

    names: Mapping[str, str]
    values: Mapping[str, Value]

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> "Placeholders":
        """Those of one request, or of one part of a transaction."""
        return cls(request.get("ExpressionAttributeNames") or {}, request.get("ExpressionAttributeValues") or {})

    def name(self, token: str) -> str:
        return self.names[token] if token.startswith("#") else token


Condition = Callable[[Item, Placeholders], bool]
Operand = Callable[[Item, Placeholders], Value | None]
Change = Callable[[dict[str, Value], Placeholders], None]


@cache
def condition(text: str) -> Condition:
    """Whether an item fulfils a condition, a filter or a key condition. An item that is not there has no attributes."""
    parser = _Parser(text)
    parsed = parser.any_of()
    parser.expect_end()
    return parsed


@cache
def update(text: str) -> Change:
    parser = _Parser(text)
    changes: list[Change] = []
    while parser.token in _CLAUSES:
        clause = parser.take()
        changes.append(parser.change(clause))
        while parser.token == ",":
            parser.take()
            changes.append(parser.change(clause))
    parser.expect_end()

    def apply(attributes: dict[str, Value], placeholders: Placeholders) -> None:
        for change in changes:
            change(attributes, placeholders)

    return apply


def names(text: str, placeholders: Placeholders) -> list[str]:
    """The attributes of a projection."""
    return [placeholders.name(token.strip()) for token in text.split(",")]


def value_of_key(text: str, name: str, placeholders: Placeholders) -> Value:
    """The value that a key condition asks of the hash key `name`."""
    tokens = _TOKENS.findall(text)
    for left, sign, right in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if sign == "=" and placeholders.name(left) == name:
            return placeholders.values[right]
    raise ValueError(f"{text} has no value for {name}")


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._tokens = text, _TOKENS.findall(text)
        if "".join(self._tokens) != re.sub(r"\s", "", text):
            raise ValueError(f"unknown: {text}")

    @property
    def token(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def take(self, expected: str | None = None) -> str:
        if not self._tokens or (expected and self.token != expected):
            raise ValueError(f"{expected or 'more'} is expected in {self._text}, not {self.token!r}")
        return str(self._tokens.pop(0))

    def expect_end(self) -> None:
        if self._tokens:
            raise ValueError(f"unknown: {self.token} in {self._text}")

    # conditions

    def any_of(self) -> Condition:
        return self._joined("OR", any, lambda: self._joined("AND", all, self._part))

    def _joined(
        self, word: str, combine: Callable[[Iterable[bool]], bool], parse: Callable[[], Condition]
    ) -> Condition:
        parts = [parse()]
        while self.token == word:
            self.take()
            parts.append(parse())
        if len(parts) == 1:
            return parts[0]
        return lambda item, placeholders: combine(part(item, placeholders) for part in parts)

    def _part(self) -> Condition:
        match self.token:
            case "NOT":
                self.take()
                negated = self._part()
                return lambda item, placeholders: not negated(item, placeholders)
            case "(":
                self.take()
                inner = self.any_of()
                self.take(")")
                return inner
            case "attribute_exists" | "attribute_not_exists":
                return self._existence(exists=self.take() == "attribute_exists")
            case "begins_with" | "contains":
                return self._function(self.take())
        return self._comparison()

    def _existence(self, *, exists: bool) -> Condition:
        (name,) = self._arguments()
        return lambda item, placeholders: (placeholders.name(name) in item) is exists

    def _function(self, function: str) -> Condition:
        name, value = self._arguments()

        def holds(item: Item, placeholders: Placeholders) -> bool:
            attribute = item.get(placeholders.name(name))
            if attribute is None:
                return False
            (kind, inner), (other_kind, part) = comparable(attribute), comparable(placeholders.values[value])
            if function == "begins_with":
                return kind == other_kind and bool(inner.startswith(part))
            return part in inner if kind == other_kind == "S" else kind == f"{other_kind}S" and part in inner

        return holds

    def _arguments(self) -> list[str]:
        self.take("(")
        arguments = [self.take()]
        while self.token == ",":
            self.take()
            arguments.append(self.take())
        self.take(")")
        return arguments

    def _comparison(self) -> Condition:
        left, sign = self._operand(), self.take()
        if sign == "BETWEEN":
            low, _, high = self._operand(), self.take("AND"), self._operand()
            return lambda item, placeholders: (
                _compared(operator.ge, left(item, placeholders), low(item, placeholders))
                and _compared(operator.le, left(item, placeholders), high(item, placeholders))
            )
        if sign == "IN":
            values = self._arguments()
            return lambda item, placeholders: any(
                _compared(operator.eq, left(item, placeholders), placeholders.values[value]) for value in values
            )
        compare, right = _COMPARISONS[sign], self._operand()
        return lambda item, placeholders: _compared(compare, left(item, placeholders), right(item, placeholders))

    def _operand(self) -> Operand:
        token = self.take()
        if token.startswith(":"):
            return lambda _item, placeholders: placeholders.values[token]
        return lambda item, placeholders: item.get(placeholders.name(token))

    # changes

    def change(self, clause: str) -> Change:
        name = self.take()
        if clause == "REMOVE":
            return lambda attributes, placeholders: attributes.pop(placeholders.name(name), None) and None
        if clause == "SET":
            self.take("=")
        value, combine = self.take(), {"SET": _replaced, "ADD": _added, "DELETE": _deleted}[clause]
        if not value.startswith(":"):
            raise ValueError(f"unknown: {value} in {self._text}")

        def apply(attributes: dict[str, Value], placeholders: Placeholders) -> None:
            new = combine(attributes.pop(placeholders.name(name), None), placeholders.values[value])
            if new is not None:
                attributes[placeholders.name(name)] = new

        return apply


def _compared(compare: Callable[[Any, Any], bool], left: Value | None, right: Value | None) -> bool:
    """Values of two types are never in order, and a missing value equals no other."""
    if left is None or right is None:
        return compare is operator.ne
    (kind, first), (other_kind, second) = comparable(left), comparable(right)
    if kind != other_kind:
        return compare is operator.ne
    return compare(first, second)


def _replaced(_old: Value | None, new: Value) -> Value:
    return new


def _added(old: Value | None, addend: Value) -> Value:
    ((kind, inner),) = addend.items()
    if kind == "N":
        return number(Decimal(old["N"] if old else 0) + Decimal(inner))
    before = old[kind] if old else []
    return {kind: [*before, *(member for member in inner if member not in before)]}


def _deleted(old: Value | None, less: Value) -> Value | None:
    if old is None:
        return None
    ((kind, inner),) = less.items()
    kept = [member for member in old[kind] if member not in inner]
    return {kind: kept} if kept else None
