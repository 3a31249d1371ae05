"""What people look for in lists of what they registered."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.labels import LabelSelector
from chalicelib.domain.observation import DesiredState, Observation, ObservedState


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

    def observes(self, observation: Observation | None) -> bool:
        """Whether the observed state is the one that is looked for. Without an observation it is UNKNOWN."""
        state = observation.state if observation else ObservedState.UNKNOWN
        return self.observed_state in (None, state)


EVERYTHING = Search()
EVERY_CONNECTOR = ConnectorSearch()
