"""What the last looks at the sources of pipelines have found: read in the same call as what else a request
needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.connector_row import PipelineRow
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import SourceState, observed_with, with_unread_findings
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import UnreadableRow
from chalicelib.stores.monitoring.source_states import SourceStates


@dataclass(frozen=True, slots=True)
class KnownSources:
    """States of sources, by the source's id."""

    states: Mapping[str, SourceState | UnreadableRow | None] = field(default_factory=dict)

    def explain(self, pipeline: Pipeline, now: datetime) -> Pipeline:
        """The pipeline with the log that its source keeps, its observation with what is wrong there."""
        observation, log = self.explained(pipeline, pipeline.observation, now)
        return replace(pipeline, observation=observation, log=log)

    def explained(
        self, pipeline: Pipeline | PipelineRow, observation: Observation | None, now: datetime
    ) -> tuple[Observation | None, LogState | None]:
        """The observation of the pipeline with what is wrong at its source, and the log that its source keeps. A draft
        captures nothing yet.
        """
        state = self.states.get(pipeline.source_id)
        if state is None or observation is None or pipeline.desired_state is DesiredState.DRAFT:
            return observation, None
        if isinstance(state, UnreadableRow):
            return with_unread_findings(observation, "source"), None
        return observed_with(observation, state.findings(pipeline.id, now)), state.log(pipeline.id, now)


@dataclass(frozen=True, slots=True)
class SourceKeys:
    """What is to be read about the sources of these pipelines, each once: `keys` for `batch_results`."""

    ids: Sequence[str]
    keys: Sequence[tuple[Any, str]]

    def known(self, states: Sequence[Any]) -> KnownSources:
        """What was read by `keys`, in the same order."""
        return KnownSources(dict(zip(self.ids, states, strict=True)))


def source_keys(pipelines: Iterable[Pipeline | PipelineRow], store: SourceStates) -> SourceKeys:
    ids = sorted({pipeline.source_id for pipeline in pipelines})
    return SourceKeys(ids, [(store, source_id) for source_id in ids])
