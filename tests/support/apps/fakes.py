"""A fake database client, and a Connect double that needs no database: for tests of services and ticks.

`tests/faults/test_fakes.py` compares `FakeDatabase` with the real PostgreSQL client. `FakeConnect` is the Connect
double without databases and secrets: every connection test passes, and every task starts.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from chalicelib.clients.databases.checks import failure_result, success_result
from chalicelib.clients.databases.contract import TableListing
from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.diagnosis.cause import CatalogName
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.lock_waits import LockWait
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.providers.postgresql.facts import (
    PostgreSQLRawColumn,
    PostgreSQLRawTable,
    PostgreSQLServerFacts,
    PostgreSQLTargetFacts,
    RoleFacts,
    SchemaFacts,
    SlotFacts,
    TypeFacts,
)
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.running_capture import PostgreSQLCaptureFacts
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot
from chalicelib.domain.release import ReleaseState, SourceRelease
from chalicelib.domain.source import DISCOVERY_BOUND
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect import ConnectDouble
from infra.local.doubles.connect_http import Routes
from infra.local.doubles.connect_model import SHOWN, Connector, Part
from infra.local.doubles.connect_plugins import Plugin, field_errors
from infra.local.doubles.connect_postgres import Running
from infra.local.doubles.connect_secrets import SecretReader
from infra.local.doubles.connect_tasks import TaskRunner
from infra.local.doubles.connect_timeline import Delays
from infra.local.doubles.connect_worker import Worker
from infra.local.doubles.kafka_state import BrokerState

TABLES = ("orders", "customers", "items")
SCHEMA = "shop"
_AMOUNT = TypeFacts(name="numeric(10,2)")
NO_DELAYS = Delays(connector=0, task=0, deleted=0, unassigned=0, silent=0, not_ready=0)


@dataclass
class FakeDatabase:
    """A PostgreSQL that is ready for capture, with three tables in `shop` and no target tables. `at` is a
    `DatabaseFactory`.
    """

    tables: Sequence[str] = TABLES
    server_identity: str | None = None
    more_columns: int = 0
    """Columns of each table besides `id` and `note`."""
    altered: dict[str, tuple[PostgreSQLRawColumn, ...]] = field(default_factory=dict)
    """The columns of a table, by its name, instead of those."""
    reachable: bool = True
    refusal: FailureCode = FailureCode.CONNECTION_REFUSED
    """How every read ends while it is not reachable."""

    slots: dict[str, bool] = field(default_factory=dict)
    """The replication slots, and whether something reads from each."""

    bug: Exception | None = None
    """Raised by every read: an exception that a client should never raise."""
    readiness_bug: Exception | None = None
    """The same of the reads that readiness is judged by: an operation has begun then."""

    test_failures: list[FailureCode | None] = field(default_factory=list)
    """How the next connection tests end; None, and those after them: they succeed."""
    slot_is_taken: bool = False
    """Whether something else than the capture reads from its slot."""

    captures: Any = None
    """What is read about deployed captures, in the type of the provider; None: all of them are well."""
    next_captures: list[Any] = field(default_factory=list)
    """What the next reads of them show, before that."""
    target_tables: dict[TableName, WatchedTable] = field(default_factory=dict)
    catalog: list[CatalogName] = field(default_factory=list)
    """The target tables that exist, and their rows as they are counted."""
    lock_waits: list[LockWait] = field(default_factory=list)
    """For which locks sessions of deliveries wait."""
    locks_read: int = 0
    """How often that was asked."""

    def at(self, endpoint: OpenedEndpoint[DatabaseAddress]) -> "FakeDatabaseClient":
        """A client of it, the same for every address."""
        return FakeDatabaseClient(self, endpoint.address)

    def state(self) -> Mapping[str, Any]:
        """Everything, for `restore`."""
        return {name: copy(value) for name, value in vars(self).items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        vars(self).update({name: copy(value) for name, value in state.items()})

    def reset(self) -> None:
        self.restore(FakeDatabase().state())

    def raise_if_unreadable(self) -> None:
        """DatabaseFailure when the database is unreachable; `bug` when there is one."""
        if self.bug:
            raise self.bug
        if not self.reachable:
            raise DatabaseFailure(self.refusal)

    def columns(self) -> tuple[PostgreSQLRawColumn, ...]:
        """The columns of every table that was not altered."""
        return (
            PostgreSQLRawColumn(name="id", ordinal=1, type="bigint", base=TypeFacts(name="bigint"), nullable=False),
            PostgreSQLRawColumn(name="note", ordinal=2, type="text", base=TypeFacts(name="text"), storable_apart=True),
            *(
                PostgreSQLRawColumn(name=f"column_{n}", ordinal=n + 3, type="numeric(10,2)", base=_AMOUNT)
                for n in range(self.more_columns)
            ),
        )

    def raw_tables(self) -> tuple[PostgreSQLRawTable, ...]:
        """The tables as a client reads them."""
        return tuple(
            PostgreSQLRawTable(
                name=TableName(SCHEMA, name),
                raw_columns=self.altered.get(name) or self.columns(),
                primary_key_columns=("id",),
                stores_apart=True,
                has_unique_id=True,
                can_write_heartbeat=True,
                owned=True,
            )
            for name in sorted(self.tables)
        )


@dataclass(frozen=True)
class FakeDatabaseClient:
    """A `Database`."""

    database: FakeDatabase
    address: DatabaseAddress

    def test(self, deadline: Deadline) -> TestResult:
        """Succeeds, unless a test says otherwise."""
        failures = self.database.test_failures
        failure = failures.pop(0) if failures else None
        return failure_result(DatabaseFailure(failure)) if failure else success_result("18.4", 1)

    def look(self, deadline: Deadline) -> TestResult:
        return self.test(deadline)

    def server_facts(self, tables: Sequence[TableName] | None, deadline: Deadline) -> PostgreSQLServerFacts:
        """Ready for a capture of those of the tables that exist."""
        self.database.raise_if_unreadable()
        if self.database.readiness_bug:
            raise self.database.readiness_bug
        return PostgreSQLServerFacts(
            version="18.4",
            version_number=180004,
            database=self.address.database_name,
            wal_level="logical",
            role=RoleFacts(name=self.address.username),
            slots=tuple(
                SlotFacts(name=name, database=self.address.database_name, active=active)
                for name, active in self.database.slots.items()
            ),
            tables=tuple(table for table in self.database.raw_tables() if tables is None or table.name in tables),
        )

    def list_tables(self, deadline: Deadline, bound: int = DISCOVERY_BOUND) -> TableListing:
        self.database.raise_if_unreadable()
        return TableListing(tables=self.database.raw_tables()[:bound], truncated=bound < len(self.database.tables))

    def capture_facts(self, plans: Sequence[PostgreSQLCapturePlan], deadline: Deadline) -> PostgreSQLCaptureFacts:
        """Active slots and complete publications, unless a test says otherwise."""
        self.database.raise_if_unreadable()
        if self.database.next_captures:
            return self.database.next_captures.pop(0)  # type: ignore[no-any-return]
        if self.database.captures:
            return self.database.captures  # type: ignore[no-any-return]
        healthy = healthy_captures([plan for plan in plans if plan.deployed])
        # A draft has nothing yet, unless there is a slot of its name.
        left = healthy_captures([plan for plan in plans if plan.slot_name in self.database.slots])
        return replace(healthy, slots={**left.slots, **healthy.slots})

    def target_facts(self, targets: Sequence[TableName], deadline: Deadline) -> PostgreSQLTargetFacts:
        """Schemas that exist, and no table in them yet."""
        self.database.raise_if_unreadable()
        schemas = sorted({target.schema_name for target in targets})
        return PostgreSQLTargetFacts(
            version_number=180004,
            role=self.address.username,
            server_identity=self.database.server_identity,
            schemas=tuple(SchemaFacts(name=name) for name in schemas),
        )

    def target_tables(self, targets: Sequence[TableName], deadline: Deadline) -> Sequence[WatchedTable]:
        self.database.raise_if_unreadable()
        return [self.database.target_tables[name] for name in targets if name in self.database.target_tables]

    def lock_waits(self, targets: Sequence[TableName], at: datetime, deadline: Deadline) -> Sequence[LockWait]:
        self.database.raise_if_unreadable()
        self.database.locks_read += 1
        return [replace(wait, seen_at=at) for wait in self.database.lock_waits if wait.table in targets]

    def count_rows(self, bounds: Mapping[TableName, int], deadline: Deadline) -> Mapping[TableName, int]:
        self.database.raise_if_unreadable()
        existing = bounds.keys() & self.database.target_tables.keys()
        return {name: min(self.database.target_tables[name].rows, bounds[name]) for name in existing}

    def catalog_names(
        self, tables: Sequence[TableName], names: Collection[str], deadline: Deadline
    ) -> Sequence[CatalogName]:
        self.database.raise_if_unreadable()
        return [one for one in self.database.catalog if one.table in tables and one.name in names]

    def release(self, release: SourceRelease, deadline: Deadline) -> ReleaseState:
        """Drops the slot unless something reads from it; waits for nothing."""
        self.database.raise_if_unreadable()
        if self.database.slots.get(release.name):
            return ReleaseState.IN_USE
        self.database.slots.pop(release.name, None)
        return ReleaseState.RELEASED

    def continue_capture(self, plan: PostgreSQLCapturePlan, deadline: Deadline) -> int | None:
        """A slot that is gone is made again, a hundred after the end of the log."""
        self.database.raise_if_unreadable()
        if self.database.slot_is_taken:
            return None
        facts = self.database.captures or healthy_captures([plan])
        slot = facts.slots.get(plan.slot_name)
        if slot is None or slot.position is None:
            (made,) = healthy_captures([plan]).slots.values()
            slot = replace(made, start=200, position=200, log_end=200, reader=None)
            self.database.captures = replace(facts, slots={**facts.slots, slot.name: slot})
        return slot.position


def healthy_captures(plans: Sequence[PostgreSQLCapturePlan]) -> PostgreSQLCaptureFacts:
    """Every slot is read from, and every publication has the tables of its capture."""
    return PostgreSQLCaptureFacts(
        system_identifier="1",
        slots={
            plan.slot_name: CaptureSlot(
                name=plan.slot_name,
                start=100,
                position=100,
                reader="7",
                wal_status="reserved",
                log_end=100,
                retained_bytes=0,
            )
            for plan in plans
        },
        published={plan.publication_name: frozenset(plan.published_tables) for plan in plans},
    )


class FakeConnect(ConnectDouble):
    """The Connect double without databases. Each change takes effect within milliseconds."""

    def __init__(self, *, broker: BrokerState) -> None:
        super().__init__(headgate_url="", service_credential="", broker=broker, delays=NO_DELAYS)
        secrets = _NoSecrets(url="", credential="")
        self._tasks = _FakeTasks(**{**_field_values(self._tasks), "secrets": secrets})
        self._worker = _FakeWorker(**{**_field_values(self._worker), "secrets": secrets, "tasks": self._tasks})
        # What `GET /` answers; tests may change it.
        self.identity: dict[str, str | None] = dict(self._routes._identity)
        self._routes = Routes(self._worker, self.identity)

    def restore(self, connector: Connector) -> None:
        """Put a connector back as it was. It has no state until it has started: `settle` waits for that."""
        connector.part = Part()
        connector.changed()
        with self._lock:
            self._worker.connectors[connector.name] = connector
            self._tasks.begin(connector)

    def connector(self, name: str) -> Connector:
        """A connector of the double. KeyError: there is none."""
        with self._lock:
            return self._worker.connectors[name]

    @contextmanager
    def showing(self, connectors: Mapping[str, Connector]) -> Iterator[None]:
        """Answer as a worker does that has not read the latest changes yet."""
        with self._lock:
            current, self._worker.connectors = self._worker.connectors, dict(connectors)
        try:
            yield
        finally:
            with self._lock:
                self._worker.connectors = current

    def listing(self, expand: Sequence[str]) -> str:
        """The body of GET /connectors now."""
        return self._worker.listing(expand)

    def settle(self) -> None:
        """Wait until every connector has reached its target state."""
        end = time.monotonic() + 40
        while not all(self.has_settled(name) for name in self.names()):
            assert time.monotonic() < end, {name: vars(self.connector(name)) for name in self.names()}
            time.sleep(0.0005)

    @property
    def is_down(self) -> bool:
        """Whether the worker was killed and has not come back: its tasks do nothing, whatever is shown of them."""
        return self._tasks.down

    def has_settled(self, name: str) -> bool:
        """Whether a connector has reached its target state; true when there is none."""
        with self._lock:
            one = self._worker.connectors.get(name)
            if one is None or one.preloaded:
                return True
            tasks = [task.state for task in one.tasks.values()]
            expected = {"STARTED": ["RUNNING"] * one.expected_tasks, "STOPPED": []}.get(
                one.target, ["PAUSED"] * len(tasks)
            )
            failed = "FAILED" in (one.part.state, *tasks) and "RESTARTING" not in (one.part.state, *tasks)
            return failed or (one.part.state == SHOWN[one.target] and tasks == expected)

    def revive(self) -> None:
        """The worker answers again, and its tasks work, if it was killed or refused connections."""
        self.accept()
        self._tasks.down = False

    def reset(self) -> None:
        """Remove all connectors, faults and recorded calls."""
        self.faults.clear()
        for name in self.names():
            self.drop(name)
        self._worker.deleted_statuses.clear()
        self._worker.kept_offsets.clear()
        self.calls.clear()


def _field_values(instance: TaskRunner | Worker) -> dict[str, object]:
    return {one.name: getattr(instance, one.name) for one in fields(instance)}


class _NoSecrets(SecretReader):
    def resolve(self, config: Mapping[str, str]) -> dict[str, str]:
        return dict(config)


class _FakeTasks(TaskRunner):
    def _started(self, connector: Connector, resolved: dict[str, str]) -> Running:
        return Running(trace=connector.planned_failures.pop(0)) if connector.planned_failures else Running()


class _FakeWorker(Worker):
    def _errors(self, plugin: Plugin, resolved: Mapping[str, str]) -> dict[str, list[str]]:
        return field_errors(plugin, resolved)
