"""What reaches the topic of values of each MySQL type, as it was measured: see `measured_types/`."""

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.discovery import UNKNOWN, discovery_verdict
from chalicelib.domain.providers.measured_types.model import ArrivalOutcome, is_measured, values_of
from chalicelib.domain.providers.measured_types.names import measured_names, shown
from chalicelib.domain.providers.mysql.facts import MySQLRawColumn
from chalicelib.domain.providers.mysql.types import discovered_column
from chalicelib.domain.table import TableIssue


def column_issue(column: MySQLRawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    names = (*measured_names(DatabaseProvider.MYSQL, discovered_column(column)), *_character_set(column))
    is_known = is_measured(DatabaseProvider.MYSQL, names)
    verdict = discovery_verdict(DatabaseProvider.MYSQL, names) if is_known else UNKNOWN
    if verdict is None:
        return None
    message = f"Column of type {shown(column.type)}: {verdict.message}"
    return TableIssue(code=verdict.code, severity=verdict.severity, column=column.name, message=message)


def is_read_wrong(column: MySQLRawColumn) -> bool:
    """Whether Debezium makes other letters of texts in the column's character set."""
    return any(
        values.outcomes != {ArrivalOutcome.EQUAL}
        for values in values_of(DatabaseProvider.MYSQL, _character_set(column))
    )


def _character_set(column: MySQLRawColumn) -> tuple[str, ...]:
    """The name under which texts in the column's character set are measured."""
    return (f"text in {column.character_set}",) if column.character_set else ()
