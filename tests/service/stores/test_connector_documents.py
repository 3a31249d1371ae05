"""Pipelines as rows: one text of each, in the order of the list, page by page."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.connector_row import PipelineRow
from chalicelib.domain.labels import LabelSelector
from chalicelib.domain.observation import (
    ConnectorStatus,
    DesiredState,
    Observation,
    ObservedState,
    ReportedState,
    TaskStatus,
)
from chalicelib.domain.operation import OpenOperation, OperationKind, OperationStep
from chalicelib.domain.search import ConnectorSearch
from chalicelib.errors import TimedOut
from chalicelib.kit.clock import Deadline
from chalicelib.kit.unreadable import unreadable_rows
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.tables import ROW
from tests.service.stores.conftest import Storage, ids_by_pages
from tests.support.entities import NOW, make_pipeline, store_new
from tests.support.unreadable import make_body_unreadable, make_column_unreadable


def store_some(count: int) -> Pipelines:
    """The newest one has the lowest number."""
    store = Pipelines()
    for number in range(count):
        store_new(store, make_pipeline(id=f"p{number}", name=f"n{number}", created_at=NOW - timedelta(seconds=number)))
    return store


def names(found: list[Any]) -> list[str]:
    return [row.id for row in found]


def test_a_row_has_what_it_needs_of_a_pipeline_as_it_was_saved_last(storage: Storage) -> None:
    store, observed_at = Pipelines(), NOW + timedelta(milliseconds=7)
    tasks = (TaskStatus(id=0, state=ReportedState.FAILED, worker_id="10.0.0.1:8083"),)
    status = ConnectorStatus(name="c", state=ReportedState.RUNNING, worker_id="10.0.0.1:8083", tasks=tasks)
    created = make_pipeline(labels={"team": "shop"})
    store_new(store, created)
    saved = store.save_alone(
        replace(
            created,
            desired_state=DesiredState.RUNNING,
            observation=Observation(state=ObservedState.FAILED, observed_at=observed_at, connector=status),
            open_operation=OpenOperation(
                id="o", kind=OperationKind.PAUSE, step=OperationStep.REQUESTED, started_at=NOW
            ),
        )
    )
    [row] = store.rows(Deadline.after(5))
    assert row == PipelineRow.of(saved)
    assert (row.tables, row.observation.connector.tasks[0].state) == (1, ReportedState.FAILED)
    assert "10.0.0.1" not in repr(row)


@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_rows_are_listed_newest_first_on_pages_of_any_size(storage: Storage, limit: int) -> None:
    store = store_some(5)
    expected = [f"p{number}" for number in range(5)]
    assert ids_by_pages(lambda after: store.row_page(limit=limit, after=after)) == expected
    assert names(store.rows(Deadline.after(5))) == expected


def test_a_page_that_holds_the_whole_list_does_not_go_on(storage: Storage) -> None:
    assert store_some(3).row_page(limit=3, after=None).next_key is None


def test_a_row_that_cannot_be_read_is_left_out_and_named(storage: Storage) -> None:
    store = store_some(3)
    make_column_unreadable(store, "p1", ROW)
    with unreadable_rows() as found:
        assert names(store.rows(Deadline.after(5))) == ["p0", "p2"]
    assert [one.kind for one in found] == ["pipeline"]
    assert ids_by_pages(lambda after: store.row_page(limit=1, after=after)) == ["p0", "p2"]


def test_the_body_is_not_needed_for_a_row(storage: Storage) -> None:
    store = store_some(1)
    make_body_unreadable(store, "p0")
    assert names(store.rows(Deadline.after(5))) == ["p0"]


def test_nothing_is_read_after_the_deadline(storage: Storage) -> None:
    store = store_some(1)
    with pytest.raises(TimedOut):
        store.rows(Deadline.after(0))


WANTED = {"name": "Größe  ONE", "labels": {"team": 'a "b"'}, "source_id": "src-1", "connect_cluster_id": "con-1"}


@pytest.mark.parametrize(
    "search",
    [
        {"name_part": "grösse one"},
        {"labels": (LabelSelector("team"),)},
        {"labels": (LabelSelector("team", 'a "b"'),)},
        {"source_id": "src-1"},
        {"connect_cluster_id": "con-1"},
        {"desired_state": DesiredState.PAUSED},
    ],
    ids=str,
)
def test_the_store_leaves_out_what_is_not_looked_for(storage: Storage, search: dict[str, Any]) -> None:
    store = store_some(3)
    store_new(store, make_pipeline(id="wanted", desired_state=DesiredState.PAUSED, created_at=NOW, **WANTED))
    looked_for = ConnectorSearch(**search)
    assert names(store.rows(Deadline.after(5), looked_for)) == ["wanted"]
    assert ids_by_pages(lambda after: store.row_page(limit=2, after=after, search=looked_for)) == ["wanted"]


def test_the_store_does_not_judge_by_what_only_another_row_names(storage: Storage) -> None:
    assert names(store_some(1).rows(Deadline.after(5), ConnectorSearch(destination_id="d"))) == ["p0"]
