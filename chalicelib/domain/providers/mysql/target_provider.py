"""MySQL as a target of deliveries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.checks.delivery import field_problem
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import ClaimedTarget, Delivery, MappingInput, TableWriting
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.providers.jdbc import checks
from chalicelib.domain.providers.jdbc.writing import completed, no_documents, no_warnings, table_mappings, table_writing
from chalicelib.domain.providers.mysql import target, target_ddl
from chalicelib.domain.providers.mysql.sink_config import NAME_RULES, ONE_DATABASE, build_sink_config
from chalicelib.domain.providers.mysql.target_columns import TYPES
from chalicelib.domain.providers.mysql.target_facts import MySQLTargetFacts

_FOLDS = "names fold"
"""Ends the identity of a server on which names of tables do not differ by case alone."""


class MySQLTarget:
    """A DatabaseTarget. A mapping's `schema_name` is its database, which is that of the address."""

    dialect = "MySQL"
    judge_target = staticmethod(target.judge_target)
    completed = staticmethod(completed)
    destination_warnings = staticmethod(no_warnings)
    setup_documents = staticmethod(no_documents)
    target_statements = staticmethod(target_ddl.target_statements)
    check_mappings = staticmethod(
        partial(checks.check_mappings, name_rules=NAME_RULES, unsupported_columns=TYPES.unsupported_columns)
    )

    def writing(
        self, mappings: Sequence[MappingInput], options: Mapping[str, Any], address: DatabaseAddress
    ) -> TableWriting:
        _require_one_database(mappings, address)
        return table_writing(mappings, options, default_schema=address.database_name)

    def remapped(
        self, writing: TableWriting, mappings: Sequence[MappingInput], address: DatabaseAddress
    ) -> TableWriting:
        _require_one_database(mappings, address)
        return replace(writing, mappings=table_mappings(mappings, default_schema=address.database_name))

    def server_identity(self, facts: MySQLTargetFacts) -> str | None:
        """By `server_uuid`, which the server makes once, at its first start."""
        if facts.server_uuid is None:
            return None
        return f"mysql:{facts.server_uuid}:{_FOLDS}" if facts.folds_case else f"mysql:{facts.server_uuid}"

    def claimed_targets(
        self, writing: TableWriting, address: DatabaseAddress, server_identity: str | None
    ) -> Iterator[ClaimedTarget]:
        """Each table by its address, and by the identity of its server where that is known."""
        # Both: two addresses of one server meet, and so do deliveries of a time when the identity was not known yet.
        folds = server_identity is not None and server_identity.endswith(_FOLDS)
        database = address.database_name.lower() if folds else address.database_name
        by_server = [(server_identity, database)] if server_identity else []
        for place in (address.identity, *by_server):
            for mapped in writing.targets:
                yield ClaimedTarget(place, mapped.table_name.lower() if folds else mapped.table_name)

    def build_config(
        self, delivery: Delivery, writing: TableWriting, endpoint: Endpoint[DatabaseAddress]
    ) -> BuiltConfig:
        return BuiltConfig(build_sink_config(delivery, writing, endpoint), (endpoint.credentials,))


def _require_one_database(mappings: Sequence[MappingInput], address: DatabaseAddress) -> None:
    """Raise Invalid for mappings that name another database than that of the address."""
    others = [at for at, one in enumerate(mappings) if one.schema_name not in (None, address.database_name)]
    for problem in field_problem(others, "schema_name", "other_database", ONE_DATABASE):
        raise problem
