"""What a goal is measured by: one line of the report."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement beside its target. `reached`: whether it is as good as the target demands."""

    name: str
    measured: str
    target: str
    reached: bool
