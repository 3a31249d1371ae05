"""How many bytes MySQL's types take in keys and rows: what decides whether a table can be made.

Facts: MySQL 8.0 reference, "Data Type Storage Requirements" and "Limits on Table Column Count and Row Size"; the limit
of InnoDB's pages was tried on 8.0: 197 columns of texts can be made beside a key, 198 cannot.
"""

from collections.abc import Iterable, Mapping

from chalicelib.domain.providers.measured_types.names import modifiers
from chalicelib.domain.providers.mysql.types import base_type

MAX_KEY_BYTES = 3_072
MAX_ROW_BYTES = 65_535
_MAX_PAGE_BYTES = 8_126
_PAGE_OVERHEAD = 18
_INLINE = 40
"""Bytes that a long value keeps in the row when it lies elsewhere."""

UTF8MB4 = 4
"""Bytes of a character at most."""

_FIXED: Mapping[str, int] = {
    **dict.fromkeys(("tinyint", "year", "bool", "boolean"), 1),
    **dict.fromkeys(("smallint", "enum"), 2),
    **dict.fromkeys(("mediumint", "date"), 3),
    **dict.fromkeys(("int", "integer", "float"), 4),
    **dict.fromkeys(("bigint", "double", "double precision", "real", "set"), 8),
}
_WITH_FRACTION: Mapping[str, int] = {"time": 3, "timestamp": 4, "datetime": 5}
_POINTER: Mapping[str, int] = {
    **dict.fromkeys(("tinytext", "tinyblob"), 9),
    **dict.fromkeys(("text", "blob"), 10),
    **dict.fromkeys(("mediumtext", "mediumblob"), 11),
}
"""Texts and blobs lie elsewhere: what stays in the row. Every other type is like longtext."""
_LONGTEXT = 12


def value_bytes(type_name: str) -> int | None:
    """The longest value, as a key has it; None for types that no key can have whole, such as texts and JSON."""
    base, numbers = base_type(type_name), modifiers(type_name)
    return _FIXED[base] if base in _FIXED else _sized(base, *numbers[:2])


def _sized(base: str, size: int | None = None, scale: int = 0) -> int | None:
    length = 1 if size is None else size
    match base:
        case "char" | "varchar":
            return length * UTF8MB4
        case "binary" | "varbinary":
            return length
        case "bit":
            return (length + 7) // 8
        case "decimal":
            return _digits_bytes((size or 10) - scale) + _digits_bytes(scale)
        case "time" | "timestamp" | "datetime":
            return _WITH_FRACTION[base] + ((size or 0) + 1) // 2
    return None


def _digits_bytes(digits: int) -> int:
    return digits // 9 * 4 + (digits % 9 + 1) // 2


def row_bytes(type_names: Iterable[str]) -> int:
    """What MySQL counts for a row at most. All columns may be null."""
    listed = list(type_names)
    return (len(listed) + 7) // 8 + sum(map(_row_bytes, listed))


def _row_bytes(type_name: str) -> int:
    base, size = base_type(type_name), value_bytes(type_name)
    if size is None:
        return _POINTER.get(base, _LONGTEXT)
    return size + (1 if size < 256 else 2) * (base in ("varchar", "varbinary"))


def fits_page(type_names: Iterable[str]) -> bool:
    """Whether InnoDB makes a table of these columns, as far as its pages are concerned. All may be null."""
    listed = list(type_names)
    return _PAGE_OVERHEAD + (len(listed) + 7) // 8 + sum(map(_page_bytes, listed)) <= _MAX_PAGE_BYTES


def _page_bytes(type_name: str) -> int:
    base, size = base_type(type_name), value_bytes(type_name)
    varies = size is None or base in ("char", "varchar", "varbinary")
    return min(_INLINE, size or _INLINE) + 1 if varies else size or 0
