"""What is wrong with deliveries at their destination: it cannot be reached, or rows of its tables were lost.

Lost rows do not come back by themselves: they are shown until a person resolves the incident, or the delivery is
deleted.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.domain.destination import Destination
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity, Variant
from chalicelib.domain.monitoring.lock_waits import LockWait
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.monitoring.target_tables import LossKind, TableLoss
from chalicelib.domain.names import name_list
from chalicelib.domain.table import TableName

MAX_LOSSES = 20
"""Losses of one delivery that are kept. They are named in its incident, and more of them would not help."""

SWAP_SHOWN_FOR = timedelta(days=1)

_PHRASES: Mapping[LossKind, str] = {
    LossKind.DROPPED: "was dropped",
    LossKind.RECREATED: "is another table now",
    LossKind.TRUNCATED: "was emptied or made again",
    LossKind.ROWS_DELETED: "has lost rows that the delivery did not delete",
    LossKind.PARTITIONS_REMOVED: "has lost partitions",
    LossKind.SWAPPED: "was swapped for another table with as many rows",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLosses:
    """What deliveries to a destination (`id`) have lost there, and what those wait for that stand, by the id of the
    delivery.
    """

    id: str
    losses: Mapping[str, tuple[TableLoss, ...]] = field(default_factory=dict)
    lock_waits: Mapping[str, LockWait] = field(default_factory=dict)
    revision: int = 1
    created_at: datetime

    def severity(self, delivery_id: str) -> Severity | None:
        """INFO where tables were only swapped; None: nothing was lost."""
        losses = self.losses.get(delivery_id)
        if not losses:
            return None
        return Severity.INFO if all(loss.is_harmless for loss in losses) else Severity.ERROR

    def degraded(self, delivery_ids: Iterable[str]) -> frozenset[str]:
        """Those of the deliveries whose targets lack rows."""
        return frozenset(one for one in delivery_ids if self.severity(one) is Severity.ERROR)

    def message(self, delivery_id: str) -> str:
        losses = self.losses[delivery_id]
        lost = [loss for loss in losses if not loss.is_harmless]
        begin = "Somebody else has removed rows from the target" if lost else "Nothing is missing in the target"
        return f"{begin}: {name_list(map(_phrase, lost or losses))}."


def after_looks(
    before: TargetLosses | None,
    destination_id: str,
    found: Mapping[str, Collection[TableLoss]],
    deliveries: Collection[str],
    accepted: Collection[str],
    now: datetime,
    lock_waits: Mapping[str, LockWait] | None = None,
) -> TargetLosses:
    """What is known after looks at all `deliveries` (their ids): what was known before, and what they have `found`.

    A person has resolved the incidents of the deliveries in `accepted`: their losses are forgotten. Of `lock_waits`
    only those count that the look has seen.
    """
    state = before or TargetLosses(id=destination_id, created_at=now)
    known = {one: state.losses.get(one, ()) for one in deliveries if one not in accepted}
    joined = {one: tuple(_joined(losses, found.get(one, ()), now)) for one, losses in known.items()}
    losses = {one: losses for one, losses in joined.items() if losses}
    return replace(state, losses=losses, lock_waits=lock_waits or {})


def _joined(known: Iterable[TableLoss], found: Iterable[TableLoss], now: datetime) -> list[TableLoss]:
    """One loss of each table, the first; a swap only where nothing was lost, and for a day."""
    by_table: dict[TableName, TableLoss] = {}
    for loss in (*known, *found):
        if loss.is_harmless and now - loss.at > SWAP_SHOWN_FOR:
            continue
        if loss.table not in by_table or by_table[loss.table].is_harmless:
            by_table[loss.table] = loss
    return sorted(by_table.values(), key=lambda loss: (loss.is_harmless, loss.at))[:MAX_LOSSES]


def loss_conditions(state: TargetLosses | None, delivery_ids: Iterable[str]) -> Iterator[Condition]:
    """One for each of these deliveries that has lost rows, or whose tables were swapped."""
    for delivery_id in delivery_ids if state else ():
        severity = state.severity(delivery_id) if state else None
        if state and severity:
            yield Condition(
                code=ConditionCode.TARGET_REPLACED,
                variant=Variant.SWAPPED if severity is Severity.INFO else None,
                resource_type="delivery",
                resource_id=delivery_id,
                message=state.message(delivery_id),
                severity=severity,
            )


def target_findings(
    destination: Destination | None, state: TargetLosses | None, delivery_id: str
) -> tuple[Finding, ...]:
    """What is wrong with a delivery at its destination; a swap is told by its incident alone."""
    findings = []
    error = destination.health.last_error if destination else None
    if destination and error and destination.health.status is HealthStatus.UNHEALTHY:
        message = f"Its destination cannot be reached, so nothing is delivered: {error.message}"
        findings.append(Finding(code=FindingCode.DESTINATION_UNREACHABLE, message=message, certain=True))
    if state and state.severity(delivery_id) is Severity.ERROR:
        message = state.message(delivery_id)
        findings.append(Finding(code=FindingCode.TARGET_REPLACED, message=message, certain=True))
    return tuple(findings)


def _phrase(loss: TableLoss) -> str:
    if loss.rows_after is None:
        return f"{loss.table} {_PHRASES[loss.kind]} (about {loss.rows_before} rows)"
    return f"{loss.table} {_PHRASES[loss.kind]} (about {loss.rows_before} rows before, {loss.rows_after} now)"
