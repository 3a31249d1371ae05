"""PostgreSQL as a target of deliveries."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery, MappingInput, TableWriting
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.providers.jdbc import checks
from chalicelib.domain.providers.jdbc.writing import (
    claimed_tables,
    completed,
    no_documents,
    no_warnings,
    table_mappings,
    table_writing,
)
from chalicelib.domain.providers.postgresql import target, target_ddl
from chalicelib.domain.providers.postgresql.defaults import DEFAULT_SCHEMA
from chalicelib.domain.providers.postgresql.facts import PostgreSQLTargetFacts
from chalicelib.domain.providers.postgresql.sink_config import NAME_RULES, build_sink_config
from chalicelib.domain.providers.postgresql.target_columns import TYPES


class PostgreSQLTarget:
    """A DatabaseTarget."""

    dialect = "PostgreSQL"
    judge_target = staticmethod(target.judge_target)
    completed = staticmethod(completed)
    destination_warnings = staticmethod(no_warnings)
    setup_documents = staticmethod(no_documents)
    target_statements = staticmethod(target_ddl.target_statements)
    claimed_targets = staticmethod(claimed_tables)
    check_mappings = staticmethod(
        partial(checks.check_mappings, name_rules=NAME_RULES, unsupported_columns=TYPES.unsupported_columns)
    )

    def writing(
        self, mappings: Sequence[MappingInput], options: Mapping[str, Any], _address: DatabaseAddress
    ) -> TableWriting:
        return table_writing(mappings, options, default_schema=DEFAULT_SCHEMA)

    def remapped(
        self, writing: TableWriting, mappings: Sequence[MappingInput], _address: DatabaseAddress
    ) -> TableWriting:
        return replace(writing, mappings=table_mappings(mappings, default_schema=DEFAULT_SCHEMA))

    def server_identity(self, facts: PostgreSQLTargetFacts) -> str | None:
        return facts.server_identity

    def build_config(
        self, delivery: Delivery, writing: TableWriting, endpoint: Endpoint[DatabaseAddress]
    ) -> BuiltConfig:
        return BuiltConfig(build_sink_config(delivery, writing, endpoint), (endpoint.credentials,))
