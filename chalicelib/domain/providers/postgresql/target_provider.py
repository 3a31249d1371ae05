"""PostgreSQL as a target of deliveries."""

from collections.abc import Sequence

from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery, DeliveryOptions, DeliveryVerdict, NameRule
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.destination import Destination
from chalicelib.domain.providers.postgresql import target, target_columns
from chalicelib.domain.providers.postgresql.facts import TargetFacts
from chalicelib.domain.providers.postgresql.sink_config import NAME_RULES, build_sink_config
from chalicelib.domain.table import SourceTable


class PostgreSQLTarget:
    """A TargetProvider."""

    name_rules: Sequence[NameRule] = NAME_RULES

    def unsupported_columns(self, table: SourceTable) -> Sequence[str]:
        """Those whose types stop the JDBC sink whatever the target table is."""
        return target_columns.unsupported_columns(table)

    def judge_target(
        self, mappings: Sequence[tuple[TopicMapping, SourceTable]], options: DeliveryOptions, facts: TargetFacts
    ) -> DeliveryVerdict:
        """See `target`."""
        return target.judge_target(mappings, options, facts)

    def build_config(self, delivery: Delivery, destination: Destination) -> BuiltConfig:
        """Debezium's JDBC sink."""
        return BuiltConfig(build_sink_config(delivery, destination), (destination.credentials,))
