"""Reads a MySQL server: version, variables, tables and privileges. Nothing of it is ever changed."""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.clients.databases.checks import failure_result, success_result
from chalicelib.clients.databases.contract import TableListing
from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.clients.databases.mysql import (
    catalog,
    lock_waits,
    queries,
    rights,
    running_captures,
    server,
    target_facts,
    target_tables,
)
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.diagnosis.cause import CatalogName
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.lock_waits import LockWait
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.providers.mysql.binlog import BinlogPosition
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.running_capture import MySQLCaptureFacts
from chalicelib.domain.providers.mysql.target_facts import MySQLTargetFacts
from chalicelib.domain.release import ReleaseState, SourceRelease
from chalicelib.domain.source import DISCOVERY_BOUND
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import MySQLSession


@dataclass(frozen=True, kw_only=True)
class MySQL:
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
                version = f"{session.version} ({session.version_comment})"[:100]
        except DatabaseFailure as failure:
            return failure_result(failure)
        return success_result(version, round((time.monotonic() - start) * 1000))

    def look(self, deadline: Deadline) -> TestResult:
        """See `TargetClient.look`."""
        return self.test(deadline)

    def server_facts(self, tables: Sequence[TableName] | None, deadline: Deadline) -> MySQLServerFacts:
        # Readiness names the rights that are missing.
        with self._session(deadline, without_right=True) as session:
            return server.read(session, tables, DISCOVERY_BOUND, self.endpoint.address)

    def list_tables(self, deadline: Deadline, bound: int = DISCOVERY_BOUND) -> TableListing:
        """Tables of all databases that the account sees, without those of the server itself and without views. Where
        there are more than the bound, those of the database of the address come first.
        """
        with self._session(deadline) as session:
            grants = rights.read_grants(session, "")
            tables, truncated = catalog.discovered(session, self.endpoint.address.database_name, bound, grants)
            identity = server.global_variables(session).get("server_uuid")
            return TableListing(tuple(tables), truncated=truncated, server_identity=identity)

    def capture_facts(self, plans: Sequence[MySQLCapturePlan], deadline: Deadline) -> MySQLCaptureFacts:
        with self._session(deadline, without_right=True) as session:
            return running_captures.read(session, plans)

    def release(self, release: SourceRelease, deadline: Deadline) -> ReleaseState:
        """A server keeps its binary log for nobody: there is never anything to release."""
        return ReleaseState.RELEASED

    def continue_capture(self, plan: MySQLCapturePlan, deadline: Deadline) -> BinlogPosition | None:
        with self._session(deadline, without_right=True) as session:
            return running_captures.end_of_log(session)

    def target_facts(self, targets: Sequence[TableName], deadline: Deadline) -> MySQLTargetFacts:
        with self._session(deadline) as session:
            return target_facts.read(session, targets)

    def target_tables(self, targets: Sequence[TableName], deadline: Deadline) -> Sequence[WatchedTable]:
        with self._session(deadline) as session:
            return target_tables.read(session, targets)

    def lock_waits(self, targets: Sequence[TableName], at: datetime, deadline: Deadline) -> Sequence[LockWait]:
        secrets = [secret.reveal() for secret in self.endpoint.secrets.values()]
        with self._session(deadline) as session:
            return lock_waits.read(session, targets, at, self.endpoint.address.username, secrets)

    def count_rows(self, bounds: Mapping[TableName, int], deadline: Deadline) -> Mapping[TableName, int]:
        with self._session(deadline) as session:
            return target_tables.count(session, bounds)

    def catalog_names(
        self, tables: Sequence[TableName], names: Collection[str], deadline: Deadline
    ) -> Sequence[CatalogName]:
        with self._session(deadline) as session:
            return target_tables.catalog_names(session, tables, names)

    def _session(self, deadline: Deadline, *, without_right: bool = False) -> "AbstractContextManager[MySQLSession]":
        # Only functions that read a database pay for the import of the driver.
        from chalicelib.clients.databases.mysql import session

        return session.open_session(
            self.endpoint, self.check_host, self.trusted_ca_file, deadline, without_right=without_right
        )
