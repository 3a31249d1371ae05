"""What reaches the topic of values of each PostgreSQL type, as it was measured: see `measured_types/`.

Debezium leaves out a type of the system that was not measured.
"""

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.discovery import LEFT_OUT, UNKNOWN, TypeVerdict, discovery_verdict
from chalicelib.domain.providers.measured_types.model import is_measured
from chalicelib.domain.providers.measured_types.names import measured_names
from chalicelib.domain.providers.postgresql.facts import Generated, PostgreSQLRawColumn
from chalicelib.domain.providers.postgresql.types import discovered_column
from chalicelib.domain.table import TableIssue, TypeKind


def column_issue(column: PostgreSQLRawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    verdict = _verdict(column)
    if verdict is None:
        return None
    message = f"{_subject(column)}: {verdict.message}"
    return TableIssue(code=verdict.code, severity=verdict.severity, column=column.name, message=message)


def _verdict(column: PostgreSQLRawColumn) -> TypeVerdict | None:
    names = measured_names(DatabaseProvider.POSTGRESQL, discovered_column(column))
    if is_measured(DatabaseProvider.POSTGRESQL, names):
        return discovery_verdict(DatabaseProvider.POSTGRESQL, names)
    return UNKNOWN if column.base.kind is TypeKind.BASE and "." in column.base.name else LEFT_OUT


def _subject(column: PostgreSQLRawColumn) -> str:
    is_stored = column.generated is Generated.STORED
    return f"Generated column ({column.type})" if is_stored else f"Column of type {column.type}"
