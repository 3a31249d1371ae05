"""Rows that this release cannot read, as something that is wrong: what follows from it depends on what the row is."""

from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity

UNREADABLE_ROWS = "unreadable_rows"
"""The origin of their incidents: the schedule looks at each of them once a minute."""

_WATCHED = frozenset(
    {
        *("connection", "source", "destination", "stream_cluster", "connect_cluster", "pipeline", "delivery"),
        *("operation", "source_state", "target_table", "target_loss"),
    }
)
"""Kinds of rows without which rows of people may stop moving and nobody would see or repair it."""


def unreadable_row(kind: str, row_id: str) -> Condition:
    """The condition of a row of this kind, such as `pipeline`."""
    return Condition(
        code=ConditionCode.UNREADABLE_ROW,
        resource_type=kind,
        resource_id=row_id,
        message=f"The stored {kind.replace('_', ' ')} {row_id} cannot be read by this release of Headgate.",
        severity=Severity.ERROR if kind in _WATCHED else Severity.WARNING,
    )
