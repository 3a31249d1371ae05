"""What a goal is measured by: one line of the report."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement beside its target. `reached`: whether it is as good as the target demands."""

    name: str
    measured: str
    target: str
    reached: bool


def none_of(name: str, found: Collection[object], *, enough: bool = True) -> Figure:
    """The figure of what must not exist, with the first five that do. `enough`: so many were tried that it counts."""
    shown = "; ".join(str(entry) for entry in list(found)[:5])
    return Figure(name, f"{len(found)}: {shown}" if found else "0", "0", enough and not found)
