"""The replication slot and the publication of a pipeline: their names, and what one capture has chosen about them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.capture_options import PostgreSQLCaptureOptions, PublicationMode
from chalicelib.domain.providers.postgresql.properties import FAILOVER_PROPERTY, PARTITION_ROOT_PROPERTY
from chalicelib.domain.release import ReleaseResult, ReleaseState, SourceRelease
from chalicelib.domain.source import Source
from chalicelib.domain.table import ColumnName, TableName

SLOT, PUBLICATION = "slot", "publication"
"""What a capture uses in its source, as `Pipeline.made_in_source` names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLCapturePlan:
    """What a capture has chosen on the source. `deployed`: its own connector may use slot and publication now.

    `made` are those of `SLOT` and `PUBLICATION` that its connector makes, or has made; `adopts`: the others may be used
    as they are.

    `server` is the system identifier of the server that it was captured from, and `timeline` the branch of its log,
    where they are known.
    `heartbeat_table` is captured and published beside `tables`, where it is not one of them. The connector never reads
    `excluded_columns`. With `failover` standbys get copies of the slot.
    """

    tables: tuple[TableName, ...]
    slot_name: str
    publication_name: str
    publication_mode: PublicationMode = PublicationMode.FILTERED
    publishes_partition_root: bool = True
    heartbeat_table: TableName | None = None
    excluded_columns: frozenset[ColumnName] = frozenset()
    failover: bool = False
    deployed: bool = False
    server: str | None = None
    timeline: int | None = None
    made: frozenset[str] = frozenset()
    adopts: bool = False

    def may_use(self, thing: str) -> bool:
        """Whether a slot or a publication that exists is its own, or may be adopted."""
        return self.deployed or thing in self.made or self.adopts

    @property
    def owns_slot(self) -> bool:
        """Whether it may be dropped: one that was adopted may not."""
        return SLOT in self.made or not self.adopts

    def leaving_publication(self) -> "PostgreSQLCapturePlan":
        """The plan for a publication that exists: one that is not its own is used as it is."""
        own = self.deployed or PUBLICATION in self.made
        return self if own or not self.adopts else replace(self, publication_mode=PublicationMode.EXISTING)

    @property
    def published_tables(self) -> tuple[TableName, ...]:
        """The captured tables, and the one that is written to at each heartbeat."""
        return tuple(dict.fromkeys((*self.tables, *((self.heartbeat_table,) if self.heartbeat_table else ()))))

    @classmethod
    def of(cls, pipeline: Pipeline, *, deployed: bool = False, server: str | None = None) -> "PostgreSQLCapturePlan":
        capture, own = pipeline.capture, PostgreSQLCaptureOptions.of(pipeline.capture)
        # PostgreSQL allows a slot [a-z0-9_] and at most 63 characters.
        id_ = pipeline.id.replace("-", "")
        decided, made = pipeline.made_in_source is not None, frozenset(pipeline.made_in_source or ())
        adopted = own.adopt_existing and decided and PUBLICATION not in made
        return cls(
            tables=capture.tables,
            slot_name=own.slot_name or f"headgate_slot_{id_}",
            publication_name=own.publication_name or f"headgate_pub_{id_}",
            publication_mode=PublicationMode.EXISTING if adopted else own.publication_mode,
            publishes_partition_root=capture.properties.get(PARTITION_ROOT_PROPERTY, "true") == "true",
            heartbeat_table=capture.options.heartbeat_table,
            excluded_columns=frozenset(capture.options.exclude_columns),
            failover=capture.properties.get(FAILOVER_PROPERTY) == "true",
            deployed=deployed,
            server=server,
            made=made,
            adopts=own.adopt_existing,
        )


def effective_options(pipeline: Pipeline) -> Mapping[str, Any]:
    """PostgreSQL's own options with the names that slot and publication really have."""
    plan = PostgreSQLCapturePlan.of(pipeline)
    names = {"publication_name": plan.publication_name, "slot_name": plan.slot_name}
    return {**asdict(PostgreSQLCaptureOptions.of(pipeline.capture)), **names}


def unique_claims(pipeline: Pipeline, source: Source) -> tuple[str, ...]:
    """Slot names are unique in a server, publication names in a database."""
    plan, (host, port, database) = PostgreSQLCapturePlan.of(pipeline), source.address.identity
    slot = f"slot/{host}:{port}/{plan.slot_name}"
    if plan.publication_mode is PublicationMode.EXISTING:
        # Pipelines may share a publication that its owner made: none of them changes it.
        return (slot,)
    return (slot, f"publication/{host}:{port}/{database}/{plan.publication_name}")


def source_release(pipeline: Pipeline) -> SourceRelease:
    """The slot: only this pipeline reads from it, and one that nobody drops fills the disk of the server."""
    plan = PostgreSQLCapturePlan.of(pipeline)
    statement = f"SELECT pg_drop_replication_slot('{plan.slot_name}');"
    return SourceRelease(kind="replication slot", name=plan.slot_name, statement=statement, is_own=SLOT in plan.made)


def kept_in_source(pipeline: Pipeline) -> list[str]:
    """The publication: others may use it, and it costs nothing."""
    return [f"the publication {PostgreSQLCapturePlan.of(pipeline).publication_name}"]


_WHY_NOT_DROPPED: Mapping[ReleaseState, str] = {
    ReleaseState.ADOPTED: "The slot was there before the pipeline, which adopted it, so it was not dropped.",
    ReleaseState.IN_USE: "Something still reads from the slot, so it was not dropped.",
    ReleaseState.NOT_OURS: "The slot of this name is not a logical slot of this database, so it was not dropped.",
    ReleaseState.UNKNOWN: "Headgate does not know whether the slot was dropped.",
}


def deletion_details(pipeline: Pipeline, result: ReleaseResult | None) -> Mapping[str, Any]:
    """The publication stays in the source when the pipeline goes, and the slot unless it was dropped."""
    kept, slot = {"publication_name": PostgreSQLCapturePlan.of(pipeline).publication_name}, source_release(pipeline)
    if result and result.state is ReleaseState.RELEASED:
        return {"slot_dropped": True, "kept": kept}
    kept = {"slot_name": slot.name, "drop_slot_statement": slot.statement, **kept}
    if result is None:
        return {"kept": kept}
    why_not = f"{_WHY_NOT_DROPPED[result.state]} {result.error}".strip()
    return {"slot_dropped": False, "slot_message": why_not, "kept": kept}
