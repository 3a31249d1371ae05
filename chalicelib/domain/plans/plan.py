"""The answer of a dry run: what the call would change, what follows from that, and what is in its way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from chalicelib.domain.usage import UsedBy
from chalicelib.errors import HeadgateError


class ConsequenceSeverity(StrEnum):
    """How much a consequence matters. `INTERRUPTS`: no rows move for a time. `LOSES`: something cannot be had back."""

    INFO = "info"
    WARN = "warn"
    INTERRUPTS = "interrupts"
    LOSES = "loses"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value that would be another one. `path` is the names of fields, joined by dots."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """Something that follows from a call. `facts` are plain JSON, with null for what is not known."""

    code: str
    severity: ConsequenceSeverity
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def about(self, resource: UsedBy) -> "Consequence":
        """The same, for one of several resources that the call is about."""
        facts = {**self.facts, "resource": {"type": resource.type, "id": resource.id, "name": resource.name}}
        return replace(self, message=f"{resource.name}: {self.message}", facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Something that is in the way of a call. `resource` is what is there, where that is one resource."""

    code: str
    message: str
    resource: UsedBy | None = None


@dataclass(slots=True)
class Plan:
    """A plan while it is made. While something is in the way, the call would change nothing."""

    changes: list[Change] = field(default_factory=list)
    consequences: list[Consequence] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    has_parts: bool = False
    _about: str | None = None

    def change(self, resource: str, changes: Sequence[Change]) -> None:
        """Add changes of a resource. The first one is what the call is about: paths in another one begin with it."""
        self._about = self._about or resource
        if resource != self._about:
            changes = [replace(one, path=f"{resource}.{one.path}") for one in changes]
        known = {one.path for one in changes}
        self.changes = [*(one for one in self.changes if one.path not in known), *changes]

    def expect(self, consequences: Sequence[Consequence]) -> None:
        """Add consequences. One that is there already is not added again."""
        for consequence in consequences:
            if consequence not in self.consequences:
                self.consequences.append(consequence)

    def block(self, error: HeadgateError, *, first: bool = False) -> None:
        """Add what an error says, once for each resource that it names, else once without one."""
        new = [one for one in _obstacles(error) if one not in self.obstacles]
        self.obstacles = [*new, *self.obstacles] if first else [*self.obstacles, *new]

    def include(self, part: "Plan", resource: UsedBy, place: str) -> None:
        """Add the plan for one of several resources. `place` is where these are in the whole."""
        self.has_parts = True
        self.changes += [replace(one, path=f"{place}.{resource.id}.{one.path}") for one in part.changes]
        self.consequences += [one.about(resource) for one in part.consequences]
        self.obstacles += [replace(one, resource=one.resource or resource) for one in part.obstacles]


def _obstacles(error: HeadgateError) -> list[Obstacle]:
    details: Any = error.details if isinstance(error.details, dict) else {}
    named = [*details.get("used_by", ()), *([details["resource"]] if "resource" in details else [])]
    resources: list[UsedBy | None] = [UsedBy(**resource) for resource in named]
    return [Obstacle(code=error.code, message=error.message, resource=resource) for resource in resources or [None]]
