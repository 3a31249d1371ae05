"""What lists of registered things are searched by (wire contract, sections 3 and 8)."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.api.contract.common import Name, Uuid
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.views import ViewQuery
from chalicelib.domain.labels import MAX_LABELS, LabelSelector
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.search import ConnectorSearch, Search

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
    """Which pipelines or deliveries."""

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

    def to_search(self) -> ConnectorSearch:
        ends = self.model_dump(exclude={"q", "label", "view", "limit", "cursor"})
        return ConnectorSearch(name_part=self.q, labels=self.selectors(), **ends)
