"""The source's server as a look at it sees it; PostgreSQL: one slot and one publication for each capture."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.running_capture import PostgreSQLCaptureFacts
from chalicelib.domain.providers.postgresql.server_log import ServerLog
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot
from chalicelib.domain.table import TableName

FIRST_POSITION = 1_000_000
BYTES_PER_SECOND = 1_000
MEGABYTE = 1024**2


class Server(Protocol):
    """A source's server."""

    def facts(self, pipelines: tuple[Pipeline, ...]) -> Any:
        """What a look at it reads about these captures."""

    def advance(
        self, pipeline: Pipeline, seconds: float, now: datetime, *, runs: bool, is_paused: bool
    ) -> Mapping[str, object] | None:
        """Let it write its log for some seconds, and a capture read that: what Connect then stores as its offset."""


@dataclass(kw_only=True)
class Slot:
    """A replication slot. `reader` is the server's process that reads from it, None when nobody does.

    `grows` is how many bytes a second are kept besides what is read, as during a long transaction, and `limit` is
    max_slot_wal_keep_size, None without.
    """

    position: int = FIRST_POSITION
    reader: str | None = "7"
    wal_status: str = "reserved"
    log_end: int = FIRST_POSITION
    retained: int = MEGABYTE
    grows: int = 0
    limit: int | None = None

    def advance(self, seconds: float, *, reads: bool) -> None:
        """Let the server write its log, and a reader confirm its position."""
        written = round((BYTES_PER_SECOND + self.grows) * seconds)
        self.log_end += written
        self.retained += written if not reads else round(self.grows * seconds)
        if reads:
            self.position += round(BYTES_PER_SECOND * seconds)

    def as_read(self, name: str) -> CaptureSlot:
        return CaptureSlot(
            name=name,
            start=self.log_end - self.retained,
            position=self.position,
            reader=self.reader,
            wal_status=self.wal_status,
            log_end=self.log_end,
            retained_bytes=self.retained,
            safe_bytes=None if self.limit is None else self.limit - self.retained,
            max_kept_bytes=self.limit,
        )


@dataclass(kw_only=True)
class SourceServer:
    """The server. `slots` and `unpublished` (tables that its publication lacks) are by the pipeline's id.

    `timeline` is the branch of its log, and `switches` where it left those before. It was `started` then and then, and
    made its last `checkpoint` there.
    """

    identity: str = "7000000000000000001"
    timeline: int = 1
    switches: dict[int, int] = field(default_factory=dict)
    started: int = 1
    checkpoint: int = FIRST_POSITION
    slots: dict[str, Slot] = field(default_factory=dict)
    unpublished: dict[str, set[TableName]] = field(default_factory=dict)

    def slot(self, pipeline: Pipeline) -> Slot:
        """The pipeline's slot. KeyError: it was dropped."""
        return self.slots[pipeline.id]

    def advance(
        self, pipeline: Pipeline, seconds: float, _now: datetime, *, runs: bool, is_paused: bool
    ) -> Mapping[str, object] | None:
        slot = self.slots.get(pipeline.id)
        if slot is None:
            return None
        reads = slot.reader is not None and runs
        slot.advance(seconds, reads=reads)
        return {"lsn_proc": slot.position} if reads else None

    @property
    def log_end(self) -> int:
        return max((slot.log_end for slot in self.slots.values()), default=FIRST_POSITION)

    def become_older(self, *, by: int, since: int, reader: str | None) -> None:
        """The server has not what was written last, `by` bytes, but has written `since` bytes since then."""
        end = self.log_end - by
        self.started, self.checkpoint = self.started + 1, end
        for key, slot in self.slots.items():
            self.slots[key] = replace(slot, position=min(slot.position, end), log_end=end + since, reader=reader)

    def facts(self, pipelines: Iterable[Pipeline]) -> PostgreSQLCaptureFacts:
        plans = {pipeline.id: PostgreSQLCapturePlan.of(pipeline, deployed=True) for pipeline in pipelines}
        return PostgreSQLCaptureFacts(
            system_identifier=self.identity,
            slots={
                plan.slot_name: self.slots[key].as_read(plan.slot_name)
                for key, plan in plans.items()
                if key in self.slots
            },
            published={
                plan.publication_name: frozenset(plan.published_tables) - self.unpublished.get(key, set())
                for key, plan in plans.items()
            },
            log=ServerLog(
                end=self.log_end,
                timeline=self.timeline,
                switches=self.switches,
                started=self.started,
                checkpoint=self.checkpoint,
            ),
        )
