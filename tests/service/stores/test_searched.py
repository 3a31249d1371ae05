"""Lists that a search selects from: what one request reads is bounded, and the list goes on."""

from datetime import timedelta

import pytest

from chalicelib.domain.labels import LabelSelector
from chalicelib.domain.search import Search
from chalicelib.stores import documents
from chalicelib.stores.pipelines import Pipelines
from tests.service.stores.conftest import Storage, ids_by_pages
from tests.support.entities import NOW, make_pipeline, store_new

WANTED = Search(labels=[LabelSelector("team", "shop")])


@pytest.fixture
def pipelines(storage: Storage) -> Pipelines:
    """Six of one team, and before them the one of another team."""
    store = Pipelines()
    for number in range(7):
        labels = {"team": "shop" if number == 0 else "lake"}
        created_at = NOW + timedelta(seconds=number)
        store_new(store, make_pipeline(id=f"p{number}", name=f"p{number}", labels=labels, created_at=created_at))
    return store


def test_a_search_reads_a_bounded_number_of_rows_and_goes_on_behind_them(
    pipelines: Pipelines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_FILTERED_PAGE", 2)
    monkeypatch.setattr(documents, "_FILTERED_CALLS", 2)
    first = pipelines.search(WANTED, limit=5)
    assert (first.items, first.more) == ((), True)
    found = ids_by_pages(lambda after: pipelines.search(WANTED, limit=5, after=after))
    assert found == ["p0"]


@pytest.mark.parametrize("limit", [1, 3, 6])
def test_every_page_size_finds_the_same(pipelines: Pipelines, limit: int) -> None:
    search = Search(name_part="P", labels=[LabelSelector("team", "lake")])
    found = ids_by_pages(lambda after: pipelines.search(search, limit=limit, after=after))
    assert found == [f"p{number}" for number in range(6, 0, -1)]
