"""What the classifier can say."""

from collections.abc import Iterable

from chalicelib.domain.classify import codes, diagnoses
from chalicelib.domain.classify.rules import RULES

TABLES = (
    *(codes.SQLSTATES, codes.VAGUE_SQLSTATES, codes.MYSQL_ERRORS, codes.STORE_CODES, codes.STORE_STATUSES),
    codes.CLASSES,
)


def every() -> Iterable[diagnoses.Diagnosis]:
    """All diagnoses that the classifier can find."""
    by_code = (diagnosis for table in TABLES for diagnosis in table.values())
    return (diagnoses.GENERAL, *by_code, *(diagnosis for diagnosis, *_ in RULES))


def sentences() -> set[str]:
    """All sentences that it can give."""
    return {hint.message for diagnosis in every() for hint in diagnosis.values()}
