"""Whether a capture's options fit PostgreSQL and the tables that discovery found."""

import re
from collections.abc import Mapping

from chalicelib.domain.capture import checks
from chalicelib.domain.pipeline import Capture
from chalicelib.domain.providers.postgresql.heartbeat import check_heartbeat_table
from chalicelib.domain.providers.postgresql.sql import RESERVED_WORDS
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import Invalid

_UNQUOTED_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")


def check_options(capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
    """Raise Invalid for options that do not fit. `tables` are all of `capture.captured_tables`."""
    _check_publication_name(capture.options.publication_name)
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
