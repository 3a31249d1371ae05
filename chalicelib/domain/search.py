"""What people look for in lists of what they registered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from chalicelib.domain.connector_row import ConnectorRow
from chalicelib.domain.labels import LabelSelector
from chalicelib.domain.names import comparable
from chalicelib.domain.observation import DesiredState, Observation, ObservedState


class Sort(StrEnum):
    """The order of a list of pipelines or deliveries: by name, newest first, or first what needs a person."""

    NAME = "name"
    CREATED_AT = "created_at"
    ATTENTION = "attention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Part of a name in any case, and labels that all have to be there. None: any name."""

    name_part: str | None = None
    labels: Sequence[LabelSelector] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorSearch(Search):
    """The same of pipelines or deliveries, with their states and what they belong to; None: any.

    The source of a delivery is its pipeline's. The destinations of a pipeline are those of its deliveries.
    """

    desired_state: DesiredState | None = None
    observed_state: ObservedState | None = None
    source_id: str | None = None
    destination_id: str | None = None
    connect_cluster_id: str | None = None

    STORED: ClassVar[Sequence[str]] = ("desired_state", "source_id", "destination_id", "connect_cluster_id")
    """The fields that are fields of a row, too. One kind of row has a source, the other one a destination."""

    def observes(self, observation: Observation | None) -> bool:
        """Whether the observed state is the one that is looked for. Without an observation it is UNKNOWN."""
        state = observation.state if observation else ObservedState.UNKNOWN
        return self.observed_state in (None, state)

    @property
    def row_filter(self) -> Callable[[ConnectorRow], bool] | None:
        """Whether a row is looked for, by what is stored in it: not by its observed state, nor by an end that only
        another row names. None where that leaves nothing out.
        """
        values = {name: value for name in self.STORED if (value := getattr(self, name)) is not None}
        part = comparable(self.name_part or "")
        if not (values or part or self.labels):
            return None
        return lambda row: (
            all(getattr(row, name, value) == value for name, value in values.items())
            and part in row.comparable_name
            and all(selector.selects(row.labels) for selector in self.labels)
        )


EVERYTHING = Search()
EVERY_CONNECTOR = ConnectorSearch()
