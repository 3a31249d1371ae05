"""Reads the binary log, its readers and the tables of deployed captures: a few small queries for any number of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, LiteralString

from chalicelib.clients.databases.mysql import catalog, queries, rights, server
from chalicelib.clients.databases.mysql.errors import Refused
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog
from chalicelib.domain.providers.mysql.capture_findings import SETTINGS
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import MySQLCaptureFacts
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import MySQLSession

MAX_FILES = 50_000
MAX_READERS = 1_000

_VARIABLES = (
    *("server_uuid", "gtid_mode", "log_bin", "binlog_format", "binlog_row_image", "binlog_row_value_options"),
    *("binlog_expire_logs_seconds", "expire_logs_days", "binlog_space_limit", "lower_case_table_names"),
    "aurora_version",
)
_PLACES: LiteralString = ", ".join(["%s"] * len(_VARIABLES))
_READ_VARIABLES: LiteralString = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({_PLACES})"

# SHOW GLOBAL VARIABLES cuts a set at 1,024 characters.
_EXECUTED: LiteralString = "SELECT @@GLOBAL.gtid_executed AS gtids"
_PURGED: LiteralString = "SELECT @@GLOBAL.gtid_purged AS gtids"

_OWN_READERS: LiteralString = (
    "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' AND USER ="
    " (SELECT USER FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()) ORDER BY ID LIMIT 1000"
)
"""Those of the account: with PROCESS it sees others, too."""

_HOUR = 3_600
_DAY = 24 * _HOUR


def read(session: "MySQLSession", plans: Sequence[MySQLCapturePlan]) -> MySQLCaptureFacts:
    """Raises DatabaseFailure."""
    rows = session.rows(_READ_VARIABLES, _VARIABLES, max_rows=len(_VARIABLES))
    variables = {str(name).lower(): str(value) for name, value in rows}
    tables = {table for plan in plans for table in plan.captured_tables}
    dropped, hidden = _missing(session, tables, variables)
    return MySQLCaptureFacts(
        server_uuid=variables.get("server_uuid"),
        captures=len(plans),
        readers=_readers(session),
        binlog=_binlog(session, variables),
        status=server.binlog_status(session),
        settings={name: value for name, value in variables.items() if name in SETTINGS},
        dropped=dropped,
        hidden=hidden,
    )


def end_of_log(session: "MySQLSession") -> BinlogPosition | None:
    """Where a connector that begins anew begins now; None where the server writes no log, or does not tell."""
    return ServerBinlog(files=_files(session)).end


def _binlog(session: "MySQLSession", variables: Mapping[str, str]) -> ServerBinlog:
    return ServerBinlog(
        files=_files(session),
        executed=_set(session, _EXECUTED),
        purged=_set(session, _PURGED),
        uses_gtids=variables.get("gtid_mode", "").upper() == "ON",
        retention_seconds=_retention(session, variables),
        space_limit=_number(variables.get("binlog_space_limit")) or None,
    )


def _files(session: "MySQLSession") -> dict[str, int] | None:
    """None where the account may not see them; none where the server writes no log."""
    try:
        rows = session.records(queries.BINARY_LOGS, max_rows=MAX_FILES)
    except Refused:
        return None
    return {str(row["Log_name"]): int(row["File_size"]) for row in rows or ()}


def _set(session: "MySQLSession", query: LiteralString) -> GtidSet | None:
    rows = session.attempt(query, max_rows=1)
    return GtidSet.parse(str(rows[0]["gtids"])) if rows else None


def _retention(session: "MySQLSession", variables: Mapping[str, str]) -> int | None:
    """Amazon's servers purge by a setting of their own: without one, RDS keeps a file until its backup has it."""
    rows = session.attempt(queries.AMAZON_RETENTION, max_rows=1)
    if rows:
        hours, is_aurora = _number(rows[0]["value"]), "aurora_version" in variables
        return hours * _HOUR if hours is not None else None if is_aurora else 0
    seconds = _number(variables.get("binlog_expire_logs_seconds")) or 0
    days = _number(variables.get("expire_logs_days")) or 0
    return seconds or days * _DAY or None


def _readers(session: "MySQLSession") -> frozenset[str] | None:
    rows = session.attempt(_OWN_READERS, max_rows=MAX_READERS)
    return None if rows is None else frozenset(str(row["id"]) for row in rows)


def _missing(
    session: "MySQLSession", tables: Collection[TableName], variables: Mapping[str, str]
) -> tuple[frozenset[TableName], frozenset[TableName]]:
    """The tables that do not exist, and those that the account may not read, whether they exist or not."""
    folds = variables.get("lower_case_table_names", "0") != "0"
    seen = {_folded(name, folds=folds) for name in catalog.existing(session, sorted(tables))}
    unseen = sorted(table for table in tables if _folded(table, folds=folds) not in seen)[: rights.MAX_PROVEN]
    denied = rights.denied_tables(session, unseen)
    return frozenset(unseen) - denied, denied


def _folded(name: TableName, *, folds: bool) -> tuple[str, str]:
    schema, table = name.schema_name, name.table_name
    return (schema.lower(), table.lower()) if folds else (schema, table)


def _number(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
