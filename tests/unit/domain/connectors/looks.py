"""What ticks see of connectors, for the tests of what they conclude."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.connectors.cluster import ConnectSnapshot, TickInput, evaluate_tick
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.memory import ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.orphans import DELETE_AFTER, Orphan
from chalicelib.domain.connectors.step import ConnectorLook
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import ConnectorStatus, DesiredState, observe
from chalicelib.kit.ids import id_from
from tests.support.connectors import reported

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=10)
IDS = [id_from("look", str(number)) for number in range(3)]
A, B, ORPHAN = (connector_name(ConnectorKind.SOURCE, resource_id) for resource_id in IDS)


def status(name: str, state: str = "RUNNING", *tasks: str, diagnosis: Diagnosis | None = None) -> ConnectorStatus:
    """A connector with tasks in these states; by default one task, which runs."""
    return reported(name, state, *(tasks or (("RUNNING",) if state == "RUNNING" else ())), diagnosis=diagnosis)


def desired(state: DesiredState = DesiredState.RUNNING, **fields: Any) -> DesiredConnector:
    named = {"resource_type": "delivery", "resource_id": "r", "config_hash": "a", **fields}
    return DesiredConnector(desired_state=state, **named)


RUNS, PAUSED = desired(), desired(DesiredState.PAUSED)
RUNNING, STOPPED = status(A), status(A, "STOPPED")
REFUSED = status(A, "RUNNING", "FAILED", diagnosis=Diagnosis.AUTH)


def memory(
    seen: ConnectorStatus | None = RUNNING, wanted: DesiredConnector | None = RUNS, **fields: Any
) -> ConnectorMemory:
    """The memory of a connector that was last seen so."""
    observation = observe(seen, now=NOW) if seen else None
    return ConnectorMemory(desired=wanted, observation=observation, **fields)


def look(
    seen: ConnectorStatus | None = RUNNING, wanted: DesiredConnector | None = RUNS, **fields: Any
) -> ConnectorLook:
    """A look at the connector A, unless its status has another name."""
    return ConnectorLook(name=seen.name if seen else A, status=seen, desired=wanted, **fields)


UNDESIRED = look(status(ORPHAN), None)
OLD = Orphan(since=NOW - DELETE_AFTER, ours=True)
FOREIGN = ConnectorMemory(foreign_until=NOW + TICK)


def of_orphan(orphan: Orphan | None = None) -> ConnectorMemory:
    return memory(status(ORPHAN), None, orphan=orphan)


def read(*statuses: ConnectorStatus, hashes: Mapping[str, str] | None = None, **fields: Any) -> TickInput:
    """The input of a tick with these statuses and configs that have just been compared."""
    connect = ConnectSnapshot(
        statuses={seen.name: seen for seen in statuses},
        config_hashes=hashes,
        compared_at=fields.pop("compared_at", NOW),
    )
    return TickInput(connect=connect, **fields)


def settled(*statuses: ConnectorStatus, names: tuple[str, ...] = (A,)) -> ClusterView:
    """The view after two ticks that saw these connectors, when the ones with these names should run."""
    view = ClusterView(compared_at=NOW)
    for number in (2, 1):
        seen = read(*statuses, desired=dict.fromkeys(names, RUNS))
        view = evaluate_tick(view, seen, now=NOW - number * TICK).view
    return view
