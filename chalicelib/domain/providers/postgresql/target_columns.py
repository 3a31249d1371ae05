"""What a PostgreSQL target makes of the columns that arrive, by the kind of database that they were captured from."""

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.jdbc.target_types import TargetTypes, TypeRules
from chalicelib.domain.providers.postgresql import delivery_types
from chalicelib.domain.providers.postgresql.types import type_of

TYPES = TargetTypes(
    {
        DatabaseProvider.POSTGRESQL: TypeRules(
            stop_of=lambda column: delivery_types.stop_of(type_of(column)),
            created_warning=lambda column: delivery_types.auto_created_type_warning(column.type),
            fits=delivery_types.fits,
            narrowing=delivery_types.narrowing,
            equal_type=lambda column: delivery_types.equal_type(type_of(column)),
        )
    }
)
