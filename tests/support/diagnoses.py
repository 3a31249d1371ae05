"""The diagnoses that the classifier can return."""

from collections.abc import Iterable

from chalicelib.domain.diagnosis import codes
from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.diagnosis.rules import RULES
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.names import ConnectorKind

TABLES = (
    *(codes.SQLSTATES, codes.VAGUE_SQLSTATES, codes.MYSQL_ERRORS, codes.STORE_CODES, codes.STORE_STATUSES),
    codes.CLASSES,
)


def reachable() -> Iterable[Diagnosis]:
    by_code = (diagnosis for table in TABLES for meanings in table.values() for diagnosis in meanings)
    return {Diagnosis.GENERAL, *by_code, *(diagnosis for diagnosis, *_ in RULES)}


def event_kind(trace: str, role: ConnectorKind) -> EventKind:
    return hint_of(classify(trace, role), role).event_type
