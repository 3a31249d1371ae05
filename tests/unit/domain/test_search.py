"""Which rows are looked for. The same searches in the store: tests/integration/api/test_labels.py."""

from typing import Any

import pytest

from chalicelib.domain.connector_row import DeliveryRow, PipelineRow
from chalicelib.domain.delivery import TableMapping, TableWriting
from chalicelib.domain.labels import LabelSelector
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.search import ConnectorSearch
from tests.support.entities import make_delivery, make_pipeline

PIPELINE = PipelineRow.of(make_pipeline(name="Größe of Shop", labels={"team": "shop"}))
DELIVERY = DeliveryRow.of(
    make_delivery(TableWriting(mappings=(TableMapping(topic="t", schema_name="s", table_name="t"),)))
)


def selects(row: Any, **search: Any) -> bool:
    accepts = ConnectorSearch(**search).row_filter
    return accepts is None or accepts(row)


def test_without_filters_there_is_nothing_to_judge() -> None:
    assert ConnectorSearch().row_filter is None


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ({"name_part": "GRÖSSE  of"}, True),
        ({"name_part": "shops"}, False),
        ({"labels": [LabelSelector("team")]}, True),
        ({"labels": [LabelSelector("team", "shop")]}, True),
        ({"labels": [LabelSelector("team", "sho")]}, False),
        ({"labels": [LabelSelector("team", "shop"), LabelSelector("stage")]}, False),
        ({"desired_state": DesiredState.DRAFT}, True),
        ({"desired_state": DesiredState.RUNNING}, False),
        ({"connect_cluster_id": "c", "source_id": "s"}, True),
        ({"connect_cluster_id": "c", "source_id": "t"}, False),
    ],
)
def test_a_row_has_to_have_all_that_is_looked_for(search: dict[str, Any], expected: bool) -> None:
    assert selects(PIPELINE, **search) is expected


def test_an_end_that_only_another_row_names_is_not_judged_here() -> None:
    assert selects(PIPELINE, destination_id="d")
    assert selects(DELIVERY, source_id="s")
    assert not selects(DELIVERY, destination_id="another")
