"""Reads asvs.yaml: which requirements of OWASP's ASVS 5.0 apply, and which test shows that they are met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

FILE = Path(__file__).with_name("asvs.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement. Those that do not apply say `why_not`; others have a `measure`, and a `test` or none."""

    id: str
    level: int
    measure: str = ""
    test: str | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many requirements of a level apply, and how many of these have a test."""

    applicable: int
    tested: int

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.tested / self.applicable


@cache
def rows() -> Sequence[Row]:
    """All requirements. Raises ValueError when one is missing, is there twice, or belongs to no level."""
    table: Mapping[str, Any] = yaml.safe_load(FILE.read_text())
    levels = {requirement: level for level, of_level in table["levels"].items() for requirement in of_level}
    applicable = [Row(id=name, level=levels[name], **fields) for name, fields in table["requirements"].items()]
    others = [
        Row(id=name, level=levels[name], why_not=group["why"])
        for group in table["not_applicable"]
        for name in group["requirements"]
    ]
    if sorted(row.id for row in (*applicable, *others)) != sorted(levels):
        raise ValueError("a requirement is missing, or is there twice")
    return applicable + others


def shares(level: int) -> Share:
    applicable = [row for row in rows() if row.level == level and not row.why_not]
    return Share(applicable=len(applicable), tested=sum(row.test is not None for row in applicable))
