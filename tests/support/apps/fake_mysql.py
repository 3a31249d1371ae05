"""A fake MySQL client, on the tables and the faults of a `FakeDatabase`: for tests of services, ticks and timelines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chalicelib.clients.databases.checks import failure_result, success_result
from chalicelib.clients.databases.contract import TableListing
from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLRawTable, MySQLServerFacts
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import MySQLCaptureFacts
from chalicelib.domain.source import DISCOVERY_BOUND
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from tests.support.apps.fakes import SCHEMA, FakeDatabase
from tests.support.databases.mysql_facts import COLUMN, FACTS, UUID

WEEK_SECONDS = 7 * 86_400
SETTINGS = {"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL", "binlog_row_value_options": ""}


@dataclass(frozen=True)
class FakeMySQLClient:
    """A `Database` that is captured from. `FakeDatabase.captures` and `next_captures` are MySQLCaptureFacts here."""

    database: FakeDatabase
    address: DatabaseAddress

    def test(self, deadline: Deadline) -> TestResult:
        failures = self.database.test_failures
        failure = failures.pop(0) if failures else None
        return failure_result(DatabaseFailure(failure)) if failure else success_result("8.4.3", 1)

    def look(self, deadline: Deadline) -> TestResult:
        return self.test(deadline)

    def server_facts(self, tables: Sequence[TableName] | None, deadline: Deadline) -> MySQLServerFacts:
        self.database.raise_if_unreadable()
        existing = tuple(table for table in self._tables() if tables is None or table.name in tables)
        return replace(FACTS, host=self.address.host, tables=existing)

    def list_tables(self, deadline: Deadline, bound: int = DISCOVERY_BOUND) -> TableListing:
        self.database.raise_if_unreadable()
        tables = self._tables()
        return TableListing(tables[:bound], truncated=bound < len(tables), server_identity=UUID)

    def capture_facts(self, plans: Sequence[MySQLCapturePlan], deadline: Deadline) -> MySQLCaptureFacts:
        """Each capture is read, and nothing is lost, unless a test says otherwise."""
        self.database.raise_if_unreadable()
        if self.database.next_captures:
            return self.database.next_captures.pop(0)
        return self.database.captures or mysql_captures(len(plans))

    def continue_capture(self, plan: MySQLCapturePlan, deadline: Deadline) -> BinlogPosition | None:
        self.database.raise_if_unreadable()
        return None if self.database.slot_is_taken else BinlogPosition("mysql-bin.000009", 157)

    def _tables(self) -> tuple[MySQLRawTable, ...]:
        names = (TableName(SCHEMA, name) for name in sorted(self.database.tables))
        return tuple(MySQLRawTable(name=name, raw_columns=(COLUMN,), primary_key_columns=("id",)) for name in names)


def mysql_captures(captures: int = 1, **log: object) -> MySQLCaptureFacts:
    """A server whose log is read for that many captures, with these fields of its log."""
    healthy = ServerBinlog(
        files={"mysql-bin.000001": 1_000, "mysql-bin.000002": 500},
        executed=transactions(1, 99),
        purged=GtidSet(),
        uses_gtids=True,
        retention_seconds=WEEK_SECONDS,
    )
    return MySQLCaptureFacts(
        server_uuid=UUID,
        captures=captures,
        binlog=replace(healthy, **log),  # type: ignore[arg-type]
        settings=SETTINGS,
        readers=frozenset(str(number) for number in range(captures)),
    )


def transactions(first: int, last: int, server: str = UUID) -> GtidSet:
    parsed = GtidSet.parse(f"{server}:{first}-{last}")
    assert parsed is not None
    return parsed


def mysql_offset(last: int = 90, *, file: str = "mysql-bin.000002", position: int = 400) -> dict[str, object]:
    """What Debezium stores when it has read the transactions up to `last`."""
    return {"ts_sec": 1_769_860_000, "file": file, "pos": position, "gtids": f"{UUID}:1-{last}", "server_id": 1}
