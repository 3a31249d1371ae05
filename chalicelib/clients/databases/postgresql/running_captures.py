"""Reads the slots and the publications of deployed captures: a few small queries for any number of captures."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.clients.databases.postgresql import catalog, queries
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.running_capture import PostgreSQLCaptureFacts
from chalicelib.domain.providers.postgresql.server_log import ServerLog
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import DatabaseSession

MAX_PUBLISHED = 20_000


def read(session: "DatabaseSession", plans: Sequence[PostgreSQLCapturePlan]) -> PostgreSQLCaptureFacts:
    """Raises DatabaseFailure."""
    slots = sorted({plan.slot_name for plan in plans})
    rows = session.rows(queries.CAPTURE_SLOTS, [slots], max_rows=len(slots)) if slots else []
    return PostgreSQLCaptureFacts(
        system_identifier=_system_identifier(session),
        slots={row[0]: CaptureSlot(**catalog.fields(catalog.CAPTURE_SLOT, row)) for row in rows},
        published=_published(session, plans),
        log=_log(session),
    )


def _system_identifier(session: "DatabaseSession") -> str | None:
    try:
        with session.attempt():
            return str(session.row(queries.SYSTEM_IDENTIFIER)[0])[:40]
    except DatabaseFailure:
        if session.deadline.passed:
            raise
        return None  # a hosting provider may have revoked the function


def _log(session: "DatabaseSession") -> ServerLog:
    log = ServerLog()
    try:
        with session.attempt():
            end, timeline, started = session.row(queries.SERVER_LOG)
        log = ServerLog(end=end, timeline=timeline, started=started)
        with session.attempt():
            checkpointed, checkpoint = session.row(queries.LAST_CHECKPOINT)
    except DatabaseFailure:
        if session.deadline.passed:
            raise
        return log  # a hosting provider may have storage of its own in place of this log
    return replace(log, checkpoint=checkpoint) if checkpointed == timeline else log


def _published(session: "DatabaseSession", plans: Sequence[PostgreSQLCapturePlan]) -> dict[str, frozenset[TableName]]:
    tables = sorted({table for plan in plans for table in plan.published_tables})
    schema_names, table_names = catalog.names_of(tables)
    parameters = {
        "schemas": schema_names,
        "tables": table_names,
        "publications": sorted({plan.publication_name for plan in plans}),
    }
    published: dict[str, set[TableName]] = defaultdict(set)
    for publication, schema, table in session.rows(queries.CAPTURE_PUBLICATIONS, parameters, max_rows=MAX_PUBLISHED):
        # The row without a table shows that the publication exists.
        published[publication].update([TableName(schema, table)] if table else [])
    return {publication: frozenset(names) for publication, names in published.items()}
