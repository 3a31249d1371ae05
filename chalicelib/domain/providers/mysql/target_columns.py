"""What a MySQL target makes of the columns that arrive, by the kind of database that they were captured from."""

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.jdbc.type_rules import measured_types
from chalicelib.domain.providers.mysql import delivery_types, types_of_postgresql

TYPES = measured_types(
    DatabaseProvider.MYSQL,
    {
        DatabaseProvider.POSTGRESQL: types_of_postgresql.equal_type,
        DatabaseProvider.MYSQL: delivery_types.equal_type,
    },
    delivery_types.effect,
)
