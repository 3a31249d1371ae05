"""How one type of a column differs from another: which of them takes the values of the other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

_ARGUMENTS = re.compile(r" ?\((-?\d+(?:, ?-?\d+)*)\)")
_LABELS = re.compile(r"(enum|set)\((.*)\)\Z", re.DOTALL)


class TypeChange(Enum):
    """`SAME` is the same type under another spelling, `OTHER` a type of other values."""

    SAME = auto()
    WIDENED = auto()
    NARROWED = auto()
    OTHER = auto()


class _Spelled(NamedTuple):
    """`varchar(20)`: its name, and the numbers in brackets."""

    name: str
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeOrder:
    """The types of one kind of database. Each of `ladders` are names of types, each of which takes all values of those
    before it. `display_only` are names whose numbers in brackets say nothing about their values.

    `unbounded`: a type without numbers takes more than with any (`numeric`); else it has `0` (`datetime`).
    """

    ladders: Sequence[Sequence[str]]
    display_only: frozenset[str] = frozenset()
    unbounded: bool = True

    def compare(self, before: str, after: str) -> TypeChange:
        """What the change from one spelling to another means for values."""
        if labels := _compare_labels(before, after):
            return labels
        old, new = self._spelled(before), self._spelled(after)
        if old.name == new.name:
            return self._compare_arguments(old.arguments, new.arguments)
        for ladder in self.ladders:
            if old.name in ladder and new.name in ladder:
                higher = ladder.index(new.name) > ladder.index(old.name)
                narrow, wide = (old, new) if higher else (new, old)
                if wide.arguments and not (narrow.arguments and _fits(narrow.arguments, wide.arguments)):
                    return TypeChange.OTHER
                return TypeChange.WIDENED if higher else TypeChange.NARROWED
        return TypeChange.OTHER

    def _spelled(self, type_name: str) -> _Spelled:
        match = _ARGUMENTS.search(type_name)
        if match is None:
            return _Spelled(type_name, ())
        name = type_name[: match.start()] + type_name[match.end() :]
        if name in self.display_only:
            return _Spelled(name, ())
        return _Spelled(name, tuple(map(int, match[1].split(","))))

    def _compare_arguments(self, before: tuple[int, ...], after: tuple[int, ...]) -> TypeChange:
        if before == after:
            return TypeChange.SAME
        if self.unbounded and not (before and after):
            return TypeChange.NARROWED if after else TypeChange.WIDENED
        if _fits(before, after):
            return TypeChange.WIDENED
        return TypeChange.NARROWED if _fits(after, before) else TypeChange.OTHER


def _fits(narrow: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    return all(one <= other for one, other in zip(_capacity(narrow), _capacity(wide), strict=True))


def _capacity(arguments: tuple[int, ...]) -> tuple[int, int]:
    """The length of a text; or the digits before the point of a number, and those behind it."""
    length, scale = (*arguments, 0, 0)[:2]
    return length - scale, scale


def _compare_labels(before: str, after: str) -> TypeChange | None:
    """Of two lists of values; None for other types."""
    old, new = _LABELS.match(before), _LABELS.match(after)
    if not old or not new or old[1] != new[1]:
        return None
    if new[2].startswith(f"{old[2]},"):
        return TypeChange.WIDENED
    return TypeChange.NARROWED if old[2].startswith(f"{new[2]},") else TypeChange.OTHER
