"""Looks at deployed captures where they happen: in the source, and in the offset that Connect has stored."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.access import RequestContext
from chalicelib.domain.monitoring.source_state import LASTING, CaptureState, SourceState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.errors import Conflict, HeadgateError, Invalid, TimedOut, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.stores.monitoring.source_states import SourceStates

LOOK_SECONDS = 8.0
"""One look at a source, whatever the number of its captures."""

_BEGIN_SECONDS = 4.0
"""Of the look before a deploy, which is followed by all of its checks."""

_OFFSET_SECONDS = 4.0

ACCEPT_DATA_LOSS = "accept_data_loss"
"""The parameter with which a person continues a capture that has lost changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureChecks:
    store: SourceStates
    clients: ClientFactory
    clock: Clock

    def read(self, source: Source, pipelines: Sequence[Pipeline], deadline: Deadline) -> Any:
        """Facts for the source's provider. Raises Unavailable, TimedOut, Invalid."""
        provider = capture_provider(source.address.provider)
        plans = [provider.capture_plan(pipeline) for pipeline in pipelines]
        bounded = deadline.within(LOOK_SECONDS)
        return self.clients.database(source.endpoint).capture_facts(plans, bounded)

    def beginning(self, context: RequestContext, pipeline: Pipeline, source: Source) -> Pipeline:
        """The draft with what its connector will make in the source; unchanged when that cannot be read."""
        try:
            facts = self.read(source, [pipeline], context.deadline.within(_BEGIN_SECONDS))
        except (Unavailable, TimedOut, Invalid):
            return pipeline
        return capture_provider(pipeline.provider).beginning(facts, pipeline)

    def require_continuous(self, context: RequestContext, pipeline: Pipeline, source: Source, connect: Connect) -> None:
        """Raise Conflict when changes were lost since the capture ran last.

        Nothing is raised while the source or Connect cannot be read: then nothing is known, and the connector itself
        waits for its database.
        """
        provider, before = capture_provider(pipeline.provider), self._known(pipeline)
        try:
            facts = self.read(source, [pipeline], context.deadline)
            capture = provider.capture_state(facts, pipeline, before, self.clock())
            loss = next((finding for finding in capture.findings if finding.code in LASTING), None)
            if loss is None and provider.needs_offset(before, capture):
                offset = self.stored_offset(connect, pipeline, context.deadline)
                loss = provider.lost_changes(facts, pipeline, offset)
        except (Unavailable, TimedOut, Invalid):
            return
        if loss:
            raise Conflict(
                f"{loss.message} To continue without the lost changes, repeat this with {ACCEPT_DATA_LOSS}=true."
            )

    def known_server(self, pipeline: Pipeline) -> str | None:
        """What identifies the server that a deployed pipeline was captured from; None when no look found it."""
        capture = self._known(pipeline)
        return capture.server if capture else None

    def accept(self, pipeline: Pipeline) -> None:
        """Forget what was seen of a capture, so that it continues from what is there now."""
        state = self.store.find(pipeline.source_id)
        if state and pipeline.id in state.captures:
            with suppress(WriteConflict):  # a look was faster; it finds what is still wrong again
                self.store.write(state, state.accepting(pipeline.id), state.captures)

    def look(
        self,
        source: Source,
        running: Sequence[tuple[Pipeline, Connect]],
        before: SourceState | None,
        deadline: Deadline,
    ) -> dict[str, CaptureState]:
        """Each capture as it is now, by its pipeline's id. Raises Unavailable, TimedOut, Invalid."""
        facts = self.read(source, [pipeline for pipeline, _ in running], deadline)
        provider, known = capture_provider(source.address.provider), before.captures if before else {}
        captures, now = {}, self.clock()
        for pipeline, connect in running:
            earlier = known.get(pipeline.id)
            capture = provider.capture_state(facts, pipeline, earlier, now)
            # Each offset is a call to Connect, so it is asked for only where it can decide.
            if provider.needs_offset(earlier, capture):
                with suppress(HeadgateError):
                    offset = self.stored_offset(connect, pipeline, deadline)
                    capture = provider.with_offset(facts, pipeline, capture, offset)
            captures[pipeline.id] = capture
        return captures

    def stored_offset(self, connect: Connect, pipeline: Pipeline, deadline: Deadline) -> Mapping[str, Any] | None:
        """The offset of the pipeline's connector. Raises Unavailable."""
        return connect.find_offset(pipeline.connector_name, deadline.within(_OFFSET_SECONDS))

    def _known(self, pipeline: Pipeline) -> CaptureState | None:
        state = self.store.find(pipeline.source_id)
        return state.captures.get(pipeline.id) if state else None
