"""The source's server as a look at it sees it: one slot and one publication for each capture."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.providers.postgresql.running_capture import CaptureFacts, CaptureSlot
from chalicelib.domain.table import TableName

FIRST_POSITION = 1_000_000
BYTES_PER_SECOND = 1_000


@dataclass(kw_only=True)
class Slot:
    """A replication slot. `reader` is the server's process that reads from it, None when nobody does."""

    position: int = FIRST_POSITION
    reader: str | None = "7"
    wal_status: str = "reserved"


@dataclass(kw_only=True)
class SourceServer:
    """The server. `slots` and `unpublished` (tables that its publication lacks) are by the pipeline's id."""

    identity: str = "7000000000000000001"
    slots: dict[str, Slot] = field(default_factory=dict)
    unpublished: dict[str, set[TableName]] = field(default_factory=dict)

    def slot(self, pipeline: Pipeline) -> Slot:
        """The pipeline's slot. KeyError: it was dropped."""
        return self.slots[pipeline.id]

    def facts(self, pipelines: Iterable[Pipeline]) -> CaptureFacts:
        """What a client reads about the captures."""
        plans = {pipeline.id: CapturePlan.of(pipeline, deployed=True) for pipeline in pipelines}
        return CaptureFacts(
            system_identifier=self.identity,
            slots={
                plan.slot_name: self._shown(plan.slot_name, self.slots[key])
                for key, plan in plans.items()
                if key in self.slots
            },
            published={
                plan.publication_name: frozenset(plan.published_tables) - self.unpublished.get(key, set())
                for key, plan in plans.items()
            },
        )

    @staticmethod
    def _shown(name: str, slot: Slot) -> CaptureSlot:
        return CaptureSlot(name=name, position=slot.position, reader=slot.reader, wal_status=slot.wal_status)
