"""How requests ask for deliveries to tables, and which tables such a delivery claims."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.checks.options import require_known_options
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import ClaimedTarget, MappingInput, SetupDocument, TableMapping, TableWriting
from chalicelib.domain.object_store import SinkPlugin
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Invalid, fault

_OPTIONS = frozenset(field.name for field in fields(TableWriting)) - {"mappings"}
_TABLE = "table_name: the table of the target that the rows of the topic are written to."


def table_writing(mappings: Sequence[MappingInput], options: Mapping[str, Any], *, default_schema: str) -> TableWriting:
    """Without `delete_enabled`, deletes are written where rows are written by key. Raises Invalid."""
    require_known_options(options, _OPTIONS)
    writing = TableWriting(mappings=table_mappings(mappings, default_schema=default_schema), **options)
    return writing if "delete_enabled" in options else replace(writing, delete_enabled=writing.upserts)


def table_mappings(mappings: Sequence[MappingInput], *, default_schema: str) -> tuple[TableMapping, ...]:
    """Raises Invalid for a mapping without a table, as for a missing field of a body."""
    complete = tuple(
        TableMapping(topic=mapping.topic, schema_name=mapping.schema_name or default_schema, table_name=table)
        for mapping in mappings
        if (table := mapping.table_name) is not None
    )
    if len(complete) < len(mappings):
        missing = [at for at, mapping in enumerate(mappings) if mapping.table_name is None]
        raise Invalid.of(
            [
                fault("body", "mappings", at, "table_name", type_="missing", message=f"Give mappings[{at}].{_TABLE}")
                for at in missing
            ]
        )
    return complete


def completed(
    writing: TableWriting, _pipeline: Pipeline, _installed: Callable[[], Collection[SinkPlugin]]
) -> TableWriting:
    """The same: one plug-in writes to databases."""
    return writing


def no_warnings(_writing: TableWriting, _address: DatabaseAddress) -> Iterable[ConfigWarning]:
    """What `check_mappings` says is all."""
    return ()


def no_documents(_writing: TableWriting, _address: DatabaseAddress) -> Sequence[SetupDocument]:
    """A target's statements set up its tables."""
    return ()


def claimed_tables(
    writing: TableWriting, address: DatabaseAddress, server_identity: str | None
) -> Iterator[ClaimedTarget]:
    """Each table by the address of its database, and by the identity of its server where that is known.

    For databases in which a schema lies inside a database.
    """
    # Both: two addresses of one server meet, and so do deliveries of a time when the identity was not known yet.
    by_server = [(server_identity, address.database_name)] if server_identity else []
    for place in (address.identity, *by_server):
        for target in writing.targets:
            yield ClaimedTarget((*place, target.schema_name), target.table_name)
