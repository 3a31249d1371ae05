"""The figures of the acceptance checks: what was measured, what it has to be, whether it holds."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.console.console import Console


@dataclass(frozen=True, kw_only=True)
class Figure:
    """`what` was measured to be `figure`; it `holds` when that is within `target`."""

    what: str
    figure: str
    target: str
    holds: bool

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'MISSED':<7}{self.what}: {self.figure} ({self.target})"


Check = Callable[[Console], list[Figure]]


def at_most(what: str, number: float, limit: float, unit: str = "") -> Figure:
    space = f" {unit}" if unit else ""
    return Figure(what=what, figure=f"{number:.4g}{space}", target=f"at most {limit:g}{space}", holds=number <= limit)


def at_least(what: str, number: float, limit: float, unit: str = "") -> Figure:
    space = f" {unit}" if unit else ""
    return Figure(what=what, figure=f"{number:.4g}{space}", target=f"at least {limit:g}{space}", holds=number >= limit)


def none_of(what: str, found: list[str]) -> Figure:
    """What must not be found at all; the first of it is shown."""
    shown = f": {found[0][:200]}" if found else ""
    return Figure(what=what, figure=f"{len(found)}{shown}", target="0", holds=not found)
