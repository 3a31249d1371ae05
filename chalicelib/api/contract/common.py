"""What many bodies share: how names, times and secrets are written (wire contract, section 1)."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self
from unicodedata import bidirectional, category, combining

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    StringConstraints,
)
from pydantic_core import PydanticCustomError

from chalicelib.domain.credentials import Credentials
from chalicelib.kit.clock import rfc3339
from chalicelib.kit.masking import MASK, Secret

Timestamp = Annotated[datetime, PlainSerializer(rfc3339, return_type=str)]
"""RFC 3339, UTC, milliseconds."""

_UNREADABLE = frozenset({"Cc", "Cs", "Cn", "Zl", "Zp"})
"""Unicode's control characters, surrogates, unassigned characters, and separators of lines and paragraphs."""
_DIRECTION_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that make text look like other text. Joiners (U+200C, U+200D) are part of writing and allowed."""
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})\Z"
)
_LAST_YEAR = 9000
"""Of a time that clients send: later than any, and early enough that a duration can be added."""
_DIGITS = re.compile(r"-?[0-9]+\Z")


def _readable(text: str) -> str:
    if any(category(letter) in _UNREADABLE or letter in _DIRECTION_CONTROLS for letter in text):
        raise PydanticCustomError("not_readable", "it must not hold control characters")
    return text


_WITHOUT_WIDTH = frozenset(
    chr(code)
    for first, last in (
        *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164), (0xFFA0, 0xFFA0)),
        *((0xFE00, 0xFE0F), (0xE0100, 0xE01EF)),
    )
    for code in range(first, last + 1)
)
"""What is not shown at all and is no format character (Unicode's property Default_Ignorable_Code_Point)."""


_JOINERS = frozenset("\u200c\u200d")
_MAX_CHARACTERS = 4_000
"""Of a name, an address or a line with the blanks around it: each character is looked at."""
_VIRAMA = 9
"""The combining class of the sign that takes the vowel from a letter of an Indic script."""


def _visible(text: str) -> str:
    """A name: two of them that look the same have to be the same."""
    for at, letter in enumerate(_readable(text)):
        if _has_no_width(letter) and not (letter in _JOINERS and _joins(text[at - 1 : at], text[at + 1 : at + 2])):
            raise _not_visible()
    return text


def _visible_throughout(text: str) -> str:
    """An address: in it joiners are not part of writing."""
    if any(map(_has_no_width, _readable(text))):
        raise _not_visible()
    return text


def _has_no_width(letter: str) -> bool:
    return category(letter) == "Cf" or letter in _WITHOUT_WIDTH


def _joins(before: str, after: str) -> bool:
    """Whether a joiner between these shows: after a virama and between Arabic letters, as in domain names (RFC 5892,
    appendix A), and between pictures.
    """
    if not before or not after:
        return False
    arabic, picture = (bidirectional(before), bidirectional(after)), (category(before), category(after))
    return combining(before) == _VIRAMA or arabic == ("AL", "AL") or picture == ("So", "So")


def _not_visible() -> PydanticCustomError:
    return PydanticCustomError("not_visible", "it must not hold characters that are not shown")


def _if_text(check: Callable[[str], str]) -> BeforeValidator:
    """Checks text as the client sent it: trimming would take control characters away that have to be refused."""

    def checked(value: object) -> object:
        if not isinstance(value, str):
            return value
        if len(value) > _MAX_CHARACTERS:
            raise PydanticCustomError("string_too_long", "text that is too long")
        return check(value)

    return BeforeValidator(checked)


VISIBLE_NAME = _if_text(_visible)
VISIBLE_ADDRESS = _if_text(_visible_throughout)


def _readable_lines(text: str) -> str:
    _readable(text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))
    return text


def _plain_number(value: object) -> object:
    """Refuses what Pydantic accepts besides: true for 1, and `1_0` for 10."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "a boolean is no number")
    if isinstance(value, str) and not _DIGITS.match(value):
        raise PydanticCustomError("int_parsing", "not a number")
    return value


def _time_text(value: object) -> object:
    """Refuses what Pydantic accepts besides RFC 3339: numbers, and times without seconds."""
    if value is not None and not isinstance(value, str):
        raise PydanticCustomError("datetime_type", "not a time")
    if value is not None and not _RFC_3339.match(value):
        raise PydanticCustomError("datetime_parsing", "not a time like 2030-01-31T12:00:00Z")
    return value


def _not_too_far(time: datetime) -> datetime:
    if time.year > _LAST_YEAR:
        raise PydanticCustomError("too_late", "a time that is too far away")
    return time


Time = Annotated[AwareDatetime, BeforeValidator(_time_text), AfterValidator(_not_too_far)]
"""A time that clients send: RFC 3339, with its zone."""
Integer = Annotated[int, BeforeValidator(_plain_number)]
"""An integer, also as text in digits. Not `pydantic.StrictInt`: that refuses text, and all of a query is text."""
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), VISIBLE_NAME]
"""The name of a resource, unique among those of its type whatever its case."""
Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000), _if_text(_readable)]
Lines = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000), _if_text(_readable_lines)]
Uuid = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
SecretText = Annotated[SecretStr, Field(max_length=32768)]


class Input(BaseModel):
    """A body or a query that clients send. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Output(BaseModel):
    """A body that clients get."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def of(cls, entity: Any) -> Self:
        """Built from the attributes that have the names of the fields."""
        return cls.model_validate(entity)

    @classmethod
    def _read(cls, entity: Any, **computed: Any) -> Self:
        """Built likewise, with `computed` values for the fields that the entity has no attributes for."""
        attributes = {name: getattr(entity, name) for name in cls.model_fields if name not in computed}
        return cls.model_validate({**attributes, **computed})


class CredentialsOutput(Output):
    """Whether secrets are stored. No secret is ever shown."""

    configured: bool
    mask: str | None = MASK

    @classmethod
    def of(cls, credentials: Credentials) -> Self:
        """The mask is the same for all credentials."""
        return cls(configured=credentials.configured, mask=MASK if credentials.configured else None)


class ErrorOutput(Output):
    """An error without a time."""

    code: str
    message: str


class FailureOutput(ErrorOutput):
    """A sanitized error with its time."""

    at: Timestamp


def secrets_of(model: BaseModel | None) -> Mapping[str, Secret | None]:
    """The secret fields of a credentials body. Missing, null and blank all mean: keep what is stored."""
    fields: Mapping[str, Any] = dict(model) if model else {}
    return {
        name: Secret(value.get_secret_value()) if value and value.get_secret_value().strip() else None
        for name, value in fields.items()
    }
