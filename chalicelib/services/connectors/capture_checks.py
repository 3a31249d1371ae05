"""Looks at deployed captures where they happen: in the source, and in the offset that Connect has stored."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chalicelib.clients.connect.client import Connect, OutcomeUnknown
from chalicelib.domain.access import RequestContext
from chalicelib.domain.monitoring.source_state import LASTING, CaptureState, Finding, SourceState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
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

_ALTER_SECONDS = 6.0
"""Connect refuses until the tasks of the connector have stopped, which it gives five seconds."""

_BEGINNING_SECONDS = 3.0

_CONFIRMED_WITHIN_SECONDS = 1.0
"""Connect lets a connector confirm an offset as soon as it has stored it (SourceTask.commit)."""

_ACCEPT_ATTEMPTS = 3

_NOT_MOVABLE = (
    "This Kafka Connect is older than 3.6 and cannot change the offset that it has stored for a connector, so the "
    "pipeline cannot go on after the gap."
)
_NO_OFFSET = (
    "Kafka Connect has no stored offset of this capture any more, although it was read from the log of its source "
    "before: started now, it would take its snapshot again. So Headgate does not start it. Find out whether it still "
    "runs on other workers. To let it take its snapshot again, resume the pipeline."
)

ACCEPT_DATA_LOSS = "accept_data_loss"
"""The parameter with which a person continues a capture that has lost changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureChecks:
    store: SourceStates
    clients: ClientFactory
    clock: Clock
    sleep: Callable[[float], None]

    def read(
        self,
        source: Source,
        pipelines: Sequence[Pipeline],
        known: Mapping[str, CaptureState],
        deadline: Deadline,
    ) -> Any:
        """Facts for the source's provider. `known` is what was seen before, by the pipeline's id. Raises Unavailable,
        TimedOut, Invalid.
        """
        provider = capture_provider(source.address.provider)
        plans = [provider.capture_plan(pipeline, known.get(pipeline.id)) for pipeline in pipelines]
        bounded = deadline.within(LOOK_SECONDS)
        return self.clients.database(source.endpoint).capture_facts(plans, bounded)

    def _read_later(
        self, source: Source, pipelines: Sequence[Pipeline], known: Mapping[str, CaptureState], deadline: Deadline
    ) -> Any:
        """Facts, once what Connect has stored by now is confirmed to the source."""
        self.sleep(_CONFIRMED_WITHIN_SECONDS)
        return self.read(source, pipelines, known, deadline)

    def beginning(self, context: RequestContext, pipeline: Pipeline, source: Source) -> Pipeline:
        """The draft with what its connector will make in the source; unchanged when that cannot be read."""
        try:
            facts = self.read(source, [pipeline], {}, context.deadline.within(_BEGIN_SECONDS))
        except (Unavailable, TimedOut, Invalid):
            return pipeline
        return capture_provider(pipeline.provider).beginning(facts, pipeline)

    def require_continuous(
        self, context: RequestContext, pipeline: Pipeline, source: Source, connect: Connect, *, reads_on: bool
    ) -> None:
        """Raise Conflict DATA_LOSS when changes were lost since the capture ran last, or a look has found that before.

        `reads_on`: the connector keeps a session that it has. Nothing is raised while the source or Connect cannot be
        read: then nothing is known, and the connector itself waits for its database.
        """
        try:
            loss = self._known_loss(pipeline) or self._loss(
                pipeline, source, connect, context.deadline, reads_on=reads_on
            )
        except (Unavailable, TimedOut, Invalid):
            return
        if loss:
            message = f"{loss.message} To continue without the lost changes, repeat this with {ACCEPT_DATA_LOSS}=true."
            raise Conflict(message, code="DATA_LOSS")

    def _known_loss(self, pipeline: Pipeline) -> Finding | None:
        """What a look has found, and nobody has accepted yet."""
        known = self._known(pipeline)
        return next((finding for finding in known.findings if finding.code in LASTING), None) if known else None

    def _loss(
        self,
        pipeline: Pipeline,
        source: Source,
        connect: Connect,
        deadline: Deadline,
        *,
        always_ask: bool = False,
        reads_on: bool = False,
    ) -> Finding | None:
        """The loss that the source and Connect show now. Raises Unavailable, TimedOut, Invalid."""
        provider, before = capture_provider(pipeline.provider), self._known(pipeline)
        known = {pipeline.id: before} if before else {}
        facts = self.read(source, [pipeline], known, deadline)
        capture = provider.capture_state(facts, pipeline, before, self.clock())
        loss = next((finding for finding in capture.findings if finding.code in LASTING), None)
        if loss is None and (always_ask or provider.needs_offset(before, capture)):
            offset = self.stored_offset(connect, pipeline, deadline)
            if provider.must_read_again(facts, pipeline, before, offset):
                facts = provider.read_again(facts, self._read_later(source, [pipeline], known, deadline))
            loss = provider.lost_changes(facts, pipeline, before, offset, reads_on=reads_on)
        return loss

    def remember_beginning(self, pipeline: Pipeline, source: Source, deadline: Deadline) -> None:
        """Keep where a capture without a snapshot begins. Until Connect has stored its first offset, nothing else tells
        that its log was lost and begun again. The next look does the same where this one fails.
        """
        if pipeline.capture.snapshot_mode is not SnapshotMode.NO_DATA:
            return
        with suppress(HeadgateError):
            facts, now = self.read(source, [pipeline], {}, deadline.within(_BEGINNING_SECONDS)), self.clock()
            capture = capture_provider(pipeline.provider).capture_state(facts, pipeline, None, now)
            before = self.store.find(source.id)
            state = before or SourceState(id=source.id, checked_at=now, created_at=now)
            if capture.position is not None:
                self.store.write(before, state.with_beginning(pipeline.id, capture), state.captures)

    def require_movable(self, pipeline: Pipeline, connect: Connect, deadline: Deadline) -> None:
        """Raise Conflict where Connect cannot let a connector go on after lost changes."""
        if not connect.can_change_offsets(deadline):
            raise Conflict(f"{_NOT_MOVABLE} {capture_provider(pipeline.provider).new_snapshot}")

    def begins_anew(
        self,
        pipeline: Pipeline,
        source: Source,
        connect: Connect,
        deadline: Deadline,
        *,
        reads_on: bool,
        lacks_topics: bool,
    ) -> bool:
        """Whether the connector of a capture whose loss is accepted needs another config to go on. Nothing is changed.

        Not where nothing was lost, as far as looks, the source, Connect, the connector's failure and the topics that it
        needs (`lacks_topics`) tell. Raises Unavailable, TimedOut, Invalid.
        """
        provider = capture_provider(pipeline.provider)
        if provider.going_on(pipeline) == pipeline:
            return False
        offset = self.stored_offset(connect, pipeline, deadline)
        if offset.supported and provider.begins_anew(offset):  # that of a missing connector cannot be read
            return False
        status = connect.find_status(pipeline.connector_name, deadline)
        failures = [part.diagnosis for part in status.parts if part.diagnosis] if status else []
        return (
            lacks_topics
            or self._known_loss(pipeline) is not None
            or any(provider.lost_by_failure(diagnosis) for diagnosis in failures)
            or self._loss(pipeline, source, connect, deadline, always_ask=True, reads_on=reads_on) is not None
        )

    def go_on(
        self, pipeline: Pipeline, source: Source, connect: Connect, deadline: Deadline, *, is_lost: bool = False
    ) -> bool:
        """Let a capture go on after lost changes; whether its connector was stopped for that. `is_lost`: it is known
        that changes were lost.

        Its offset becomes a position that the server has: Debezium does not start with one that it has not. No
        snapshot is taken. Every step can be repeated. Raises the errors of the source and of Connect while nothing was
        changed, and OutcomeUnknown once the connector may be stopped: then the operation has to be carried on.
        """
        provider = capture_provider(pipeline.provider)
        # One that needs another config for it gets that with the decision, or goes on where it stands.
        is_movable = is_lost or provider.going_on(pipeline) == pipeline
        stopped = is_movable and (
            is_lost or self._loss(pipeline, source, connect, deadline, always_ask=True) is not None
        )
        if stopped:
            connect.stop(pipeline.connector_name, deadline)
            try:
                self._move(pipeline, source, connect, deadline)
            except Conflict:
                raise
            except HeadgateError as error:
                raise OutcomeUnknown("The connector is stopped, and its offset perhaps not moved yet.") from error
        self.accept(pipeline)
        return stopped

    def _move(self, pipeline: Pipeline, source: Source, connect: Connect, deadline: Deadline) -> None:
        provider = capture_provider(pipeline.provider)
        if provider.begins_anew(self.stored_offset(connect, pipeline, deadline)):
            return
        database, plan = self.clients.database(source.endpoint), provider.capture_plan(pipeline)
        position = database.continue_capture(plan, deadline.within(LOOK_SECONDS))
        if position is None:
            raise Conflict(provider.in_use)
        partition, offset = provider.offset_after_gap(pipeline, position)
        connect.alter_offset(pipeline.connector_name, partition, offset, deadline.within(_ALTER_SECONDS))

    def require_offset(
        self,
        context: RequestContext,
        pipeline: Pipeline,
        state: SourceState | None,
        connect: Connect,
    ) -> None:
        """Raise Conflict when Connect has stored no offset of a capture that was read from the source's log before:
        started so, it would take its snapshot again, or miss changes.

        Connect before 3.6 cannot be asked. Raises the errors of reads.
        """
        capture = state.captures.get(pipeline.id) if state else None
        if capture is None or capture.position is None:
            return
        stored = self.stored_offset(connect, pipeline, context.deadline)
        if stored.supported and stored.values is None:
            raise Conflict(_NO_OFFSET)

    def known_server(self, pipeline: Pipeline) -> str | None:
        """What identifies the server that a deployed pipeline was captured from; None when no look found it."""
        capture = self._known(pipeline)
        return capture.server if capture else None

    def accept(self, pipeline: Pipeline) -> None:
        """Forget what was seen of a capture, so that it continues from what is there now."""
        for _ in range(_ACCEPT_ATTEMPTS):
            state = self.store.find(pipeline.source_id)
            if state is None or pipeline.id not in state.captures:
                return
            with suppress(WriteConflict):  # a look that began before was faster
                self.store.write(state, state.accepting(pipeline.id), state.captures)
                return

    def look(
        self,
        source: Source,
        running: Sequence[tuple[Pipeline, Connect]],
        before: SourceState | None,
        deadline: Deadline,
    ) -> dict[str, CaptureState]:
        """Each capture as it is now, by its pipeline's id. Raises Unavailable, TimedOut, Invalid."""
        provider, known = capture_provider(source.address.provider), before.captures if before else {}
        pipelines, now = [pipeline for pipeline, _ in running], self.clock()
        facts = self.read(source, pipelines, known, deadline)
        captures, offsets = {}, {}
        for pipeline, connect in running:
            earlier = known.get(pipeline.id)
            captures[pipeline.id] = provider.capture_state(facts, pipeline, earlier, now)
            # Each offset is a call to Connect, so it is asked for only where it can decide.
            if provider.needs_offset(earlier, captures[pipeline.id]):
                with suppress(HeadgateError):
                    offsets[pipeline.id] = self.stored_offset(connect, pipeline, deadline)
        if any(
            provider.must_read_again(facts, pipeline, known.get(pipeline.id), offsets[pipeline.id])
            for pipeline in pipelines
            if pipeline.id in offsets
        ):
            facts = provider.read_again(facts, self._read_later(source, pipelines, known, deadline))
        for pipeline in pipelines:
            if offset := offsets.get(pipeline.id):
                earlier, capture = known.get(pipeline.id), captures[pipeline.id]
                captures[pipeline.id] = provider.with_offset(facts, pipeline, earlier, capture, offset, now)
        return captures

    def stored_offset(self, connect: Connect, pipeline: Pipeline, deadline: Deadline) -> StoredOffset:
        """The offset of the pipeline's connector. Raises Unavailable."""
        return connect.find_offset(pipeline.connector_name, deadline.within(_OFFSET_SECONDS))

    def _known(self, pipeline: Pipeline) -> CaptureState | None:
        """What the last look has seen of the capture, with what is certain or was found twice."""
        state = self.store.find(pipeline.source_id)
        return state.confirmed_captures.get(pipeline.id) if state else None
