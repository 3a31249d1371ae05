"""Reads a PostgreSQL server: version and settings, tables, and what the role may do. Only `drop_slot` changes it."""

import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.databases import connection_test
from chalicelib.clients.databases.contract import DISCOVERY_BOUND, SlotState, TableListing
from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql import catalog, queries, running_captures, slots, target_queries
from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.postgresql.facts import (
    ConnectionLimit,
    RawTable,
    ReplicationAttempt,
    SchemaFacts,
    ServerFacts,
    TargetFacts,
    TargetTable,
)
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.providers.postgresql.running_capture import CaptureFacts
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    from chalicelib.clients.databases.postgresql.session import Row, Session

MOST_COLUMNS = 60_000
MOST_SLOTS = 1_000
MOST_PUBLICATIONS = 500
MOST_PUBLISHED = 5_000
MOST_TRANSACTIONS = 20
REPLICATION_SECONDS = 4.0
"""For the connection that readiness tries: a healthy server needs much less."""
MOST_SIDE_EFFECTS = 10_000
_LAST_LOOK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class PostgreSQL:
    """A Database. `check_host` gives the addresses to connect to, right before each connection.

    `trusted_ca_file` is a PEM file to verify servers with where the endpoint has no certificate of its own; None means
    the system's.
    """

    endpoint: OpenedEndpoint[DatabaseAddress]
    check_host: HostCheck
    trusted_ca_file: str | None = None

    def test(self, deadline: Deadline) -> TestResult:
        began = time.monotonic()
        try:
            with self._reading(deadline) as session:
                session.row(queries.READABLE)
                version = str(session.row(queries.VERSION)[0])[:100]
        except DatabaseFailure as failure:
            return connection_test.failed(failure)
        return connection_test.succeeded(version, round((time.monotonic() - began) * 1000))

    def server_facts(self, tables: Sequence[TableName] | None, deadline: Deadline) -> ServerFacts:
        """Reads what readiness is judged by, for these tables; None: for those that a discovery finds.

        Raises DatabaseFailure.
        """
        with self._reading(deadline) as session:
            facts = _server_facts(session, tables)
        # After the session has ended: a role with few connections has the one that a capture will use.
        return replace(facts, replication_attempt=self._attempt_replication(deadline))

    def _attempt_replication(self, deadline: Deadline) -> ReplicationAttempt:
        from chalicelib.clients.databases.postgresql import identity

        limit = Deadline.after(deadline.remaining(REPLICATION_SECONDS))
        try:
            found = identity.read_identity(self.endpoint, self.check_host, self.trusted_ca_file, limit)
        except DatabaseFailure as failure:
            return ReplicationAttempt(failure_code=failure.failure_code.value, message=failure.message)
        return ReplicationAttempt(identity=found)

    def capture_facts(self, plans: Sequence[CapturePlan], deadline: Deadline) -> CaptureFacts:
        """Reads slots and publications of deployed captures, and which server this is. Raises DatabaseFailure."""
        with self._reading(deadline) as session:
            return running_captures.read(session, plans)

    def list_tables(self, deadline: Deadline, bound: int = DISCOVERY_BOUND) -> TableListing:
        """Reads the tables that can be captured, ordered by schema and name. Raises DatabaseFailure.

        Left out are the system's schemas, temporary tables, views, foreign tables and partitions (their root represents
        them). `truncated` when there are more than `bound`, or more columns than are ever read.
        """
        with self._reading(deadline) as session:
            rows = _discovered(session, bound)
            kept, columns_cut = _with_columns(session, rows[:bound])
            return TableListing(tuple(kept), truncated=len(rows) > bound or columns_cut)

    def target_facts(self, targets: Sequence[TableName], deadline: Deadline) -> TargetFacts:
        """Reads what a delivery into these tables would find. Raises DatabaseFailure."""
        schemas = sorted({target.schema_name for target in targets})
        with self._reading(deadline) as session:
            number, role, in_recovery, extensions = session.row(queries.TARGET_SERVER)
            found = session.rows(queries.TARGET_SCHEMAS, [schemas, len(schemas)], most=len(schemas))
            return TargetFacts(
                version_number=number,
                role=role,
                in_recovery=in_recovery,
                extensions=frozenset(extensions),
                server_identity=_identity(session),
                replica_role=session.row(target_queries.REPLICATION_ROLE)[0],
                connection_limits=tuple(
                    ConnectionLimit(name=name, most=most, used=used)
                    for name, most, used in session.rows(target_queries.CONNECTIONS, [], most=3)
                ),
                schemas=tuple(SchemaFacts(name=name, usage=usage, create=create) for name, usage, create in found),
                tables=_target_tables(session, targets),
            )

    def drop_slot(self, name: str, deadline: Deadline) -> SlotState:
        with self._reading(Deadline.after(deadline.remaining() + _LAST_LOOK_SECONDS)) as session:
            return slots.drop_slot(session, name, deadline)

    def _reading(self, deadline: Deadline) -> "AbstractContextManager[Session]":
        # psycopg is slow to import: only functions that read a database pay for it.
        from chalicelib.clients.databases.postgresql import session

        return session.reading(self.endpoint, self.check_host, self.trusted_ca_file, deadline)


