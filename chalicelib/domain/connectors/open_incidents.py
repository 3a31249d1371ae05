"""What a tick that has lost its memory learns from the open incidents: all that was wrong.

Otherwise what no single look can see, such as a standstill, would seem to be over, and begin again some looks later.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.conditions import LOOP_AFTER
from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.recreations import VANISHED_TIMES, Recreations
from chalicelib.domain.connectors.restarts import Restarts
from chalicelib.domain.connectors.reverts import REVERTED_TIMES
from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Variant
from chalicelib.domain.monitoring.source_conditions import CODES
from chalicelib.domain.monitoring.source_state import Finding, FindingCode

_PROGRESS = {CODES[code]: code for code in (FindingCode.STALLED, FindingCode.LAG_HIGH, FindingCode.CHANGES_LOST)}


def with_open_incidents(
    view: ClusterView, conditions: Iterable[Condition], desired: Mapping[str, DesiredConnector], now: datetime
) -> ClusterView:
    """The view that remembers also what the `conditions` of the open incidents of its ticks say about connectors."""
    by_connector: dict[str, tuple[Condition, ...]] = {}
    for condition in conditions:
        if (name := condition.connector_name) is not None:
            by_connector[name] = (*by_connector.get(name, ()), condition)
    connectors = {name: memory_of(incidents, desired.get(name), now) for name, incidents in by_connector.items()}
    return replace(view, memory=replace(view.memory, connectors=connectors))


def memory_of(conditions: tuple[Condition, ...], desired: DesiredConnector | None, now: datetime) -> ConnectorMemory:
    """What the conditions of open incidents say about a connector. Of one that is not desired they say only what was
    wrong.

    They do not say how often something was tried, and when: it counts as tried as often as the incident needs, now.
    """
    if desired is None:
        return ConnectorMemory(conditions=conditions)
    codes = {condition.code for condition in conditions}
    variants = {condition.variant for condition in conditions}
    drifted = ConditionCode.CONFIG_DRIFT in codes and desired.config_hash is not None
    contested = Recreations(count=VANISHED_TIMES, tried_at=now, contested=True)
    return ConnectorMemory(
        conditions=conditions,
        findings=tuple(_findings(conditions)),
        drift=Drift(expected=str(desired.config_hash), confirmed=True) if drifted else None,
        restarts=Restarts(count=LOOP_AFTER, tried_at=now) if Variant.RESTARTS in variants else None,
        recreations=contested if Variant.RECREATIONS in variants else None,
        conflict=ConditionCode.CONNECTOR_NAME_CONFLICT in codes,
        reverted_at=(now,) * REVERTED_TIMES if Variant.PAUSED_REPEATEDLY in variants else (),
    )


def _findings(conditions: Iterable[Condition]) -> Iterator[Finding]:
    for condition in conditions:
        if condition.code in _PROGRESS:
            code, severity = _PROGRESS[condition.code], condition.severity
            yield Finding(code=code, message=condition.message, severity=severity, hint=condition.advice)
