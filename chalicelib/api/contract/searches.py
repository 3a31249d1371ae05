"""What lists of registered things are searched by (wire contract, sections 3 and 8)."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from chalicelib.api.contract.common import Name, Uuid
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.views import ListView, ViewQuery
from chalicelib.domain.labels import MAX_LABELS, LabelSelector
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.search import ConnectorSearch, Search, Sort

LabelText = Annotated[str, StringConstraints(pattern=r"^[a-z0-9._/-]{1,63}(:.{0,63})?$")]


class SearchQuery(ViewQuery, ListQuery):
    """Which entries of a list, by their names and labels."""

    q: Name | None = Field(default=None, description="Part of the name, in any case.")
    label: list[LabelText] = Field(
        default_factory=list,
        max_length=MAX_LABELS,
        description="`team:shop` for a label with this value, `team` for one with any value. All have to hold.",
    )

    def to_search(self) -> Search:
        return Search(name_part=self.q, labels=self.selectors())

    def selectors(self) -> tuple[LabelSelector, ...]:
        return tuple(map(LabelSelector.read, self.label))


class ConnectorSearchQuery(SearchQuery):
    """Which pipelines or deliveries, in which order."""

    view: ListView | None = Field(  # type: ignore[assignment]  # one value more than other lists
        default=None,
        description="`row`: what a table of many shows. `definition`: exactly what POST and PUT take, without secrets. "
        "Left out: all that is known.",
    )
    sort: Sort = Field(
        default=Sort.CREATED_AT,
        description="`created_at`: newest first. `name`: by name. `attention`: what needs a person first. A page of "
        "whole entries in another order than `created_at` has at most 100.",
    )
    desired_state: DesiredState | None = Field(default=None, description="The state that people want.")
    observed_state: ObservedState | None = Field(
        default=None,
        description="The state that was observed last. A page may have few entries, or none, and the list go on: ask "
        "with its `X-Next-Cursor` until there is none.",
    )
    source_id: Uuid | None = Field(default=None, description="Of the pipeline; of a delivery, that of its pipeline.")
    destination_id: Uuid | None = Field(
        default=None, description="Of the delivery; of a pipeline, that of one of its deliveries."
    )
    connect_cluster_id: Uuid | None = Field(default=None, description="Where its connector runs.")

    @property
    def wants_rows(self) -> bool:
        return self.view is ListView.ROW

    def to_arguments(self) -> dict[str, Any]:
        return {"limit": self.limit, "after": self.after, "search": self.to_search(), "sort": self.sort}

    def to_search(self) -> ConnectorSearch:
        ends = self.model_dump(exclude={"q", "label", "view", "sort", "limit", "cursor"})
        return ConnectorSearch(name_part=self.q, labels=self.selectors(), **ends)
