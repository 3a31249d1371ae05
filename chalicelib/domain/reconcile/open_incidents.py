"""What a tick learns from the open incidents: what it has to end, and all that was wrong when its snapshot was lost.

Otherwise what no single look can see, such as a standstill, would seem to be over, and begin again some looks later.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from chalicelib.domain.monitoring.incident import CONFIG_DRIFT, Condition, Signal
from chalicelib.domain.monitoring.source_conditions import CODES
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.reconcile.conditions import LOOP_AFTER, by_name
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.recovery import RESTART_LOOP
from chalicelib.domain.reconcile.recreations import CONTESTED, VANISHED_TIMES, Recreations
from chalicelib.domain.reconcile.restarts import Restarts
from chalicelib.domain.reconcile.reverts import REVERTED, REVERTED_TIMES, Reverted
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView, DesiredConnector

Known = Mapping[str, tuple[Condition, ...]]
"""Conditions by connector."""

_PROGRESS = {CODES[one]: one for one in (FindingCode.STALLED, FindingCode.LAG_HIGH, FindingCode.CHANGES_LOST)}


def with_open_incidents(
    view: ClusterView, conditions: Iterable[Condition], desired: Mapping[str, DesiredConnector], now: datetime
) -> ClusterView:
    """The view that remembers also what the `conditions` of the open incidents of its ticks say about connectors.

    They do not say how often something was tried, and when: it counts as tried as often as the incident needs, now.
    """
    found = _by_connector([*conditions, *by_name(view.snapshot.conditions)], view.signals)
    snapshot = replace(view.snapshot, conditions=found)
    if view.torn:
        known = {name: all_of for name, all_of in found.items() if name in desired}
        snapshot = _remembering(snapshot, known, desired, now)
    return replace(view, snapshot=snapshot)


def _remembering(
    snapshot: ClusterSnapshot, known: Known, desired: Mapping[str, DesiredConnector], now: datetime
) -> ClusterSnapshot:
    return replace(
        snapshot,
        progress={name: tuple(_findings(all_of)) for name, all_of in known.items()},
        drifted=_drifted(known, desired),
        restarts=_restarts(known, now),
        recreations=_recreations(known, now),
        reverted=_reverted(known, now),
    )


def _by_connector(conditions: Iterable[Condition], unpublished: Iterable[Signal]) -> Known:
    """The conditions after these signals, which the incidents do not know yet."""
    known = {one.key: one for one in conditions}
    for signal in unpublished:
        known.pop(signal.condition.key, None)
        if signal.began:
            known[signal.condition.key] = signal.condition
    found: dict[str, tuple[Condition, ...]] = {}
    for one in known.values():
        if one.connector_name is not None:
            found[one.connector_name] = (*found.get(one.connector_name, ()), one)
    return found


def _findings(conditions: Iterable[Condition]) -> Iterator[Finding]:
    for one in conditions:
        if one.code in _PROGRESS:
            yield Finding(code=_PROGRESS[one.code], message=one.message, severity=one.severity)


def _drifted(known: Known, desired: Mapping[str, DesiredConnector]) -> dict[str, Drift]:
    expected = {name: desired[name].config_hash for name in known if _has(known[name], CONFIG_DRIFT)}
    return {name: Drift(expected=one, confirmed=True) for name, one in expected.items() if one is not None}


def _restarts(known: Known, now: datetime) -> dict[str, Restarts]:
    loops = (name for name, all_of in known.items() if _has(all_of, RESTART_LOOP) and not _says(all_of, CONTESTED))
    return {name: Restarts(count=LOOP_AFTER, tried_at=now) for name in loops}


def _recreations(known: Known, now: datetime) -> dict[str, Recreations]:
    contested = (name for name, all_of in known.items() if _says(all_of, CONTESTED))
    return {name: Recreations(count=VANISHED_TIMES, tried_at=now, contested=True) for name in contested}


def _reverted(known: Known, now: datetime) -> Reverted:
    return {name: (now,) * REVERTED_TIMES for name, all_of in known.items() if _says(all_of, REVERTED)}


def _has(conditions: Iterable[Condition], code: str) -> bool:
    return any(one.code == code for one in conditions)


def _says(conditions: Iterable[Condition], message: str) -> bool:
    return any(one.message == message for one in conditions)
