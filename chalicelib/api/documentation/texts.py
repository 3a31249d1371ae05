"""Descriptions of fields and of variables in paths. They are read when the OpenAPI document is built, never before."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ANY = "any"
"""The table of `fields.toml` for fields that mean the same in every model."""


@cache
def fields() -> Mapping[str, Mapping[str, str]]:
    """The texts of fields by model and name."""
    return _read("fields.toml")


@cache
def path_variables() -> Mapping[str, str]:
    """The text of a variable by the segment before it."""
    return _read("paths.toml")


def field_text(model: str, field: str) -> str | None:
    """What the field means; None when nobody has written it down."""
    return fields().get(model, {}).get(field) or fields()[ANY].get(field)


def path_text(path: str, variable: str) -> str | None:
    """What the variable of the path is; None when nobody has written it down."""
    segments = path.split("/")
    return path_variables().get(segments[segments.index(f"{{{variable}}}") - 1])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
