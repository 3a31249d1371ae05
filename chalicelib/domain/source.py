"""A database registered for capture."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.registered import ConnectedSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(ConnectedSystem[DatabaseAddress]):
    """A source. `tables` and `cdc_ready_tables` are null until discovery has run for the current address.

    `generation` names the rows of that discovery: see `stores/source_tables.py`.
    """

    UNDISCOVERED: ClassVar[Mapping[str, Any]] = {
        **ConnectedSystem.UNTESTED,
        "last_discovery_at": None,
        "tables": None,
        "cdc_ready_tables": None,
        "generation": None,
    }

    last_discovery_at: datetime | None = None
    tables: int | None = None
    cdc_ready_tables: int | None = None
    generation: str | None = None