def _server_facts(session: "Session", tables: Sequence[TableName] | None) -> ServerFacts:
    version, number, database, wal_level, in_recovery, slots, senders, used, kept = session.row(queries.SERVER)
    signs, limits, milliseconds = session.row(queries.HOSTING, catalog.hosting_parameters())
    transactions = session.rows(
        queries.OPEN_TRANSACTIONS, [MOST_TRANSACTIONS, MOST_TRANSACTIONS], most=2 * MOST_TRANSACTIONS
    )
    raw_tables = _discovered_tables(session) if tables is None else _named_tables(session, tables)
    names = catalog.names_of(table.name for table in raw_tables)
    return ServerFacts(
        version=version,
        version_number=number,
        database=database,
        wal_level=wal_level,
        in_recovery=in_recovery,
        max_slots=slots,
        max_senders=senders,
        senders_used=used,
        max_slot_wal_keep_megabytes=kept,
        role=catalog.role_facts(session.row(queries.ROLE)),
        slots=tuple(map(catalog.slot_facts, session.rows(queries.SLOTS, [MOST_SLOTS], most=MOST_SLOTS))),
        publications=catalog.publication_facts(
            session.rows(queries.PUBLICATIONS, [MOST_PUBLICATIONS], most=MOST_PUBLICATIONS),
            session.rows(queries.PUBLISHED_TABLES, [*names, MOST_PUBLISHED], most=MOST_PUBLISHED),
        ),
        tables=raw_tables,
        hosting=catalog.hosting(signs),
        session_limits=dict(zip(limits, milliseconds, strict=True)),
        open_transactions=tuple(map(catalog.open_transaction, transactions)),
    )


def _discovered(session: "Session", bound: int) -> "list[Row]":
    """One row more than the bound, when there is one. Exact sizes, unless another session has a lock on a table."""
    try:
        with session.attempt():
            return session.rows(queries.DISCOVERED_TABLES, [bound + 1], most=bound + 1)
    except DatabaseFailure as failure:
        if failure.failure_code is not FailureCode.TIMEOUT or session.deadline.passed:
            raise
    return session.rows(queries.DISCOVERED_TABLES_WITHOUT_LOCKS, [bound + 1], most=bound + 1)


def _with_columns(session: "Session", rows: "Sequence[Row]") -> tuple[list[RawTable], bool]:
    """The tables whose columns were all read, and whether some were not."""
    found = _columns(session, [row[0] for row in rows])
    complete = len(found) <= MOST_COLUMNS
    # Columns come in the order of the tables: only the table that was being read is incomplete, and those after it.
    cut_at = next((index for index, row in enumerate(rows) if row[0] == found[-1][0]), 0) if not complete else len(rows)
    columns = catalog.columns_by_table(found)
    tables = {row[0]: catalog.raw_table(row, columns.get(row[0], ())) for row in rows[:cut_at]}
    for row in session.rows(queries.DESCENDANTS, [list(tables), len(tables)], most=len(tables)) if tables else ():
        tables[row[0]] = catalog.with_descendants(tables[row[0]], row)
    return list(tables.values()), not complete


def _columns(session: "Session", oids: list[int]) -> "list[Row]":
    parameters = {"tables": oids, "most": MOST_COLUMNS + 1}
    return session.rows(queries.COLUMNS, parameters, most=MOST_COLUMNS + 1) if oids else []


def _discovered_tables(session: "Session") -> tuple[RawTable, ...]:
    """The first tables that a discovery finds, as many as can be read at once."""
    rows = session.rows(queries.DISCOVERED_TABLES_WITHOUT_SIZES, [DISCOVERY_BOUND], most=DISCOVERY_BOUND)
    return tuple(_with_columns(session, rows)[0])


def _named_tables(session: "Session", tables: Sequence[TableName]) -> tuple[RawTable, ...]:
    if not tables:
        return ()
    rows = session.rows(queries.NAMED_TABLES, [*catalog.names_of(tables), len(tables)], most=len(tables))
    found, cut = _with_columns(session, rows)
    if cut:
        raise DatabaseFailure(FailureCode.RESULT_TOO_LARGE)
    return tuple(found)


def _target_tables(session: "Session", targets: Sequence[TableName]) -> tuple[TargetTable, ...]:
    if not targets:
        return ()
    most = len(targets)
    rows = session.rows(queries.TARGET_TABLES, [*catalog.names_of(targets), most], most=most)
    oids = [row[0] for row in rows]
    columns = catalog.columns_by_table(_columns(session, oids))
    keys: dict[int, list[list[str]]] = defaultdict(list)
    for oid, key in session.rows(queries.UNIQUE_KEYS, [oids, most * 20], most=most * 20):
        keys[oid].append(key)
    effects: dict[int, list[Row]] = defaultdict(list)
    parameters = {"tables": oids, "most": MOST_SIDE_EFFECTS}
    for effect in session.rows(target_queries.SIDE_EFFECTS, parameters, most=MOST_SIDE_EFFECTS):
        effects[effect[0]].append(effect)
    return tuple(catalog.target_table(row, columns.get(row[0], ()), keys[row[0]], effects[row[0]]) for row in rows)


def _identity(session: "Session") -> str | None:
    """What the server is under each of its names; None when the role may not read it."""
    if not session.row(target_queries.MAY_READ_IDENTITY)[0]:
        return None
    identifier, address, port = session.row(target_queries.IDENTITY)
    return f"postgresql:{identifier}@{address}:{port}"
