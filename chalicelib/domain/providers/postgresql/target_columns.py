"""What a PostgreSQL target makes of the columns that arrive, by the kind of database that they were captured from."""

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.jdbc.target_types import TargetTypes
from chalicelib.domain.providers.jdbc.type_rules import measured_rules
from chalicelib.domain.providers.postgresql import delivery_types, types_of_mysql

TYPES = TargetTypes(
    {
        DatabaseProvider.POSTGRESQL: measured_rules(
            DatabaseProvider.POSTGRESQL,
            DatabaseProvider.POSTGRESQL,
            equal_type=delivery_types.equal_type,
            effect=delivery_types.effect,
        ),
        DatabaseProvider.MYSQL: measured_rules(
            DatabaseProvider.MYSQL,
            DatabaseProvider.POSTGRESQL,
            equal_type=types_of_mysql.equal_type,
            effect=delivery_types.effect,
        ),
    }
)
