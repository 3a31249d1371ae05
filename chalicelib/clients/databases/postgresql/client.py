"""Reads a PostgreSQL server: version, settings, tables and privileges. Only `release` and `continue_capture` change it,
and nothing of it but a slot.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.clients.databases.checks import failure_result, success_result
from chalicelib.clients.databases.contract import TableListing
from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql import catalog, lock_waits, queries, running_captures, slots, target_tables
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.diagnosis.cause import CatalogName
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.lock_waits import LockWait
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.providers.postgresql.facts import (
    ConnectionLimit,
    OpenTransaction,
    PostgreSQLRawTable,
    PostgreSQLServerFacts,
    PostgreSQLTargetFacts,
    ReplicationAttempt,
    RoleFacts,
    SchemaFacts,
    SlotFacts,
    TargetTable,
)
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.running_capture import PostgreSQLCaptureFacts
from chalicelib.domain.release import ReleaseState, SourceRelease
from chalicelib.domain.source import DISCOVERY_BOUND
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import DatabaseSession, Row

MAX_COLUMNS = 100_000
"""Of all tables of a discovery: 20 for each of the 5,000."""
MAX_SLOTS = 1_000
MAX_PUBLICATIONS = 500
MAX_PUBLISHED = 5_000
MAX_TRANSACTIONS = 20
REPLICATION_SECONDS = 4.0
"""For the replication connection that readiness tries: a healthy server needs much less."""
MAX_SIDE_EFFECTS = 10_000
_TABLES_PER_STATEMENT = 500
"""Of which one statement reads the columns: it sorts them by the place of their table, which costs both multiplied."""
_LAST_READ_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class PostgreSQL:
    """A `Database`. `check_host` gives the addresses, right before each connection.

    `trusted_ca_file` is a PEM file to verify servers whose endpoint has no certificate; None means that of the system.
    """

    endpoint: OpenedEndpoint[DatabaseAddress]
    check_host: HostCheck
    trusted_ca_file: str | None = None

    def test(self, deadline: Deadline) -> TestResult:
        start = time.monotonic()
        try:
            with self._session(deadline) as session:
                session.row(queries.READABLE)
                version = str(session.row(queries.VERSION)[0])[:100]
        except DatabaseFailure as failure:
            return failure_result(failure)
        return success_result(version, round((time.monotonic() - start) * 1000))

    def look(self, deadline: Deadline) -> TestResult:
        """See `TargetClient.look`."""
        return self.test(deadline)

    def server_facts(self, tables: Sequence[TableName] | None, deadline: Deadline) -> PostgreSQLServerFacts:
        with self._session(deadline) as session:
            facts = _server_facts(session, tables)
        # After the end of the session: the role may have one connection only, and a capture will use one.
        return replace(facts, replication_attempt=self._attempt_replication(deadline))

    def _attempt_replication(self, deadline: Deadline) -> ReplicationAttempt:
        from chalicelib.clients.databases.postgresql import session

        limit = deadline.within(REPLICATION_SECONDS)
        try:
            server = session.read_identity(self.endpoint, self.check_host, self.trusted_ca_file, limit)
        except DatabaseFailure as failure:
            return ReplicationAttempt(failure_code=failure.failure_code.value, message=failure.message)
        return ReplicationAttempt(identity=server)

    def capture_facts(self, plans: Sequence[PostgreSQLCapturePlan], deadline: Deadline) -> PostgreSQLCaptureFacts:
        with self._session(deadline) as session:
            facts = running_captures.read(session, plans)
        if not any(facts.log.has_left(plan.timeline) for plan in plans):
            return facts
        # After the end of the session: the role may have one connection only.
        return replace(facts, log=replace(facts.log, switches=self._switches(facts.log.timeline or 1, deadline)))

    def _switches(self, timeline: int, deadline: Deadline) -> Mapping[int, int] | None:
        """Where each timeline before this one was left; None when that cannot be read now."""
        from chalicelib.clients.databases.postgresql import session

        if timeline == 1:
            return {}
        limit = deadline.within(REPLICATION_SECONDS)
        try:
            return session.read_switches(self.endpoint, self.check_host, self.trusted_ca_file, timeline, limit)
        except DatabaseFailure:
            return None

    def list_tables(self, deadline: Deadline, bound: int = DISCOVERY_BOUND) -> TableListing:
        """System schemas, temporary tables, views, foreign tables and partitions are left out: the root of partitions
        stands for them. `truncated` when there are more than `bound`, or too many columns.
        """
        with self._session(deadline) as session:
            rows = _discover(session, bound)
            tables, columns_cut = _read_columns(session, rows[:bound])
            return TableListing(tuple(tables), truncated=len(rows) > bound or columns_cut)

    def target_facts(self, targets: Sequence[TableName], deadline: Deadline) -> PostgreSQLTargetFacts:
        schemas = sorted({target.schema_name for target in targets})
        with self._session(deadline) as session:
            number, role, in_recovery, extensions = session.row(queries.TARGET_SERVER)
            rows = session.rows(queries.TARGET_SCHEMAS, [schemas], max_rows=len(schemas))
            found = tuple(SchemaFacts(name=name, usage=usage, create=create) for name, usage, create in rows)
            is_closed = len(found) < len(schemas) or not all(schema.usage and schema.create for schema in found)
            return PostgreSQLTargetFacts(
                version_number=number,
                role=role,
                in_recovery=in_recovery,
                extensions=frozenset(extensions),
                server_identity=_identity(session),
                replica_role=session.row(queries.REPLICATION_ROLE)[0],
                connection_limits=tuple(
                    ConnectionLimit(name=name, maximum=limit, used=used)
                    for name, limit, used in session.rows(queries.CONNECTIONS, max_rows=3)
                ),
                schemas=found,
                open_schemas=target_tables.open_schemas(session) if is_closed else (),
                tables=_target_tables(session, targets),
            )

    def target_tables(self, targets: Sequence[TableName], deadline: Deadline) -> Sequence[WatchedTable]:
        with self._session(deadline) as session:
            return target_tables.read(session, targets)

    def lock_waits(self, targets: Sequence[TableName], at: datetime, deadline: Deadline) -> Sequence[LockWait]:
        secrets = [secret.reveal() for secret in self.endpoint.secrets.values()]
        with self._session(deadline) as session:
            return lock_waits.read(session, targets, at, secrets)

    def count_rows(self, bounds: Mapping[TableName, int], deadline: Deadline) -> Mapping[TableName, int]:
        with self._session(deadline) as session:
            return target_tables.count(session, bounds)

    def catalog_names(
        self, tables: Sequence[TableName], names: Collection[str], deadline: Deadline
    ) -> Sequence[CatalogName]:
        with self._session(deadline) as session:
            return target_tables.catalog_names(session, tables, names)

    def release(self, release: SourceRelease, deadline: Deadline) -> ReleaseState:
        with self._session(Deadline.after(deadline.remaining() + _LAST_READ_SECONDS)) as session:
            return slots.drop_slot(session, release.name, deadline)

    def continue_capture(self, plan: PostgreSQLCapturePlan, deadline: Deadline) -> int | None:
        with self._session(Deadline.after(deadline.remaining() + _LAST_READ_SECONDS)) as session:
            ways = {"failover": plan.failover, "may_drop": plan.owns_slot}
            return slots.position_to_continue_at(session, plan.slot_name, deadline, **ways)

    def _session(self, deadline: Deadline) -> "AbstractContextManager[DatabaseSession]":
        # psycopg is slow to import: only functions that read a database pay for it.
        from chalicelib.clients.databases.postgresql import session

        return session.open_session(self.endpoint, self.check_host, self.trusted_ca_file, deadline)


def _server_facts(session: "DatabaseSession", tables: Sequence[TableName] | None) -> PostgreSQLServerFacts:
    signs, limits, milliseconds = session.row(queries.HOSTING, catalog.hosting_parameters())
    transactions = session.rows(
        queries.OPEN_TRANSACTIONS, [MAX_TRANSACTIONS, MAX_TRANSACTIONS], max_rows=2 * MAX_TRANSACTIONS
    )
    raw_tables = _discovered_tables(session) if tables is None else _named_tables(session, tables)
    names = catalog.names_of(table.name for table in raw_tables)
    return PostgreSQLServerFacts(
        **catalog.fields(catalog.SERVER, session.row(queries.SERVER)),
        role=RoleFacts(**catalog.fields(catalog.ROLE, session.row(queries.ROLE))),
        slots=tuple(
            SlotFacts(**catalog.fields(catalog.SLOT, row)) for row in session.rows(queries.SLOTS, max_rows=MAX_SLOTS)
        ),
        publications=catalog.publication_facts(
            session.rows(queries.PUBLICATIONS, max_rows=MAX_PUBLICATIONS),
            session.rows(queries.PUBLISHED_TABLES, names, max_rows=MAX_PUBLISHED),
        ),
        tables=raw_tables,
        hosting=catalog.hosting(signs),
        session_limits=dict(zip(limits, milliseconds, strict=True)),
        open_transactions=tuple(OpenTransaction(**catalog.fields(catalog.TRANSACTION, row)) for row in transactions),
    )


def _discover(session: "DatabaseSession", bound: int) -> "list[Row]":
    """At most one row more than the bound. Sizes are exact, unless another session has a lock on a table."""
    try:
        with session.attempt():
            return session.rows(queries.DISCOVERED_TABLES, max_rows=bound + 1)
    except DatabaseFailure as failure:
        if failure.failure_code is not FailureCode.TIMEOUT or session.deadline.passed:
            raise
    return session.rows(queries.DISCOVERED_TABLES_WITHOUT_LOCKS, max_rows=bound + 1)


def _read_columns(session: "DatabaseSession", rows: "Sequence[Row]") -> tuple[list[PostgreSQLRawTable], bool]:
    """The tables with all of their columns, and whether tables are missing because there are too many columns."""
    column_rows = _columns(session, [row[0] for row in rows])
    complete, end = len(column_rows) <= MAX_COLUMNS, len(rows)
    if not complete:
        # Columns are in the order of the tables: the table of the last one is incomplete, those after it are missing.
        end = next((index for index, row in enumerate(rows) if row[0] == column_rows[-1][0]), 0)
    columns = catalog.columns_by_table(column_rows)
    tables = {row[0]: catalog.raw_table(row, columns.get(row[0], ())) for row in rows[:end]}
    for row in session.rows(queries.DESCENDANTS, [list(tables)], max_rows=len(tables)) if tables else ():
        tables[row[0]] = catalog.with_descendants(tables[row[0]], row)
    return list(tables.values()), not complete


def _columns(session: "DatabaseSession", oids: Sequence[int]) -> "list[Row]":
    """The columns of these tables in their order, at most `MAX_COLUMNS` and one more."""
    found: list[Row] = []
    for start in range(0, len(oids), _TABLES_PER_STATEMENT):
        if len(found) <= MAX_COLUMNS:
            tables = {"tables": list(oids[start : start + _TABLES_PER_STATEMENT])}
            found += session.rows(queries.COLUMNS, tables, max_rows=MAX_COLUMNS + 1 - len(found))
    return found


def _discovered_tables(session: "DatabaseSession") -> tuple[PostgreSQLRawTable, ...]:
    """The first tables of a discovery, as many as one read allows."""
    rows = session.rows(queries.DISCOVERED_TABLES_WITHOUT_SIZES, max_rows=DISCOVERY_BOUND)
    return tuple(_read_columns(session, rows)[0])


def _named_tables(session: "DatabaseSession", tables: Sequence[TableName]) -> tuple[PostgreSQLRawTable, ...]:
    if not tables:
        return ()
    rows = session.rows(queries.NAMED_TABLES, catalog.names_of(tables), max_rows=len(tables))
    raw_tables, cut = _read_columns(session, rows)
    if cut:
        raise DatabaseFailure(FailureCode.RESULT_TOO_LARGE)
    return tuple(raw_tables)


def _target_tables(session: "DatabaseSession", targets: Sequence[TableName]) -> tuple[TargetTable, ...]:
    if not targets:
        return ()
    rows = session.rows(queries.TARGET_TABLES, catalog.names_of(targets), max_rows=len(targets))
    oids = [row[0] for row in rows]
    columns = catalog.columns_by_table(_columns(session, oids))
    keys: dict[int, list[list[str]]] = defaultdict(list)
    for oid, key in session.rows(queries.UNIQUE_KEYS, [oids], max_rows=len(targets) * 20):
        keys[oid].append(key)
    effects: dict[int, list[Row]] = defaultdict(list)
    for effect in session.rows(queries.SIDE_EFFECTS, {"tables": oids}, max_rows=MAX_SIDE_EFFECTS):
        effects[effect[0]].append(effect)
    return tuple(catalog.target_table(row, columns.get(row[0], ()), keys[row[0]], effects[row[0]]) for row in rows)


def _identity(session: "DatabaseSession") -> str | None:
    """The identity of the server, the same under all of its names; None when the role may not read it."""
    if not session.row(queries.MAY_READ_IDENTITY)[0]:
        return None
    identifier, address, port = session.row(queries.IDENTITY)
    return f"postgresql:{identifier}@{address}:{port}"
