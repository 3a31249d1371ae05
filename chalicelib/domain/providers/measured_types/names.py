"""How databases spell types, and under which names a column's type stands in the tables of this folder."""

import re
from collections.abc import Callable, Iterator, Mapping

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.table import CapturedType, Column, TypeKind

_MODIFIER = re.compile(r"\s{0,20}\([^()]{0,200}\)")
"""Bounded: the text is a server's, and a search for an open end takes quadratic time."""
_NUMBERS = re.compile(r"\((\d{1,10})(?:,\s?(-?\d{1,5}))?\)")
_INTERVAL_FIELDS = re.compile(r"\Ainterval [a-z ]+")
_ESCAPES = {"0": "\0", "n": "\n", "r": "\r"}
_LISTS = ("enum", "set")

MAX_CREATED_DIGITS = 38
"""The longest number in a table that the sink creates, in every kind of database."""


def without_modifiers(type_name: str) -> str:
    """`numeric(10,2)` -> `numeric`, `timestamp(3) with time zone` -> `timestamp with time zone`, `int(10) unsigned` ->
    `int unsigned`, `enum('a','b')` -> `enum`.

    An interval's fields are a modifier too: `interval day to second(3)` -> `interval`.
    """
    head, bracket, _ = type_name.partition("(")
    if bracket and head in _LISTS:
        return head
    return _INTERVAL_FIELDS.sub("interval", _MODIFIER.sub("", type_name))


def modifiers(type_name: str) -> tuple[int, ...]:
    """The numbers of `decimal(10,2)`; none for a type without."""
    if without_modifiers(type_name) in _LISTS:
        return ()
    match = _NUMBERS.search(type_name)
    return tuple(int(number) for number in match.groups() if number is not None) if match else ()


def members(type_name: str) -> tuple[str, ...]:
    """Those of MySQL's `enum('a','b')`, as values have them; none for another type."""
    if without_modifiers(type_name) not in _LISTS:
        return ()
    found: list[str] = []
    inside, before = False, ""
    characters = iter(type_name.partition("(")[2])
    for character in characters:
        if not inside:
            inside = character == "'"
            if inside:
                # Right after the end of a member, it is an apostrophe that the member has.
                found.append(found.pop() + character if before == character else "")
        elif character == "'":
            inside = False
        elif character == "\\":
            escaped = next(characters, "")
            found[-1] += _ESCAPES.get(escaped, escaped)
        else:
            found[-1] += character
        before = character
    return tuple(found)


def shown(type_name: str) -> str:
    """The type in a sentence. Members of an enum may be thousands of characters of a user's text."""
    return without_modifiers(type_name) if without_modifiers(type_name) in _LISTS else type_name


def type_of(column: Column) -> CapturedType:
    """What a target has to know of the column's type."""
    return column.captured or spelled_type(column.type)


def spelled_type(type_name: str) -> CapturedType:
    """What the declared type alone says: right for every type that is no domain, no enum and no array of arrays."""
    element = type_name.removesuffix("[]")
    return CapturedType(name=element, dimensions=int(element != type_name))


def measured_names(source: DatabaseProvider, column: Column) -> tuple[str, ...]:
    """The names in the tables that say how the column's values arrive."""
    return tuple(_NAMES[source](type_of(column), column.nullable))


def _mysql_names(captured: CapturedType, nullable: bool) -> Iterator[str]:
    bare, numbers = without_modifiers(captured.name), modifiers(captured.name)
    plain = bare.removesuffix(" zerofill")
    if plain in ("date", "datetime", "timestamp"):
        yield from (plain, f"{plain} {'NULL' if nullable else 'NOT NULL'}")
        if captured.defaults_to_now:
            yield f"{plain} that defaults to the current time"
    elif plain in _LISTS:
        yield plain
        every = "".join(members(captured.name))
        yield from (f"{plain} with {name} in a member" for character, name in _AWKWARD.items() if character in every)
    else:
        yield _mysql_name(plain, numbers)


_AWKWARD: Mapping[str, str] = {
    ",": "a comma",
    "\\": "a backslash",
    "'": "an apostrophe",
    # Its catalog has a question mark for every character beyond the BMP.
    "?": "a character beyond the BMP",
}
_MYSQL_SAME = {"geometrycollection": "geomcollection"}


def _mysql_name(plain: str, numbers: tuple[int, ...]) -> str:
    signed = plain.removesuffix(" unsigned")
    if signed in ("float", "double"):
        return f"{signed}(M,D)" if len(numbers) == 2 else signed
    if signed == "decimal":
        return "decimal" if numbers[0] <= MAX_CREATED_DIGITS else "decimal of more than 38 digits"
    if (plain, numbers) in (("tinyint", (1,)), ("bit", (1,))):
        return f"{plain}(1)"
    return _MYSQL_SAME.get(plain, plain)


def _postgresql_names(captured: CapturedType, _nullable: bool) -> Iterator[str]:
    if captured.generated:
        yield "generated column"
        return
    name = _postgresql_element(captured) + "[]" * min(2, captured.dimensions)
    yield name
    if captured.defaults_to_now:
        yield f"{name} that defaults to the current time"


_OWN_KINDS: Mapping[TypeKind, str] = {
    TypeKind.ENUM: "enum",
    TypeKind.COMPOSITE: "composite",
    TypeKind.RANGE: "range of a user",
    TypeKind.OTHER: "domain",
}


def _postgresql_element(captured: CapturedType) -> str:
    bare, numbers = without_modifiers(captured.name), modifiers(captured.name)
    if "." in bare or captured.kind in (TypeKind.ENUM, TypeKind.COMPOSITE):
        # An extension's type, such as `public.citext`, is known by its own name.
        return _OWN_KINDS.get(captured.kind) or bare.rpartition(".")[2]
    if bare == "numeric" and numbers:
        return _numeric_name(*numbers)
    if bare == "bit":
        return "bit(1)" if numbers == (1,) else "bit" if numbers[0] <= 64 else "bit of more than 64 bits"
    if bare in ("bit varying", "character varying") and not numbers:
        return f"{bare} without a length"
    return bare


def _numeric_name(digits: int, scale: int) -> str:
    cases = (
        ("numeric with a scale below 0", scale < 0),
        ("numeric with a scale over 30", scale > 30),
        ("numeric of more than 65 digits", digits > 65),
        ("numeric of more than 38 digits", digits > MAX_CREATED_DIGITS),
    )
    return next((name for name, applies in cases if applies), "numeric(p,s)")


_NAMES: Mapping[DatabaseProvider, Callable[[CapturedType, bool], Iterator[str]]] = {
    DatabaseProvider.MYSQL: _mysql_names,
    DatabaseProvider.POSTGRESQL: _postgresql_names,
}
