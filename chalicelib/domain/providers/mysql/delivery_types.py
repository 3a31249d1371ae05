"""Types of MySQL as targets: in which one a type of MySQL itself arrives equal, and what others do to values."""

from collections.abc import Mapping

from chalicelib.domain.providers.measured_types.names import modifiers, type_of, without_modifiers
from chalicelib.domain.table import Column

_INTEGERS: Mapping[str, int] = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
"""Bits."""
_WHOLE_DIGITS: Mapping[str, int] = {"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}
_TEXTS: Mapping[str, int] = {"tinytext": 8, "text": 16, "mediumtext": 24, "longtext": 32}
_BYTES: Mapping[str, int] = {"tinyblob": 8, "blob": 16, "mediumblob": 24, "longblob": 32}
"""Bits of the length in bytes."""
_CHARACTERS = ("char", "varchar")
_BINARIES = ("binary", "varbinary")
_BYTES_OF_CHARACTER = 4
_FRACTIONS = ("datetime", "timestamp", "time")
_LISTS: Mapping[str, str] = {"enum": "varchar(255)", "set": "text"}
"""A member has at most 255 characters. As texts, members arrive whatever characters they have, and new ones too."""

_DOES_NOT_FIT = "the delivery stops at a value that does not fit."
_TOO_LONG = "the delivery stops at a value that is longer."
_ROUNDED = "digits that do not fit are rounded off, silently."


def equal_type(column: Column) -> str:
    """The type of a target column in which values of this type arrive equal, or as equal as they can."""
    name = type_of(column).name
    bare = without_modifiers(name)
    return _LISTS.get(bare) or plain(name)


def plain(type_name: str) -> str:
    """Without what changes no value: `int(11)` -> `int`, `int(10) unsigned zerofill` -> `int unsigned`."""
    bare = without_modifiers(type_name)
    if bare.partition(" ")[0] in ("year", *_INTEGERS) and not type_name.startswith("tinyint(1)"):
        return bare.removesuffix(" zerofill")
    return type_name


def effect(source_type: str, target_type: str) -> str | None:
    """What a column of the second type does to values of the first; None where it takes all of them."""
    if plain(source_type) == plain(target_type):
        return None
    return narrowing(source_type, target_type) if fits(source_type, target_type) else _DOES_NOT_FIT


def fits(source_type: str, target_type: str) -> bool:
    """Whether a value of the source's type fits the target's, unless it is too long."""
    source, target = without_modifiers(plain(source_type)), without_modifiers(plain(target_type))
    if source == target:
        return source not in _LISTS
    if source.partition(" ")[0] in _INTEGERS:
        return _integer_fits(source, target)
    if source == "decimal unsigned":
        source = "decimal"
    families = ((*_CHARACTERS, *_TEXTS), (*_BINARIES, *_BYTES), ("float", "double"))
    for family in families:
        if source in family and target in family:
            return family is not families[-1] or target == "double"
    return source == target or (source == "json" and target == "longtext")


def _integer_fits(source: str, target: str) -> bool:
    base, to = source.partition(" ")[0], target.partition(" ")[0]
    if to == "decimal":
        return target == "decimal" or source.endswith("unsigned")
    if to not in _INTEGERS:
        return False
    signed, to_signed = not source.endswith("unsigned"), not target.endswith("unsigned")
    if signed == to_signed:
        return _INTEGERS[base] <= _INTEGERS[to]
    return not signed and _INTEGERS[base] < _INTEGERS[to]


def narrowing(source_type: str, target_type: str) -> str | None:
    """What a target that is smaller does to longer values; None where it is not smaller."""
    target = without_modifiers(target_type)
    if target.startswith("decimal"):
        return _smaller_decimal(source_type, *modifiers(target_type))
    if target in _FRACTIONS:
        return _ROUNDED if _size(source_type) > _size(target_type) else None
    length, room = _length(source_type), _length(target_type)
    return _TOO_LONG if length is not None and room is not None and length > room else None


def _smaller_decimal(source_type: str, digits: int = 10, scale: int = 0) -> str | None:
    base = without_modifiers(source_type).partition(" ")[0]
    if base in _WHOLE_DIGITS:
        return _TOO_LONG if digits - scale < _WHOLE_DIGITS[base] else None
    of_digits, of_scale = (*modifiers(source_type), 0, 0)[:2]
    if of_scale > scale:
        return _ROUNDED
    return _TOO_LONG if digits - scale < of_digits - of_scale else None


def _length(type_name: str) -> int | None:
    """The longest value: characters count as four bytes, and a bit as one; None for types without a length."""
    bare, size = without_modifiers(type_name), _size(type_name)
    if bare in _CHARACTERS:
        return size * _BYTES_OF_CHARACTER
    bits = _TEXTS.get(bare) or _BYTES.get(bare)
    if bits:
        return int(2**bits) - 1
    return size if bare in (*_BINARIES, "bit", "vector") else None


def _size(type_name: str) -> int:
    return next(iter(modifiers(type_name)), 0)
