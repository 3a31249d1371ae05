"""What a PostgreSQL target makes of the columns that arrive, by the kind of database that they were captured from."""

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.jdbc.type_rules import measured_types
from chalicelib.domain.providers.postgresql import delivery_types, types_of_mysql

TYPES = measured_types(
    DatabaseProvider.POSTGRESQL,
    {
        DatabaseProvider.POSTGRESQL: delivery_types.equal_type,
        DatabaseProvider.MYSQL: types_of_mysql.equal_type,
    },
    delivery_types.effect,
)
