"""A database registered for capture."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.registered import ConnectedSystem

DISCOVERY_BOUND = 500
"""Tables that a discovery reads when nobody has asked for more (specification, section 8)."""
MAX_DISCOVERY_BOUND = 5_000
"""Tables that a discovery reads at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(ConnectedSystem[DatabaseAddress]):
    """A source. `tables`, `cdc_ready_tables` and `server_identity` are null until discovery has run for the current
    address.

    `server_identity` is the same for every source on one server, where its provider needs that. `options` are those
    that its provider has for sources. `generation` names the rows of the discovery: see `stores/source_tables.py`.
    `schema_history` names the versions of schemas at the current address: see `stores/schema_versions.py`.
    `discovery_bound` is how many tables the last discovery read at most, and how many the next one will when nobody
    asks for another number. A source that is moved keeps it.
    """

    UNDISCOVERED: ClassVar[Mapping[str, Any]] = {
        **ConnectedSystem.UNTESTED,
        "last_discovery_at": None,
        "tables": None,
        "cdc_ready_tables": None,
        "generation": None,
        "schema_history": None,
        "server_identity": None,
    }

    last_discovery_at: datetime | None = None
    tables: int | None = None
    cdc_ready_tables: int | None = None
    generation: str | None = None
    schema_history: str | None = None
    server_identity: str | None = None
    discovery_bound: int = DISCOVERY_BOUND
    options: Mapping[str, Any] = field(default_factory=dict)
