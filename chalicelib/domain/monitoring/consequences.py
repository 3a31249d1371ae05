"""What a condition costs: how bad it is depends on whether something that should run depends on it.

Wire contract, section 5: ERROR when changes are lost or do not arrive now; WARNING when they soon will not, or nothing
deployed depends on it. Alerts are critical for ERROR only, so nobody is woken by what costs nothing yet.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from chalicelib.domain.monitoring.condition import LOG_ERRORS, Condition, ConditionCode, Severity
from chalicelib.domain.observation import DesiredState
from chalicelib.kit.pages import Page

LOSES_CHANGES = LOG_ERRORS | {
    ConditionCode.CHANGES_LOST,
    ConditionCode.CAPTURE_NARROWED,
    ConditionCode.LOG_AT_RISK,
    ConditionCode.TARGET_REPLACED,
}
"""These cost changes also while the connector is paused: its log is removed, or does not have them."""

_JUDGED = ("source", "destination", "connect_cluster", "pipeline", "delivery")
"""Types of resources on which deployed ones depend, or that are deployed themselves."""


MAX_NAMED = 5
"""Of the pipelines or deliveries that a message names."""

_CONCERNED: Mapping[str, str] = {"source": "pipeline", "destination": "delivery"}
"""What depends on a source or a destination."""


def by_consequence(condition: Condition, idle: Collection[str]) -> Condition:
    """The condition with the severity that it costs. `idle` are the ids of resources that nothing depends on which
    should run now: nothing is deployed there, or it is paused.
    """
    is_error = condition.severity is Severity.ERROR and condition.resource_type in _JUDGED
    if not is_error or condition.resource_id not in idle or condition.code in LOSES_CHANGES:
        return condition
    return replace(condition, severity=Severity.WARNING)


def idle_of(system_id: str, page: Page[Any]) -> frozenset[str]:
    """The ids that are idle at a source or a destination with these pipelines or deliveries: those that should not run,
    and its own when none should. What cannot be read may have to run.
    """
    idle = {resource.id for resource in page.items if resource.desired_state is not DesiredState.RUNNING}
    needed = len(idle) < len(page.items) or page.unreadable
    return frozenset(idle if needed else {*idle, system_id})


def with_concerned(condition: Condition, page: Page[Any]) -> Condition:
    """A condition of a source or a destination, its message with the names of those of its pipelines or deliveries that
    should run; every other condition unchanged.
    """
    names = [f'"{one.name}"' for one in page.items if one.desired_state is DesiredState.RUNNING]
    noun = _CONCERNED.get(condition.resource_type)
    if noun is None or not names:
        return condition
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return replace(condition, message=f"{condition.message} Concerned: {noun} {', '.join(names[:MAX_NAMED])}{more}.")
