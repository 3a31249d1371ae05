"""A MySQL source as a look at it sees it: its binary log, who reads it, and what Debezium stores of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.mysql.binlog import ServerBinlog
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import MySQLCaptureFacts
from chalicelib.domain.table import TableName
from tests.support.apps.fake_mysql import SETTINGS, WEEK_SECONDS
from tests.support.databases.mysql_facts import UUID

TRANSACTION_BYTES = 1_000
FIRST_FILE = "mysql-bin.000007"


@dataclass(kw_only=True)
class MySQLServer:
    """The server. It writes one transaction a second; the first `purged` of its own are not in its log any more, and
    `earlier` are those that it has of other servers, as a GTID set.

    `readers` are the pipelines (their ids) whose connectors read its log. It `refuses_readers` while a firewall, say,
    ends their sessions.
    """

    identity: str = UUID
    files: dict[str, int] = field(default_factory=lambda: {FIRST_FILE: 100 * TRANSACTION_BYTES})
    transactions: int = 100
    purged: int = 0
    earlier: str = ""
    uses_gtids: bool = True
    retention_seconds: int = WEEK_SECONDS
    settings: Mapping[str, str] = field(default_factory=lambda: dict(SETTINGS))
    dropped: frozenset[TableName] = frozenset()
    readers: set[str] = field(default_factory=set)
    refuses_readers: bool = False
    written_at: datetime | None = None

    def advance(
        self, pipeline: Pipeline, _seconds: float, now: datetime, *, runs: bool, is_paused: bool
    ) -> Mapping[str, object] | None:
        """Let the server write until `now`, and the connector read; what that stores. A paused one keeps its session,
        and stores nothing.
        """
        self._write_until(now)
        reads_on = is_paused and pipeline.id in self.readers
        reads = (runs or reads_on) and not self.refuses_readers
        self.readers = self.readers | {pipeline.id} if reads else self.readers - {pipeline.id}
        if not (reads and runs):
            return None
        file, size = self._end
        position: dict[str, object] = {"ts_sec": int(now.timestamp()), "file": file, "pos": size, "server_id": 1}
        return position | ({"gtids": self._executed} if self.uses_gtids else {})

    def facts(self, pipelines: tuple[Pipeline, ...]) -> MySQLCaptureFacts:
        return MySQLCaptureFacts(
            server_uuid=self.identity,
            captures=len(pipelines),
            binlog=ServerBinlog(
                files=dict(self.files),
                executed=GtidSet.parse(self._executed),
                purged=GtidSet.parse(self._own(self.purged)),
                uses_gtids=self.uses_gtids,
                retention_seconds=self.retention_seconds,
            ),
            settings=self.settings,
            readers=frozenset(self.readers),
            dropped=self.dropped,
        )

    def rotate(self) -> None:
        """Begin the next file."""
        base, _, number = self._end[0].rpartition(".")
        self.files[f"{base}.{int(number) + 1:06}"] = 0

    def purge(self) -> None:
        """Begin the next file and remove all others."""
        self.rotate()
        self.purged = self.transactions
        self.files = {self._end[0]: 0}

    def become_replica(self, *, lacks: int, has_gtids: bool) -> None:
        """Another server answers: it has what was written so far, but for the last transactions, in its own files."""
        self.earlier = f"{self.identity}:1-{self.transactions - lacks}" if has_gtids else ""
        self.identity = f"ffffffff{self.identity[8:]}"
        self.transactions, self.purged = 5, 0
        self.files = {"binlog.000002": 40 * TRANSACTION_BYTES}

    def put_back(self, *, lacks: int) -> None:
        """Its volume is put back: the last transactions are gone, and the end of its log with them."""
        self.transactions -= lacks
        self.files[self._end[0]] -= lacks * TRANSACTION_BYTES

    def reset_log(self) -> None:
        """RESET MASTER: no files and no transactions."""
        self.transactions = self.purged = 0
        self.files = {FIRST_FILE.replace("7", "1"): 0}

    @property
    def _end(self) -> tuple[str, int]:
        return list(self.files.items())[-1]

    @property
    def _executed(self) -> str:
        return ",".join(filter(None, (self.earlier, self._own(self.transactions))))

    def _own(self, last: int) -> str:
        return f"{self.identity}:1-{last}" if last else ""

    def _write_until(self, now: datetime) -> None:
        written = int((now - (self.written_at or now)).total_seconds())
        self.written_at = now
        self.transactions += written
        self.files[self._end[0]] += written * TRANSACTION_BYTES
