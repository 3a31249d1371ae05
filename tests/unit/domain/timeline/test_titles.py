"""Every event has a title that is a sentence of ours."""

import pytest

from chalicelib.domain.alerts.kinds import TITLES
from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.connectors.transitions import Transition
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.schema.change import Alteration
from chalicelib.domain.timeline.event import AlertChange, AlertMove, IncidentChange, TableChange
from chalicelib.domain.timeline.titles import operation_title, title_of
from tests.support.entities import NOW


def test_every_operation_is_asked_for_and_may_be_refused() -> None:
    asked = {operation_title(kind, Outcome.REQUESTED) for kind in OperationKind}
    refused = {operation_title(kind, Outcome.DENIED) for kind in OperationKind}
    assert len(asked) == len(refused) == len(OperationKind)
    assert all(title.endswith(" was asked for") for title in asked)
    assert all(title.endswith(" was refused") for title in refused)


@pytest.mark.parametrize("code", ConditionCode)
def test_every_incident_has_a_title_for_each_status(code: ConditionCode) -> None:
    changes = [(None, IncidentStatus.OPEN), *((IncidentStatus.RESOLVED, status) for status in IncidentStatus)]
    titles = [title_of(IncidentChange(incident_id="i", code=code, before=a, after=b)) for a, b in changes]
    assert [title.partition(":")[0] for title in titles] == [
        "Incident opened", "Incident opened again", "Incident acknowledged", "Incident resolved",
    ]  # fmt: skip


def test_every_move_of_an_alert_has_a_title_of_its_own() -> None:
    for kind in TITLES:
        titles = {title_of(AlertChange(alert_id="a", kind=kind, move=move)) for move in AlertMove}
        assert len(titles) == len(AlertMove)
        assert all(title.endswith(f": {TITLES[kind]}") for title in titles)


@pytest.mark.parametrize(
    ("before", "title"),
    [(ObservedState.PAUSED, "Observed RUNNING, was PAUSED"), (None, "Observed RUNNING for the first time")],
)
def test_an_observed_state_is_shown_with_the_one_before(before: ObservedState | None, title: str) -> None:
    assert title_of(Transition(connector="c", before=before, after=ObservedState.RUNNING, at=NOW)) == title


def test_a_schema_names_the_first_changes_and_counts_the_others() -> None:
    change = TableChange(
        schema_name="shop", table_name="orders", version=7, alterations=tuple(Alteration)[3:8], count=12
    )
    assert title_of(change) == (
        "Schema of shop.orders has version 7 now: nullable column added, column with default added, required column "
        "added, 9 more"
    )


def test_the_name_of_a_table_has_a_bound() -> None:
    change = TableChange(schema_name="s" * 300, table_name="t", version=2, alterations=(), count=0)
    assert len(title_of(change)) < 200
