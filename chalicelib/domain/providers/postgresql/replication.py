"""The replication slot and the publication of a pipeline: their names, and what one capture has chosen about them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from chalicelib.domain.pipeline import CaptureOptions, Pipeline, PublicationMode
from chalicelib.domain.providers.postgresql.properties import PARTITION_ROOT_PROPERTY
from chalicelib.domain.source import Source
from chalicelib.domain.table import ColumnName, TableName


def slot_name(pipeline: Pipeline) -> str:
    return pipeline.capture.options.slot_name or _derived_name(pipeline, "slot")


def publication_name(pipeline: Pipeline) -> str:
    return pipeline.capture.options.publication_name or _derived_name(pipeline, "pub")


def _derived_name(pipeline: Pipeline, purpose: str) -> str:
    # PostgreSQL allows a slot [a-z0-9_] and at most 63 characters.
    return f"headgate_{purpose}_{pipeline.id.replace('-', '')}"


def effective_options(pipeline: Pipeline) -> CaptureOptions:
    """The pipeline's options with the names that slot and publication really have."""
    return replace(pipeline.capture.options, slot_name=slot_name(pipeline), publication_name=publication_name(pipeline))


def unique_claims(pipeline: Pipeline, source: Source) -> tuple[str, ...]:
    """Slot names are unique in a server, publication names in a database.

    Pipelines may share a publication that its owner made: none of them changes it.
    """
    host, port, database = source.address.identity
    slot = f"slot/{host}:{port}/{slot_name(pipeline)}"
    if pipeline.capture.options.publication_mode is PublicationMode.EXISTING:
        return (slot,)
    return (slot, f"publication/{host}:{port}/{database}/{publication_name(pipeline)}")


def deletion_details(pipeline: Pipeline, *, slot_dropped: bool) -> Mapping[str, str]:
    """The publication stays in the source when the pipeline goes, and the slot unless it was dropped."""
    publication, slot = {"publication_name": publication_name(pipeline)}, slot_name(pipeline)
    if slot_dropped:
        return publication
    statement = f"SELECT pg_drop_replication_slot('{slot}');"
    return {"slot_name": slot, "drop_slot_statement": statement, **publication}


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePlan:
    """What a capture has chosen on the source. `deployed`: its own connector may use slot and publication now.

    `server` is the system identifier of the server that it was captured from, where that is known.
    `heartbeat_table` is captured and published beside `tables`, where it is not one of them. The connector never reads
    `excluded_columns`.
    """

    tables: tuple[TableName, ...]
    slot_name: str
    publication_name: str
    publication_mode: PublicationMode = PublicationMode.FILTERED
    publishes_partition_root: bool = True
    heartbeat_table: TableName | None = None
    excluded_columns: frozenset[ColumnName] = frozenset()
    deployed: bool = False
    server: str | None = None

    @property
    def published_tables(self) -> tuple[TableName, ...]:
        """The captured tables, and the one that is written to at each heartbeat."""
        return tuple(dict.fromkeys((*self.tables, *((self.heartbeat_table,) if self.heartbeat_table else ()))))

    @classmethod
    def of(cls, pipeline: Pipeline, *, deployed: bool, server: str | None = None) -> "CapturePlan":
        options, properties = pipeline.capture.options, pipeline.capture.properties
        return cls(
            tables=pipeline.capture.tables,
            slot_name=slot_name(pipeline),
            publication_name=publication_name(pipeline),
            publication_mode=options.publication_mode,
            publishes_partition_root=properties.get(PARTITION_ROOT_PROPERTY, "true") == "true",
            heartbeat_table=options.heartbeat_table,
            excluded_columns=frozenset(options.exclude_columns),
            deployed=deployed,
            server=server,
        )
