"""The conditions of pipelines and deliveries that changes of a schema concern."""

from collections import defaultdict
from collections.abc import Iterable

from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.schema.version import SchemaVersion

_MAX_TABLES = 5
"""Tables that the message of a condition is about: the versions say all."""


def schema_conditions(versions: Iterable[SchemaVersion]) -> list[Condition]:
    """One for each pipeline and delivery that the versions of one discovery concern."""
    sentences: dict[tuple[str, str], list[str]] = defaultdict(list)
    for version in versions:
        for one in version.affects:
            sentences[one.type, one.id].append(one.consequence)
    return [
        Condition(
            code=ConditionCode.SCHEMA_CHANGED,
            resource_type=noun,
            resource_id=resource_id,
            message=_message(texts),
            severity=Severity.WARNING,
        )
        for (noun, resource_id), texts in sentences.items()
    ]


def _message(texts: list[str]) -> str:
    more = [f"{len(texts) - _MAX_TABLES} more tables have changed."] if len(texts) > _MAX_TABLES else []
    return " ".join((*texts[:_MAX_TABLES], *more))
