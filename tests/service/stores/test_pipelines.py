"""Pipelines as ticks read them: without what only their config needs."""

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from moto.core.models import botocore_stubber

from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.table import TableName
from chalicelib.errors import TimedOut
from chalicelib.kit.clock import Deadline
from chalicelib.stores.pipelines import Pipelines
from tests.service.stores.conftest import Storage
from tests.support.entities import make_pipeline, store_new

TABLES = tuple(TableName("public", f"a_table_with_quite_a_long_name_{number:03}") for number in range(500))
WATCHED = ("connect_cluster_id", "c")


def stored(pipelines: Pipelines, number: int, **changes: Any) -> Pipeline:
    pipeline = make_pipeline(id=f"p{number}", capture=Capture(topic_prefix="p", tables=TABLES), **changes)
    store_new(pipelines, pipeline)
    return pipeline


def test_what_a_tick_needs_is_read_without_the_bodies(storage: Storage) -> None:
    pipelines = Pipelines()
    for number in range(20):
        stored(pipelines, number, desired_state=DesiredState.RUNNING, config_hash="h" * 64)
    answers: list[int] = []
    answer = botocore_stubber.process_request

    def measured(request: Any) -> Any:
        response = answer(request)
        answers.append(len(response[2] if isinstance(response, tuple) else response.content))
        return response

    with patch.object(botocore_stubber, "process_request", measured):
        columns_by_id = dict(pipelines.columns_in(*WATCHED, Deadline.after(5)))
    assert len(columns_by_id) == 20
    assert set(map(tuple, (columns.items() for columns in columns_by_id.values()))) == {
        (("desired_state", "RUNNING"), ("config_hash", "h" * 64), ("snapshot_mode", "initial"))
    }
    assert sum(answers) < 20 * 400


def test_they_follow_each_change(storage: Storage) -> None:
    pipelines = Pipelines()
    before = stored(pipelines, 1)
    assert dict(pipelines.columns_in(*WATCHED, Deadline.after(5)))["p1"]["config_hash"] is None
    pipelines.save_alone(replace(before, desired_state=DesiredState.PAUSED, config_hash="h"))
    expected = {"p1": {"desired_state": "PAUSED", "config_hash": "h", "snapshot_mode": "initial"}}
    assert dict(pipelines.columns_in(*WATCHED, Deadline.after(5))) == expected


def test_nothing_is_read_after_the_deadline(storage: Storage) -> None:
    pipelines = Pipelines()
    stored(pipelines, 1)
    with pytest.raises(TimedOut):
        list(pipelines.columns_in(*WATCHED, Deadline.after(0)))
