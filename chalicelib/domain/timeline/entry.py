"""An entry of a timeline, as people read it."""

from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.timeline.event import (
    AlertChange,
    EntryActor,
    EntryKind,
    IncidentChange,
    TimelineEvent,
    entry_key,
)
from chalicelib.domain.timeline.titles import title_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryStep:
    """How far an operation was at that time."""

    at: datetime
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One entry. `outcome` is that of an operation, null while it is open; only operations have steps.

    `at` is when an operation was asked for, and when everything else was seen or done.
    """

    at: datetime
    kind: EntryKind
    id: str
    title: str
    outcome: Outcome | None = None
    steps: tuple[EntryStep, ...] = ()
    actor: EntryActor | None = None

    @property
    def key(self) -> str:
        return entry_key(self.at, self.kind, self.id)

    @property
    def without_actor(self) -> "TimelineEntry":
        return replace(self, actor=None)

    @classmethod
    def of(cls, event: TimelineEvent) -> "TimelineEntry":
        change = event.change
        actor = change.actor if isinstance(change, IncidentChange | AlertChange) else None
        return cls(at=event.at, kind=event.kind, id=event.id, title=title_of(change), actor=actor)
