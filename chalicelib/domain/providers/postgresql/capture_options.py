"""The options of a capture that PostgreSQL alone has, and whether all of its options fit the discovered tables."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from chalicelib.domain.checks import capture as checks
from chalicelib.domain.checks.options import require_known_options
from chalicelib.domain.pipeline import Capture
from chalicelib.domain.providers.postgresql.heartbeat import check_heartbeat_table
from chalicelib.domain.providers.postgresql.sql import RESERVED_WORDS
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import Invalid

_UNQUOTED_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")


class PublicationMode(StrEnum):
    """Who makes the publication: Debezium, for exactly these tables, or the owner of the source beforehand."""

    FILTERED = "filtered"
    EXISTING = "existing"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLCaptureOptions:
    """Null means a name that is derived from the pipeline's id.

    `adopt_existing`: a slot, or with `filtered` a publication, that exists already may be used as it is.
    """

    publication_mode: PublicationMode = PublicationMode.FILTERED
    publication_name: str | None = None
    slot_name: str | None = None
    adopt_existing: bool = False

    @classmethod
    def of(cls, capture: Capture) -> Self:
        """The capture's own ones, which `own_options` has made."""
        stored = capture.provider_options
        return cls(**{**stored, "publication_mode": PublicationMode(stored.get("publication_mode", "filtered"))})


def source_options(sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """A source has none. Raises Invalid for those of another provider."""
    require_known_options(sent, (), "options")
    return {}


def own_options(sent: Mapping[str, Any], _of_source: Mapping[str, Any]) -> Mapping[str, Any]:
    """All of `PostgreSQLCaptureOptions`, as a capture stores them. Raises Invalid for options that it does not have."""
    require_known_options(sent, PostgreSQLCaptureOptions.__dataclass_fields__, "options")
    return asdict(PostgreSQLCaptureOptions(**sent))


def check_options(capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
    """Raise Invalid for options that do not fit. `tables` are all of `capture.captured_tables`."""
    _check_publication_name(PostgreSQLCaptureOptions.of(capture).publication_name)
    checks.check_options(capture, tables)
    if capture.options.heartbeat_table:
        check_heartbeat_table(tables[capture.options.heartbeat_table])


def _check_publication_name(name: str | None) -> None:
    """Debezium writes the name into its statements without quotes."""
    if name is None or (_UNQUOTED_NAME.match(name) and name not in RESERVED_WORDS):
        return
    raise Invalid.at(
        "body",
        "options",
        "publication_name",
        type_="name_needs_quotes",
        message="Debezium writes this name without quotes: at most 63 characters, a-z, 0-9 and _, no digit first, and "
        "it is not a reserved word of SQL.",
    )
