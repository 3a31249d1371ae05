"""Timelines of pipelines and deliveries (wire contract, section 8)."""

from chalicelib.api.contract.audit import ActorOutput
from chalicelib.api.contract.common import Output, Timestamp
from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.timeline.event import EntryKind


class TimelineStepOutput(Output):
    """How far an operation was at that time."""

    at: Timestamp
    outcome: Outcome


class TimelineEntryOutput(Output):
    """Something that was done to a pipeline or delivery, or that was seen of it."""

    at: Timestamp
    kind: EntryKind
    title: str
    outcome: Outcome | None
    steps: list[TimelineStepOutput]
    actor: ActorOutput | None
