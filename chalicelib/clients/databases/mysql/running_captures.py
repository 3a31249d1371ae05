"""Reads the binary log, its readers and the tables of deployed captures: a few small queries for any number of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, LiteralString, cast

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql import catalog, queries, server
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog
from chalicelib.domain.providers.mysql.capture_findings import SETTINGS
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import MySQLCaptureFacts
from chalicelib.domain.providers.mysql.sql import quoted_table
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import DatabaseSession

MAX_FILES = 50_000
MAX_READERS = 1_000
MAX_PROBED = 20
"""Captured tables that are not in the catalogue, and are asked for one by one."""

_HOUR = 3_600
_DAY = 24 * _HOUR


def read(session: "DatabaseSession", plans: Sequence[MySQLCapturePlan]) -> MySQLCaptureFacts:
    """Raises DatabaseFailure."""
    variables = _variables(session)
    dropped, hidden = _missing(session, {table for plan in plans for table in plan.captured_tables}, variables)
    return MySQLCaptureFacts(
        server_uuid=variables.get("server_uuid"),
        captures=len(plans),
        # Before the log: who reads it then has not missed what is purged meanwhile.
        readers=_readers(session),
        binlog=_binlog(session, variables),
        status=server.binlog_status(session),
        settings={name: value for name, value in variables.items() if name in SETTINGS},
        dropped=dropped,
        hidden=hidden,
    )


def end_of_log(session: "DatabaseSession") -> BinlogPosition | None:
    """Where a connector that begins anew begins now; None where the server writes no log, or does not tell."""
    return ServerBinlog(files=_files(session)).end


def _variables(session: "DatabaseSession") -> dict[str, str]:
    names = queries.CAPTURE_VARIABLES
    places = cast(LiteralString, ", ".join(["%s"] * len(names)))
    rows = session.rows(f"{queries.VARIABLES_NAMED}({places})", names, max_rows=len(names))
    return {str(name).lower(): str(value) for name, value in rows}


def _binlog(session: "DatabaseSession", variables: Mapping[str, str]) -> ServerBinlog:
    # Transactions are written to the log before they are executed: so no set here is behind the files.
    purged, files = _set(session, queries.GTID_PURGED), _files(session)
    return ServerBinlog(
        files=files,
        executed=_set(session, queries.GTID_EXECUTED),
        purged=purged,
        uses_gtids=variables.get("gtid_mode", "").upper() == "ON",
        retention_seconds=_retention(session, variables),
        space_limit=_number(variables.get("binlog_space_limit")) or None,
    )


def _files(session: "DatabaseSession") -> dict[str, int] | None:
    """None where the account may not see them; none where the server writes no log."""
    from chalicelib.clients.databases.mysql.session import Refused

    try:
        rows = session.records(queries.BINARY_LOGS, max_rows=MAX_FILES)
    except Refused as refused:
        return None if refused.is_denied else {}
    return {str(row["Log_name"]): int(row["File_size"]) for row in rows}


def _set(session: "DatabaseSession", query: LiteralString) -> GtidSet | None:
    rows = session.attempt(query, max_rows=1)
    return GtidSet.parse(str(rows[0]["gtids"])) if rows else None


def _retention(session: "DatabaseSession", variables: Mapping[str, str]) -> int | None:
    """Amazon's servers purge by a setting of their own: without one, RDS keeps a file until its backup has it."""
    rows = session.attempt(queries.RETENTION_HOURS, max_rows=1)
    if rows is not None:
        hours = _number(rows[0]["value"]) if rows else None
        is_aurora = "aurora_version" in variables
        return hours * _HOUR if hours is not None else None if is_aurora else 0
    seconds = _number(variables.get("binlog_expire_logs_seconds")) or 0
    days = _number(variables.get("expire_logs_days")) or 0
    return seconds or days * _DAY or None


def _readers(session: "DatabaseSession") -> frozenset[str] | None:
    rows = session.attempt(queries.OWN_DUMP_THREADS, max_rows=MAX_READERS)
    return None if rows is None else frozenset(str(row["id"]) for row in rows)


def _missing(
    session: "DatabaseSession", tables: Collection[TableName], variables: Mapping[str, str]
) -> tuple[frozenset[TableName], frozenset[TableName]]:
    """The tables that do not exist, and those that the account may not read, whether they exist or not."""
    folds = variables.get("lower_case_table_names", "0") != "0"
    seen = {_folded(name, folds=folds) for name in catalog.existing(session, sorted(tables))}
    unseen = sorted(table for table in tables if _folded(table, folds=folds) not in seen)[:MAX_PROBED]
    denied = frozenset(table for table in unseen if _is_denied(session, table))
    return frozenset(unseen) - denied, denied


def _folded(name: TableName, *, folds: bool) -> tuple[str, str]:
    schema, table = name.schema_name, name.table_name
    return (schema.lower(), table.lower()) if folds else (schema, table)


def _is_denied(session: "DatabaseSession", table: TableName) -> bool:
    from chalicelib.clients.databases.mysql.session import Refused

    probe = cast(LiteralString, f"SELECT 1 FROM {quoted_table(table)} LIMIT 0")
    try:
        session.records(probe, max_rows=1)
    except Refused as refused:
        return refused.is_denied
    except DatabaseFailure as failure:
        if failure.failure_code is not FailureCode.DATABASE_NOT_FOUND:
            raise
    return False


def _number(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
