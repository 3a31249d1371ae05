"""What reaches the topic of values of each MySQL type, as it was measured: see `measured_types/`."""

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.discovery import UNKNOWN, discovery_verdict
from chalicelib.domain.providers.measured_types.model import is_measured
from chalicelib.domain.providers.measured_types.names import measured_names, shown
from chalicelib.domain.providers.mysql.facts import MySQLRawColumn
from chalicelib.domain.providers.mysql.types import discovered_column
from chalicelib.domain.table import TableIssue


def column_issue(column: MySQLRawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    names = measured_names(DatabaseProvider.MYSQL, discovered_column(column))
    if column.character_set:
        names = (*names, f"text in {column.character_set}")
    verdict = UNKNOWN
    if is_measured(DatabaseProvider.MYSQL, names):
        verdict = discovery_verdict(DatabaseProvider.MYSQL, names)
    if verdict is None:
        return None
    message = f"Column of type {shown(column.type)}: {verdict.message}"
    return TableIssue(code=verdict.code, severity=verdict.severity, column=column.name, message=message)
