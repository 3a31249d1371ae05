"""PostgreSQL as a target of deliveries."""

from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.providers.postgresql import target, target_columns, target_ddl
from chalicelib.domain.providers.postgresql.facts import TargetFacts
from chalicelib.domain.providers.postgresql.sink_config import NAME_RULES, build_sink_config


class PostgreSQLTarget:
    """A TargetProvider."""

    name_rules = NAME_RULES
    unsupported_columns = staticmethod(target_columns.unsupported_columns)
    judge_target = staticmethod(target.judge_target)
    target_statement = staticmethod(target_ddl.target_statement)

    def server_identity(self, facts: TargetFacts) -> str | None:
        return facts.server_identity

    def build_config(self, delivery: Delivery, destination: Destination) -> BuiltConfig:
        return BuiltConfig(build_sink_config(delivery, destination), (destination.credentials,))
