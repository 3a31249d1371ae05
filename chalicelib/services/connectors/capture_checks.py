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

_OFFSET_SECONDS = 4.0

ACCEPT_DATA_LOSS = "accept_data_loss"
"""The parameter with which a person continues a capture that has lost changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureChecks:
    """Reads captures, and decides whether one may continue."""

    store: SourceStates
    clients: ClientFactory
    clock: Clock

    def read(self, source: Source, pipelines: Sequence[Pipeline], deadline: Deadline) -> Any:
        """Facts for the source's provider. Raises Unavailable, TimedOut, Invalid."""
        provider = capture_provider(source.address.provider)
        plans = [provider.capture_plan(pipeline) for pipeline in pipelines]
        bounded = Deadline.after(deadline.remaining(LOOK_SECONDS))
        return self.clients.database(source.endpoint).capture_facts(plans, bounded)

    def require_continuous(self, context: RequestContext, pipeline: Pipeline, source: Source, connect: Connect) -> None:
        """Raise Conflict when changes were lost since the capture ran last.

        Nothing is raised while the source or Connect cannot be read: then nothing is known, and the connector itself
        waits for its database.
        """
        try:
            facts = self.read(source, [pipeline], context.deadline)
            offset = self.stored_offset(connect, pipeline, context.deadline)
        except (Unavailable, TimedOut, Invalid):
            return
        provider, state = capture_provider(pipeline.provider), self.store.find(source.id)
        before = state.captures.get(pipeline.id) if state else None
        findings = [
            one for one in provider.capture_state(facts, pipeline, before, self.clock()).findings if one.code in LASTING
        ]
        lost = provider.lost_changes(facts, pipeline, offset)
        if found := [*findings, *([lost] if lost else [])]:
            raise Conflict(
                f"{found[0].message} To continue without the lost changes, repeat this with {ACCEPT_DATA_LOSS}=true."
            )

    def known_server(self, pipeline: Pipeline) -> str | None:
        """What identifies the server that a deployed pipeline was captured from; None when no look found it."""
        state = self.store.find(pipeline.source_id)
        capture = state.captures.get(pipeline.id) if state else None
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
        provider, earlier = capture_provider(source.address.provider), before.captures if before else {}
        found, now = {}, self.clock()
        for pipeline, connect in running:
            seen = provider.capture_state(facts, pipeline, earlier.get(pipeline.id), now)
            found[pipeline.id] = self._with_offset(facts, pipeline, connect, earlier.get(pipeline.id), seen, deadline)
        return found

    def stored_offset(self, connect: Connect, pipeline: Pipeline, deadline: Deadline) -> Mapping[str, Any] | None:
        """The offset of the pipeline's connector. Raises Unavailable."""
        return connect.find_offset(pipeline.connector_name, Deadline.after(deadline.remaining(_OFFSET_SECONDS)))

    def _with_offset(
        self,
        facts: Any,
        pipeline: Pipeline,
        connect: Connect,
        before: CaptureState | None,
        seen: CaptureState,
        deadline: Deadline,
    ) -> CaptureState:
        """What Connect's offset adds, asked for only where it can decide."""
        provider = capture_provider(pipeline.provider)
        if not provider.needs_offset(before, seen):
            return seen
        try:
            offset = self.stored_offset(connect, pipeline, deadline)
        except HeadgateError:
            return seen
        return provider.with_offset(facts, pipeline, seen, offset)
