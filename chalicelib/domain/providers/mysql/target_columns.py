"""What a MySQL target makes of the columns that arrive, by the kind of database that they were captured from.

Measured with Debezium 3.6, its JDBC sink and MySQL 8.0.
"""

from collections.abc import Mapping

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.jdbc.target_types import Stop, TargetTypes, TypeRules
from chalicelib.domain.providers.mysql.types import base_type, is_unsigned, modifiers
from chalicelib.domain.table import Column

_FROM_POSTGRESQL: Mapping[str, str] = {
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "real": "float",
    "double precision": "double",
    "boolean": "tinyint(1)",
    "numeric": "decimal(65,30)",
    "money": "decimal(38,2)",
    "date": "date",
    "timestamp without time zone": "datetime(6)",
    "timestamp with time zone": "datetime(6)",
    "time without time zone": "time(6)",
    "bytea": "longblob",
    "uuid": "char(36)",
    "json": "json",
    "jsonb": "json",
    "bit(1)": "tinyint(1)",
}


def _from_postgresql(column: Column) -> str:
    name = column.type
    if name.startswith("numeric(") and "-" not in name:
        return "decimal" + name.removeprefix("numeric")
    if name.startswith("character varying("):
        return "varchar" + name.removeprefix("character varying")
    return _FROM_POSTGRESQL.get(name, "longtext")


def _from_mysql(column: Column) -> str:
    base, numbers = base_type(column.type), modifiers(column.type)
    if base in ("tinyint", "smallint", "mediumint", "int", "bigint"):
        unsigned = " unsigned" if is_unsigned(column.type) else ""
        return "tinyint(1)" if (base, numbers) == ("tinyint", (1,)) else base + unsigned
    return column.type


def _changed(equal: str) -> str | None:
    return "A created table may get another type." if base_type(equal) in ("decimal", "json", "char") else None


TYPES = TargetTypes(
    {
        DatabaseProvider.POSTGRESQL: TypeRules(
            stop_of=lambda column: Stop.ALWAYS if column.type.endswith("[]") else None,
            created_warning=lambda column: _changed(_from_postgresql(column)),
            fits=lambda _source, _target: True,
            narrowing=lambda _source, _target: None,
            equal_type=_from_postgresql,
        ),
        DatabaseProvider.MYSQL: TypeRules(
            stop_of=lambda _column: None,
            created_warning=lambda column: _changed(_from_mysql(column)),
            fits=lambda _source, _target: True,
            narrowing=lambda _source, _target: None,
            equal_type=_from_mysql,
        ),
    }
)
