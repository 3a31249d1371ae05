"""Lists as rows: sorted, searched, page by page. That they say what whole resources say: `check_rows`."""

from typing import Any

import pytest

from chalicelib.domain.observation import ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.search import ConnectorSearch, Sort
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.source_looks import GB, keep, look
from tests.support.row_lists import check_rows, rows

ATTENTION = Sort.ATTENTION


def ids(app: InProcessApp, sort: Sort = Sort.CREATED_AT, noun: str = "pipelines", **search: Any) -> list[str]:
    return [row["id"] for row in rows(app, noun, sort, search=ConnectorSearch(**search))]


def whole(app: InProcessApp, sort: Sort, **search: Any) -> list[str]:
    page = app.services.pipelines.list(limit=500, after=None, search=ConnectorSearch(**search), sort=sort)
    return [pipeline.id for pipeline in page.items]


def test_a_new_pipeline_is_in_every_list_at_once(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    for sort in Sort:
        assert ids(app, sort) == whole(app, sort) == [pipeline.id]


def test_what_needs_a_person_comes_first_and_drafts_last(app: InProcessApp) -> None:
    draft, running, paused, failed, missing = app.pipeline(), *(app.deployed_pipeline() for _ in range(4))
    app.services.pipelines.pause(app.context(), paused.id)
    app.tick()
    app.connect.fail_task(failed.connector_name, "org.apache.kafka.connect.errors.ConnectException: no")
    app.connect.drop(missing.connector_name)
    app.tick()
    expected = [one.id for one in (failed, missing, paused, running, draft)]
    assert ids(app, ATTENTION) == whole(app, ATTENTION) == expected
    check_rows(app)


def test_a_capture_whose_log_is_about_to_be_lost_comes_before_one_that_has_failed(app: InProcessApp) -> None:
    failed, losing = app.deployed_pipeline(), app.deployed_pipeline()
    app.tick()
    app.connect.fail_task(failed.connector_name, "org.apache.kafka.connect.errors.ConnectException: no")
    keep(app, losing, log_end=20 * GB, retained_bytes=11 * GB)
    look(app, losing)
    assert ids(app, ATTENTION) == [failed.id, losing.id]
    look(app, losing)
    assert ids(app, ATTENTION) == [losing.id, failed.id]
    check_rows(app)
    keep(app, losing, log_end=20 * GB, retained_bytes=GB)
    look(app, losing)
    assert ids(app, ATTENTION) == [failed.id, losing.id]


def test_a_row_tells_how_long_it_takes_until_changes_are_lost(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    for gigabytes in (1, 2, 3):
        keep(app, pipeline, reader=None, log_end=gigabytes * GB, retained_bytes=gigabytes * GB,
             safe_bytes=(10 - gigabytes) * GB, max_kept_bytes=10 * GB)  # fmt: skip
        look(app, pipeline)
    assert rows(app)[0]["seconds_to_loss"] == pytest.approx(7 * 60, abs=60)
    check_rows(app)


def test_an_observation_that_is_too_old_is_unknown_in_every_order(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.clock.advance(300)
    for sort in Sort:
        assert [row["observed_state"] for row in rows(app, sort=sort)] == ["UNKNOWN"]
    assert ids(app, ATTENTION, observed_state=ObservedState.UNKNOWN) == [pipeline.id]
    check_rows(app)


def test_an_operation_is_seen_before_the_next_tick(app: InProcessApp) -> None:
    running, paused = app.deployed_pipeline(), app.deployed_pipeline()
    app.tick()
    app.services.pipelines.pause(app.context(), paused.id)
    assert ids(app, ATTENTION, observed_state=ObservedState.PAUSED) == [paused.id]
    assert ids(app, observed_state=ObservedState.RUNNING) == [running.id]
    check_rows(app)


@pytest.mark.parametrize("sort", Sort)
def test_searches_select_the_same_rows_in_every_order(app: InProcessApp, sort: Sort) -> None:
    first, second, destination = app.deployed_pipeline(), app.deployed_pipeline(), app.destination()
    app.tick()
    delivery = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(second))
    for search, expected in (
        ({"name_part": first.name.upper()}, [first.id]),
        ({"source_id": second.source_id}, [second.id]),
        ({"destination_id": destination.id}, [second.id]),
        ({"destination_id": first.id}, []),
        ({"observed_state": ObservedState.FAILED}, []),
    ):
        assert ids(app, sort, **search) == whole(app, sort, **search) == expected
    assert ids(app, sort, "deliveries", source_id=second.source_id) == [delivery.id]
    assert ids(app, sort, "deliveries", source_id=first.source_id) == []


@pytest.mark.parametrize("sort", Sort)
@pytest.mark.parametrize("limit", [1, 2, 4])
def test_pages_of_any_size_have_every_row_once(app: InProcessApp, sort: Sort, limit: int) -> None:
    created = [app.pipeline().id for _ in range(4)]
    pipelines, search, found, after = app.services.pipelines, ConnectorSearch(), [], None
    while True:
        page = pipelines.rows(limit=limit, after=after, search=search, sort=sort)
        found += [shown.row.id for shown in page.items]
        if (after := page.next_key) is None:
            break
    assert sorted(found) == sorted(created)
    assert len(found) == 4
    assert found == ids(app, sort)


def test_a_page_goes_on_behind_what_was_deleted_meanwhile(app: InProcessApp) -> None:
    app_pipelines = app.services.pipelines
    by_name = sorted((app.pipeline() for _ in range(3)), key=lambda pipeline: pipeline.name)
    first = app_pipelines.rows(limit=1, after=None, search=ConnectorSearch(), sort=Sort.NAME)
    app_pipelines.delete(app.context(), by_name[0].id)
    rest = app_pipelines.rows(limit=5, after=first.next_key, search=ConnectorSearch(), sort=Sort.NAME)
    assert [shown.row.id for shown in rest.items] == [pipeline.id for pipeline in by_name[1:]]


def test_a_row_of_a_delivery_says_what_its_detail_says(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    delivery = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    app.tick()
    [row] = rows(app, "deliveries")
    assert (row["observed_state"], row["tables"], row["tasks"]) == ("RUNNING", 1, {"running": 1, "total": 1})
    app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    assert [one["desired_state"] for one in rows(app, "deliveries", ATTENTION)] == ["PAUSED"]
    check_rows(app)
